"""Loop-written twins of out-of-fold probabilities and of the label posterior.

They use lists and double precision. N samples of C classes are predicted by K networks.
"""

import itertools
import math

import torch
from hypothesis import strategies as st

from skpresto._data.batch import Batch
from skpresto._label_quality.out_of_fold import OutOfFoldProbabilities

N, C, K = 6, 3, 2

logit = st.sampled_from([-4.0, -1.0, 0.0, 1.0, 5.0])
visit = st.tuples(
    st.lists(st.integers(0, N - 1), min_size=1, max_size=N, unique=True),
    st.lists(logit, min_size=K * N * C, max_size=K * N * C),
)
visits_made = st.lists(visit, min_size=1, max_size=8)
labels_of = st.lists(st.integers(0, C - 1), min_size=N, max_size=N)
folds_of = st.lists(st.integers(0, K - 1), min_size=N, max_size=N)
lengths = st.integers(1, 4)
epsilons = st.sampled_from([0.0, 0.05, 0.4, 0.8, 1.0])


def logits_of(visit):
    """Return the logits of a visit, of shape (K, b, C)."""
    index, logits = visit
    return torch.tensor(logits).view(K, N, C)[:, : len(index)]


def batch_of(visit, labels, folds, epoch=0):
    """Return a visit as the batch that recorders and policies see."""
    index = torch.tensor(visit[0])
    given, fold = torch.tensor(labels)[index], torch.tensor(folds)[index]
    losses = torch.zeros(K, len(index))
    return Batch(index, given, logits_of(visit), losses, epoch, fold)


def probabilities_after(visits, folds, q, labels=(0,) * N):
    """Return the out-of-fold probabilities after some visits."""
    probabilities = OutOfFoldProbabilities(torch.tensor(labels), C, q)
    for visit in visits:
        probabilities.record(batch_of(visit, labels, folds))
    return probabilities


class NaiveOutOfFold:
    """Running means of probabilities and of their logarithms."""

    def __init__(self, visits, folds, q):
        self.means = [[0.0] * C for _ in range(N)]
        self.log_means = [[0.0] * C for _ in range(N)]
        self.is_tied = False
        for index, logits in visits:
            for j, i in enumerate(index):
                start = (folds[i] * N + j) * C
                self._add(i, softmax(logits[start : start + C]), q)

    def _add(self, i, probability, q):
        for c, new in enumerate(probability):
            self.means[i][c] += (new - self.means[i][c]) / q
            logarithm = math.log(max(new, 1e-6))
            self.log_means[i][c] += (logarithm - self.log_means[i][c]) / q

    def finalize(self, labels):
        """Return geometric means, flattened by the temperature that fits best."""
        fits = []
        level = transitions(
            self._geometric(1.0), labels, confident_only=True, shrunken=True
        )
        for temperature in [2 ** (step / 10) for step in range(21)]:
            means = self._geometric(temperature)
            logs = [
                math.log(sum(mean[j] * level[j][label] for j in range(C)))
                for mean, label in zip(means, labels, strict=True)
                if sum(mean)
            ]
            fits.append((sum(logs), means))
        # Of temperatures that fit the same, the lowest.
        best = max(fit for fit, _ in fits)
        self.is_tied = sum(fit > best - 1e-5 for fit, _ in fits) > 1
        return next(means for fit, means in fits if fit == best)

    def _geometric(self, temperature):
        result = []
        for mean, log_mean in zip(self.means, self.log_means, strict=True):
            weight = sum(mean)
            flattened = [v / weight / temperature for v in log_mean] if weight else []
            result.append(softmax(flattened) if weight else [0.0] * C)
        return result


def softmax(logits):
    powers = [math.exp(v) for v in logits]
    return [power / sum(powers) for power in powers]


STRENGTHS = [0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000, 3000]


def transitions(means, labels, confident_only=False, damping=0.0, shrunken=False):
    """Return how often each predicted class carries each label."""
    if shrunken:
        return shrunken_transitions(counted(means, labels, confident_only))
    prior = [[((j == k) + 1 / C) / 2 for k in range(C)] for j in range(C)]
    added = prior if damping else [[1 / C] * C] * C
    counts = [
        [n + more for n, more in zip(*rows, strict=True)]
        for rows in zip(counted(means, labels, confident_only), added, strict=True)
    ]
    return [
        [
            (1 - damping) * n / sum(row) + damping * p
            for n, p in zip(row, prior_row, strict=True)
        ]
        for row, prior_row in zip(counts, prior, strict=True)
    ]


def counted(means, labels, confident_only=False):
    """Return the number of samples of each predicted class with each label."""
    counts = [[0] * C for _ in range(C)]
    for c, row in enumerate(counts):
        found = [
            (max(mean), label)
            for mean, label in zip(means, labels, strict=True)
            if sum(mean) and mean.index(max(mean)) == c
        ]
        if confident_only and found:
            middle = sorted(found, reverse=True)[(len(found) - 1) // 2][0]
            found = [pair for pair in found if pair[0] >= middle]
        for _, label in found:
            row[label] += 1
    return counts


def shrunken_transitions(counts):
    """Return the transition matrix with wrong labels shrunk to uniform ones."""
    n_classes = len(counts)
    wrong = [[n for k, n in enumerate(row) if k != j] for j, row in enumerate(counts)]
    fits = [sum(log_likelihood(row, s) for row in wrong) for s in STRENGTHS]
    strength = max(
        s for s, fit in zip(STRENGTHS, fits, strict=True) if fit >= max(fits) - 1e-6
    )
    matrix = []
    for j, row in enumerate(counts):
        n_wrong = sum(wrong[j])
        rate = (n_wrong + 1 - 1 / n_classes) / (sum(row) + 1)
        matrix.append(
            [
                1 - rate
                if j == k
                else rate * (n + strength / (n_classes - 1)) / (n_wrong + strength)
                for k, n in enumerate(row)
            ]
        )
    return matrix


def log_likelihood(row, strength):
    """Return that of counts whose probabilities have a symmetric Dirichlet prior.

    Count by count: each further one has the probability (counted so far + strength
    per place) / (all so far + strength).
    """
    total, n_seen = 0.0, 0
    for n in row:
        for so_far in range(n):
            total += math.log((so_far + strength / len(row)) / (n_seen + strength))
            n_seen += 1
    return total


def posteriors(means, labels, confident_only=False, damping=0.0, shrunken=False):
    """Return the posterior class probabilities of every sample."""
    matrix = transitions(means, labels, confident_only, damping, shrunken)
    result = []
    for mean, label in zip(means, labels, strict=True):
        joint = [mean[j] * matrix[j][label] for j in range(C)]
        result.append([v / sum(joint) if sum(joint) else 0.0 for v in joint])
    return result


def is_undecided(means, confident_only=False):
    """Return whether two choices are so close that rounding may decide."""
    means = [mean for mean in means if sum(mean)]
    if any(max(m) - sorted(m)[-2] < 1e-6 for m in means):
        return True
    ranked = sorted((m.index(max(m)), max(m)) for m in means)
    return confident_only and any(
        a[0] == b[0] and b[1] - a[1] < 1e-6 for a, b in itertools.pairwise(ranked)
    )
