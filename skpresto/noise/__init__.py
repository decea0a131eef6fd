"""Add label noise to clean labels, estimate it in noisy ones, score without it.

Does not import torch.
"""

from skpresto.noise._base import BaseLabelNoise
from skpresto.noise._estimate import estimate_transition_matrix, noise_rate_from
from skpresto.noise._instance_dependent import InstanceDependentNoise
from skpresto.noise._noisy_target import NoisyTargetClassifier
from skpresto.noise._pair import PairNoise
from skpresto.noise._sampler import NoiseSampler
from skpresto.noise._symmetric import SymmetricNoise
from skpresto.noise._transition_matrix import TransitionMatrixNoise

__all__ = [
    "BaseLabelNoise",
    "InstanceDependentNoise",
    "NoiseSampler",
    "NoisyTargetClassifier",
    "PairNoise",
    "SymmetricNoise",
    "TransitionMatrixNoise",
    "estimate_transition_matrix",
    "noise_rate_from",
]
