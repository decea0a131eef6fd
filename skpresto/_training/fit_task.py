"""Stages and epochs as tasks, which the callbacks of scikit-learn follow."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: Name of the fitted attributes from which an estimator for callbacks is made.
_STATE = "reconstruction_attributes"


class FitTask:
    """A fit, one of its stages or an epoch, as scikit-learn's callbacks see it.

    Parameters
    ----------
    context : sklearn.callback.CallbackContext, default=None
        The task, and its place in the tree of tasks. None if there are no callbacks:
        then nothing is done.
    details : dict, default=None
        What callbacks can ask for: ``estimator``, ``X``, ``y``, ``metadata`` and
        ``reconstruction_attributes``, which may be added later.

    Attributes
    ----------
    is_stopped : bool
        Whether a callback asked to end the task that this one is a part of.
    """

    def __init__(
        self, context: Any = None, details: dict[str, Any] | None = None
    ) -> None:
        self.context = context
        self.details = details or {}
        self.is_stopped = False

    @classmethod
    def of_fit(cls, estimator: Any, **details: Any) -> "FitTask":
        """Begin the task of a whole fit, if the estimator has callbacks."""
        if not getattr(estimator, "_skl_callbacks", None):
            return cls()
        task = cls(
            estimator._init_callback_context(max_subtasks=None),
            {"estimator": estimator, **details},
        )
        task.context.call_on_fit_task_begin(**task.details)
        return task

    @contextmanager
    def subtask(self, name: str, max_subtasks: int = 0) -> Iterator["FitTask"]:
        """Begin a part of this task, and end it unless an error is raised.

        Parameters
        ----------
        name : str
            Name of the part.
        max_subtasks : int, default=0
            Largest number of parts that it has itself.
        """
        if self.context is None:
            yield self
            return
        context = self.context.subcontext(task_name=name, max_subtasks=max_subtasks)
        part = FitTask(context, self.details)
        begin = {k: v for k, v in self.details.items() if k != _STATE}
        context.call_on_fit_task_begin(**begin)
        yield part
        part.end()

    def end(self) -> None:
        """Call the callbacks at the end of the task."""
        if self.context is not None:
            self.is_stopped = self.context.call_on_fit_task_end(**self.details)
