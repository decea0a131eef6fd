"""What a mini-batch learns from: one policy per method.

A policy receives a :class:`~skpresto._selection.base.Batch` and returns a
:class:`~skpresto._selection.base.Selection`. It does not import the training engine.
"""
