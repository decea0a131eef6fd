"""The classifiers: one file per method, and what all of them share.

``base`` validates, builds, trains and publishes; a method's ``_train`` runs its stages
and returns :class:`~skpresto._label_quality.findings.LabelFindings`.
"""
