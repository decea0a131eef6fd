"""The callbacks of scikit-learn, where it has them.

Not in ``_sklearn``, since they load rich, which noise and stop rules do without.
"""

try:
    from sklearn.callback import CallbackSupportMixin
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Callbacks of scikit-learn are not supported."""


__all__ = ["CallbackSupportMixin"]
