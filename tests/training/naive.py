"""Loop-written twins of the training core, to compare it with."""

from collections import Counter


class NaiveLabelHistory:
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
