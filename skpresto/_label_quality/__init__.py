"""What the predictions made during training tell about each given label.

Predictions and probabilities are recorded at every visit; votes, posteriors and the
:class:`~skpresto._label_quality.findings.LabelFindings` of a fit are computed from
them.
"""
