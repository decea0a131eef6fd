"""What the user should know about a fit, with options of the command line as advice."""

from collections.abc import Iterable
from warnings import WarningMessage

from sklearn.exceptions import ConvergenceWarning

from skpresto._warn import finding_of
from skpresto.exceptions import FallbackWarning, SafeSetWarning

_ADVICE = {
    SafeSetWarning: "Look through their labels by eye.",
    FallbackWarning: "More rows or a larger --epochs may avoid this.",
}
_NOT_SETTLED = (
    "The training ended before it was clear which epoch is the best to assess labels "
    "by. A larger --epochs gives it more time."
)


def notes_of_fit(caught: Iterable[WarningMessage]) -> list[str]:
    """Return each warning of this package about a fit as a sentence, once."""
    own = [w.message for w in caught if issubclass(w.category, UserWarning)]
    return list(dict.fromkeys(map(_sentence, own)))


def diverged() -> ValueError:
    """Return what the command line says about a training that failed."""
    return ValueError(
        "The training diverged, so that labels cannot be assessed. Try another --seed, "
        "or leave out columns with extreme values by --ignore COLUMN."
    )


def _sentence(warning: Warning | str) -> str:
    if isinstance(warning, ConvergenceWarning):
        return _NOT_SETTLED
    advice = next((a for kind, a in _ADVICE.items() if isinstance(warning, kind)), "")
    return f"{finding_of(warning)} {advice}".strip()
