"""What is measured: one cell is one fit, a setting is how its data are trained on."""

from dataclasses import asdict, dataclass

#: What a result depends on, besides its cell.
SETTINGS = ("epochs", "rows", "test_rows", "module")
#: Noise that is put in; any other name is a column of real noisy labels.
INJECTED = ("pair", "symmetric")
CLEAN = "clean"


@dataclass(frozen=True)
class Cell:
    """One fit of one method.

    Parameters
    ----------
    method : str
        A name of ``contenders.METHODS``.
    data : str
        Name of a setting of the preset.
    noise : str
        "clean", "pair", "symmetric", or the name of a column of real noisy labels.
    rate : float or None
        Share of labels to flip; None for real noise.
    seed : int
        Of the validation rows, the noise and the training.
    q : int or None
        Length of the label history; None is the default of the method.
    rule : str or None
        A name of ``contenders.RULES``, for methods that stop.
    """

    method: str
    data: str
    noise: str
    rate: float | None
    seed: int
    q: int | None = None
    rule: str | None = None

    @property
    def key(self) -> str:
        """The cell as text, the same in every run of the benchmark."""
        return " | ".join(f"{k}={v}" for k, v in asdict(self).items())

    @property
    def is_noisy(self) -> bool:
        """Whether some labels are wrong."""
        return self.noise != CLEAN


@dataclass(frozen=True)
class Setting:
    """How one data set is trained on, the same for every method.

    Parameters
    ----------
    source : str
        A name of ``data.LOADERS``.
    epochs : int
        Number of epochs.
    rows, test_rows : int or None
        How many rows are drawn; None takes all.
    module : str or None
        A name of ``contenders.NETWORKS``; None is the built-in one for the data.
    device : str
        Where to train.
    seconds : float
        Roughly how long plain training takes. Only the progress bar looks at it.
    """

    source: str
    epochs: int
    rows: int | None = None
    test_rows: int | None = None
    module: str | None = None
    device: str = "cpu"
    seconds: float = 1.0

    @property
    def fingerprint(self) -> dict[str, int | str | None]:
        """What a result depends on: results under other values do not count."""
        return {name: getattr(self, name) for name in SETTINGS}
