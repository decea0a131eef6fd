"""Built-in networks. All return logits.

Classifiers set ``n_features`` or ``input_shape``, and ``n_classes``, from the data.
"""

from skpresto.modules._densenet import DenseNet
from skpresto.modules._mlp import MLP
from skpresto.modules._shared import FastDropout
from skpresto.modules._small_cnn import SmallCNN
from skpresto.modules._vgg import VGG19

__all__ = ["MLP", "VGG19", "DenseNet", "FastDropout", "SmallCNN"]
