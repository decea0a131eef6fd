"""The label audit: which labels of a data set are wrong, how many, what to review.

``LabelReport`` describes the labels that a classifier was fitted on, or any labels for
which out-of-fold probabilities are at hand. torch is not imported by this module.
"""

from skpresto.audit._calibration import ErrorEstimate
from skpresto.audit._report import LabelReport
from skpresto.audit._summary import ClassSummary, LabelSummary

__all__ = ["ClassSummary", "ErrorEstimate", "LabelReport", "LabelSummary"]
