"""The units of the benchmark: a cell is one fit, a setting is a training recipe."""

from dataclasses import asdict, dataclass

#: Fields of a setting that a result depends on.
SETTINGS = ("epochs", "rows", "test_rows", "module")
#: Injected noise that depends on the class alone.
CLASS_NOISE = ("pair", "symmetric")
#: Injected noise that depends on the features.
INSTANCE = "instance"
#: Noise that is injected; any other name is a column of real noisy labels.
INJECTED = (*CLASS_NOISE, INSTANCE)
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
        "clean", "pair", "symmetric", "instance", or the name of a column of real noisy
        labels.
    rate : float or None
        Fraction of labels to flip; None for real noise.
    seed : int
        Seed of the validation split, the noise and the training.
    q : int or None
        Length of the prediction history; None is the default of the method.
    rule : str or None
        A name of ``contenders.RULES``, for methods with a stop rule.
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
        """The cell as text."""
        return " | ".join(f"{k}={v}" for k, v in asdict(self).items())

    @property
    def is_noisy(self) -> bool:
        """Whether some labels are wrong."""
        return self.noise != CLEAN


@dataclass(frozen=True)
class Setting:
    """How networks are trained on one data set, the same for every method.

    Parameters
    ----------
    source : str
        A name of ``data.LOADERS``.
    epochs : int
        Number of epochs.
    rows, test_rows : int or None
        Number of rows that are drawn; None takes all.
    module : str or None
        A name of ``contenders.NETWORKS``; None is the default network.
    device : str
        Device to train on.
    seconds : float
        Approximate time of a fit of Default; only used by the progress bar.
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
        """The values that must match for a stored result to be used."""
        return {name: getattr(self, name) for name in SETTINGS}
