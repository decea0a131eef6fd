"""Errors and warnings of skpresto."""


class TrainingDivergedError(ValueError):
    """Training failed because the loss became infinite or NaN."""


class ParallelError(RuntimeError):
    """Another process of a ``data_parallel`` block failed, or was lost."""


class SafeSetWarning(UserWarning):
    """The safe set is tiny, has few labels of a class, or may confirm mistakes."""


class FallbackWarning(UserWarning):
    """The method could not be carried out, and a simpler one was used instead."""


class MismatchWarning(UserWarning):
    """Data, module and criterion do not seem to belong together."""


class ResumeWarning(UserWarning):
    """The progress of a fit could not be stored."""
