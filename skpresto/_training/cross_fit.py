"""Networks that judge labels for each other, and more that learn what is judged."""

from functools import partial

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from skpresto._training.batch import Batch, Selection
from skpresto._training.batching import PredictionRows
from skpresto._training.left_out import Judgement, LeftOutOpinion, divide
from skpresto._training.losses import sample_losses
from skpresto._training.policy import CorrectingPolicy
from skpresto._training.small_loss import forget_rate, is_small_loss
from skpresto._training.trainer import Trainer

# A pair, to choose for each other. More add little, and each takes as long as plain
# training.
_N_FRESH = 2

# Epochs until as many labels are left out as are wrong, as in Co-teaching.
_RAMP_EPOCHS = 10

# How unlikely a network finds a label, whatever the criterion that it is trained by.
_cross_entropy = partial(cross_entropy, reduction="none")


class LearnWhatJudgesTrust(CorrectingPolicy):
    """Learn from everything at first, then from what the judges of the samples trust.

    For networks side by side, each of which judges the samples that it leaves out.

    Parameters
    ----------
    opinion : LeftOutOpinion
        What the networks think of samples that they leave out.
    labels : Tensor of shape (n_samples,)
        All labels as given.

    Attributes
    ----------
    is_judging : bool
        Whether the judges are heard; False at first.
    """

    def __init__(self, opinion: LeftOutOpinion, labels: Tensor) -> None:
        super().__init__()
        self.vote = opinion
        self.labels = labels
        self.is_judging = False
        self._noise: Tensor | None = None
        self._counted_in = -1

    def select(self, batch: Batch) -> Selection:
        """Return for each network what the others' judgement leaves of its part."""
        is_learner = self.vote.add_batch(batch)
        if not self.is_judging:
            return Selection(weights=is_learner.to(batch.losses.dtype))
        judged = self.vote.judge(batch.labels, batch.index, self._current_noise(batch))
        self.count_corrected(judged.is_corrected)
        weights = (is_learner & judged.is_learnt).to(batch.losses.dtype)
        return Selection(weights=weights, labels=judged.labels)

    def _current_noise(self, batch: Batch) -> Tensor:
        """Count mistakes anew once an epoch, since networks get better at it."""
        if self._noise is None or self._counted_in != batch.epoch:
            self._noise = self.vote.noise(self.labels)
            self._counted_in = batch.epoch
        return self._noise


class LearnAsJudged(CorrectingPolicy):
    """Learn from safe and corrected labels, but for the most doubtful of each batch.

    The judges know about how many of these labels are wrong, if not which. As many are
    left out, which each network chooses for the other as in Co-teaching: the labels
    that it finds least likely. A network alone chooses for itself. What is left of a
    label when a batch is done counts for the next one.

    Parameters
    ----------
    judgement : Judgement
        What is to be made of every label.
    """

    def __init__(self, judgement: Judgement) -> None:
        super().__init__()
        self.judgement = judgement
        self._is_learnt = judgement.is_learnt
        doubt = judgement.doubt[self._is_learnt]
        self.share_wrong = doubt.mean().item() if len(doubt) else 0.0
        self._n_owed: Tensor | float = 0.0

    def select(self, batch: Batch) -> Selection:
        """Return for each network what the other one leaves of the labels to learn."""
        is_learnt = self._is_learnt.index_select(0, batch.index)
        labels = self.judgement.labels.index_select(0, batch.index)
        n_learnt = is_learnt.sum()
        rate = forget_rate(batch.epoch, self.share_wrong, _RAMP_EPOCHS)
        owed = self._n_owed + rate * n_learnt
        n_left_out = owed.floor()
        self._n_owed = owed - n_left_out
        losses = sample_losses(_cross_entropy, batch.logits, labels)
        losses = losses.view_as(batch.losses).masked_fill(~is_learnt, torch.inf)
        is_kept = is_learnt & is_small_loss(losses, n_learnt - n_left_out)
        self.count_corrected((labels != batch.labels) & is_kept.any(dim=0))
        weights = is_kept.flip(0).to(batch.losses.dtype)
        return Selection(weights=weights, labels=labels)


def run_cross_fit(
    trainer: Trainer,
    n_networks: int,
    stop_epoch: int,
    max_epochs: int,
    epsilon: float,
    rng: np.random.RandomState,
) -> LeftOutOpinion | None:
    """Train networks side by side that leave a part out each; return what they think.

    They learn from everything for ``stop_epoch`` epochs and from what they trust for
    the rest of ``max_epochs``. They are left in ``trainer.net``.

    Whoever finds most labels wrong knows too little of the classes to judge. So the
    networks go on with everything until they trust half of the labels, for half of
    ``max_epochs`` at the most. If they do not trust half of them then, or in the end,
    their opinion is worth nothing, and None is returned.
    """
    trainer.restart(n_networks=n_networks)
    parts = divide(trainer.data.labels.numpy(), n_networks, rng)
    opinion = LeftOutOpinion(
        torch.from_numpy(parts).to(trainer.labels.device),
        trainer.data.n_classes,
        trainer.label_history.length,
        epsilon,
    )
    policy = LearnWhatJudgesTrust(opinion, trainer.labels)
    trainer.run(policy, stop_epoch, phase=1)
    can_judge = _can_judge(trainer, opinion)
    while not can_judge and 2 * trainer.n_epochs < max_epochs:
        trainer.run(policy, 1, phase=1)
        can_judge = _can_judge(trainer, opinion)
    if not can_judge:
        return None
    policy.is_judging = True
    trainer.run(policy, max_epochs - trainer.n_epochs, phase=2)
    _ask_about_the_unvisited(trainer, opinion)
    opinion.settle(trainer.labels)
    return opinion if _can_judge(trainer, opinion) else None


def _can_judge(trainer: Trainer, opinion: LeftOutOpinion) -> bool:
    """Return whether most labels are right in the eyes of their judges."""
    is_safe = opinion.agrees(trainer.labels)[opinion.is_visited()]
    return is_safe.double().mean().item() >= 0.5


def _ask_about_the_unvisited(trainer: Trainer, opinion: LeftOutOpinion) -> None:
    """Judge samples that no epoch has visited by all networks, as new samples."""
    unvisited = (~opinion.is_visited()).nonzero().squeeze(1)
    if len(unvisited):
        rows = PredictionRows(trainer.data.X, unvisited.cpu())
        probability = torch.from_numpy(trainer.net.predict_proba(rows))
        opinion.add(unvisited, probability.to(unvisited.device))


def run_as_judged(trainer: Trainer, judgement: Judgement, max_epochs: int) -> None:
    """Train fresh networks, which are to predict together with those before them."""
    # Networks that start alike and learn the same stay alike.
    n_networks = 1 if trainer.net.starts_alike_ else _N_FRESH
    trainer.restart(n_networks, partners=trainer.net.networks)
    trainer.run(LearnAsJudged(judgement), max_epochs, phase=3)
