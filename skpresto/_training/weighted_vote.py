"""A vote on labels that knows which mistakes are common in them."""

import torch
from torch import Tensor

from skpresto._training.label_history import LabelHistory

# Scores are whole numbers, so that their sums do not depend on the order of votes.
_SCORE_UNIT = 1 << 20


class WeightedVote:
    """Trust a label that is likely to be right, given predictions and common mistakes.

    The share of a sample's last q predictions that fall on class j is taken for the
    probability that it belongs there. If the classes j are labelled k by mistake with
    the frequencies ``noise[j, k]``, then by Bayes' rule a given label k is right with
    the probability ::

        share[k] * noise[k, k] / sum over j of share[j] * noise[j, k]

    A label that mistakes rarely produce needs few predictions in its favour, one that
    they often produce needs most: where mistakes are spread over many classes, a label
    that is predicted now and then is nearly always right.

    Parameters
    ----------
    history : LabelHistory
        The last q predictions.
    noise : Tensor of shape (n_classes, n_classes)
        Share of samples of class j that are labelled k. No entry may be zero.
    trust : float in (0, 1)
        Least probability at which a label is trusted.

    Attributes
    ----------
    scores : Tensor of shape (n_classes, n_classes), dtype=int64
        What a prediction of class j adds to the score of label k: something for j = k,
        and a loss otherwise. A label whose score is not negative is trusted.
    """

    def __init__(self, history: LabelHistory, noise: Tensor, trust: float) -> None:
        self.history = history
        self.noise = noise
        odds = trust / (1 - trust)
        against = (_SCORE_UNIT * odds * noise).ceil().long()
        in_favour = (_SCORE_UNIT * noise.diagonal()).round().long()
        self.scores = -against
        self.scores.diagonal().copy_(in_favour)

    @classmethod
    def estimated(
        cls, history: LabelHistory, labels: Tensor, trust: float
    ) -> "WeightedVote":
        """Take what is voted now for the truth, and count how it is labelled.

        Parameters
        ----------
        history : LabelHistory
            Predictions of a network that has not memorized wrong labels yet.
        labels : Tensor of shape (n_samples,)
            Labels as given.
        trust : float
            As above.
        """
        n_classes = history.n_classes
        voted = history.vote()
        is_voted = voted >= 0
        pairs = voted[is_voted] * n_classes + labels[is_voted]
        counts = torch.bincount(pairs, minlength=n_classes**2).double()
        counts = counts.view(n_classes, n_classes)
        # As if there were one more sample of each class, labelled at random.
        totals = counts.sum(dim=1, keepdim=True) + 1
        return cls(history, (counts + 1 / n_classes) / totals, trust)

    def agrees_of_batch(self, labels: Tensor) -> Tensor:
        """Return which labels of the batch recorded last are trusted, as weights."""
        score = self.history.score_of_batch(self.scores, labels)
        return (score >= 0).to(torch.float32).unsqueeze(0)

    def agrees(self, labels: Tensor) -> Tensor:
        """Return which of all labels are trusted."""
        score = self.history.score(self.scores, labels)
        return (score >= 0) & self.history.is_visited()

    def vote(self, labels: Tensor) -> Tensor:
        """Return the most likely class of every sample, -1 where nothing is known."""
        return self.history.weighted_vote(labels, self.noise)
