"""Loop-written twins of the package's data structures, to compare them with."""

from collections import Counter

import torch

from skpresto._label_quality.history import PredictionHistory


class NaivePredictionHistory:
    """Lists of predictions, oldest first; every question answered by counting."""

    def __init__(self, n_samples, length):
        self.length = length
        self.entries = [[] for _ in range(n_samples)]

    def record(self, index, predicted):
        for i, label in zip(index, predicted, strict=True):
            self.entries[i] = (self.entries[i] + [label])[-self.length :]

    def vote(self, i):
        entries = self.entries[i]
        if not entries:
            return -1
        counts = Counter(entries)
        most = max(counts.values())
        for label in reversed(entries):  # the newest of those that tie
            if counts[label] == most:
                return label
        raise AssertionError

    def agreement(self, i, label):
        entries = self.entries[i]
        return entries.count(label) / len(entries) if entries else 0.0

    def frequencies(self, i):
        counts = Counter(self.entries[i])
        return {label: n / len(self.entries[i]) for label, n in counts.items()}


def both_histories(n_samples, n_classes, length, batches):
    """Return the history and its twin after the same visits."""
    ours = PredictionHistory(n_samples, n_classes, length)
    naive = NaivePredictionHistory(n_samples, length)
    for index, predicted in batches:
        ours.add(torch.tensor(index), torch.tensor(predicted))
        naive.record(index, predicted)
    return ours, naive
