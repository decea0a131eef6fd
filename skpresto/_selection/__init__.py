"""What a mini-batch learns from: one policy per method.

A policy receives a :class:`~skpresto._training.policy.Batch` and returns a
:class:`~skpresto._training.policy.Selection`. It does not import the training engine.
"""
