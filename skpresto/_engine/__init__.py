"""The training engine: runs epochs, steps the optimizer, records, goes back.

The Trainer runs stages of epochs, the loop runs an epoch, the net (skorch) holds
parameters, callbacks and history and predicts. No method is in here: what
a mini-batch learns from is decided by a policy of :mod:`skpresto._selection`.
"""
