"""Whether a fit that is interrupted by Ctrl-C keeps what has been trained."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_is_on = ContextVar("skpresto_keep_interrupted", default=False)


@contextmanager
def keep_interrupted() -> Iterator[None]:
    """Keep the networks trained so far if a fit inside the block is interrupted.

    Without it, Ctrl-C in ``fit`` reaches the caller as ``KeyboardInterrupt`` and
    nothing is fitted. Inside the block, ``fit`` returns with a
    :class:`~sklearn.exceptions.ConvergenceWarning`, and the attribute
    ``is_interrupted_`` of the classifier is True.

    Notes
    -----
    The networks are those that were in training, after their last step; if they have
    not completed an epoch, those of the stage before. If no epoch was completed at all,
    ``KeyboardInterrupt`` reaches the caller. ``safe_mask_``, ``suggested_labels_`` and
    ``label_agreement_`` are computed from the last ``q`` predictions of these networks,
    and ``label_quality_`` is ``label_agreement_``. Attributes of stages that were not
    reached, such as ``stop_epoch_`` or ``corrected_labels_``, are absent.

    Only the fit that is running is ended: a search inside the block goes on with its
    next fit. Fits in other threads and processes are not affected.

    Examples
    --------
    >>> import skpresto
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(n_samples=200, random_state=0)
    >>> clf = skpresto.DefaultClassifier(max_epochs=5, random_state=0)
    >>> with skpresto.keep_interrupted():
    ...     clf = clf.fit(X, y)
    >>> clf.is_interrupted_
    False
    """
    token = _is_on.set(True)
    try:
        yield
    finally:
        _is_on.reset(token)


def keeps_interrupted() -> bool:
    """Return whether a fit is inside a block of :func:`keep_interrupted`."""
    return _is_on.get()


class EarlierNetworks:
    """The networks before the present ones, for a fit that is to be kept.

    They are used if the present ones have not completed an epoch when the fit is
    interrupted. Nothing is stored in fits outside of :func:`keep_interrupted`.
    """

    def __init__(self) -> None:
        self._stored: tuple | None = None

    def remember(self, trainer: Any) -> None:
        """Store the networks of a Trainer that starts with new ones."""
        if keeps_interrupted() and trainer.n_epochs:
            predictions = trainer.history.state()
            self._stored = trainer.net.module_, trainer.n_epochs, predictions

    def use_interrupted(self, trainer: Any) -> bool:
        """Prepare a Trainer for use after Ctrl-C; return whether it is usable."""
        trainer.history.discard()
        if trainer.n_epochs == 0 and self._stored is not None:
            trainer.net.module_, trainer.n_epochs, predictions = self._stored
            trainer.history.restore(predictions)
        return trainer.n_epochs > 0
