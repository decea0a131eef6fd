"""The few warnings and errors that someone may want to catch by name."""


class TrainingDivergedError(ValueError):
    """The loss became infinite or not a number, so there is no usable network."""


class SafeSetWarning(UserWarning):
    """The safe set is empty, or has lost a class: predictions may leave it out."""


class FallbackWarning(UserWarning):
    """The method could not be carried out, and a simpler one was used instead."""
