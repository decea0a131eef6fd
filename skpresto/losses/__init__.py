"""Losses that are less sensitive to wrong labels than cross-entropy.

Each is an ``nn.Module`` that maps logits and targets to losses, like
``torch.nn.CrossEntropyLoss``, for use in plain PyTorch and as ``criterion`` of every
classifier.
"""

from skpresto.losses._bootstrap import BootstrapLoss
from skpresto.losses._correction import BackwardCorrectionLoss, ForwardCorrectionLoss
from skpresto.losses._generalized import GCELoss
from skpresto.losses._jensen_shannon import GJSLoss
from skpresto.losses._symmetric import SCELoss

__all__ = [
    "BackwardCorrectionLoss",
    "BootstrapLoss",
    "ForwardCorrectionLoss",
    "GCELoss",
    "GJSLoss",
    "SCELoss",
]
