"""Read the fitted attributes of a classifier through the estimators around it."""

from typing import Any

from skpresto._inner_estimators import inner_estimators

# Inside a Pipeline, these describe the transformed samples.
_ABOUT_INPUT = {"n_features_in_", "feature_names_in_"}

_MISSING = object()


def is_fitted_attribute(name: str) -> bool:
    """Return whether a name is that of a public fitted attribute."""
    return name.endswith("_") and not name.startswith("_")


def read_fitted_attribute(owner: Any, classifier: Any, name: str) -> Any:
    """Return an attribute of a fitted classifier, or of the estimators inside.

    Raises ``AttributeError`` in the name of ``owner`` if none has it, or if
    ``classifier`` is None because ``owner`` is not fitted.
    """
    holders = list(inner_estimators(classifier))
    for holder in holders[:1] if name in _ABOUT_INPUT else holders:
        value = getattr(holder, name, _MISSING)
        if value is not _MISSING:
            return value
    reason = "it is not fitted yet"
    if holders:
        reason = f"its classifier, {type(holders[-1]).__name__}, has none"
    raise AttributeError(
        f"{type(owner).__name__!r} object has no attribute {name!r}: {reason}."
    )


def fitted_attributes_of(classifier: Any) -> set[str]:
    """Return the names that :func:`read_fitted_attribute` can read."""
    names = {name for holder in inner_estimators(classifier) for name in dir(holder)}
    return {name for name in names if is_fitted_attribute(name)}
