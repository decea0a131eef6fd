"""The final networks of CrossPrestopping, which learn the posterior of the labels."""

import torch
from torch import Tensor

from skpresto._data.batch import Batch
from skpresto._label_quality.blocks import blocks, row_sums
from skpresto._label_quality.posterior import LabelPosterior, multiplied
from skpresto._networks.probe import learns_probabilities
from skpresto._training.policy import CorrectingPolicy, Selection
from skpresto._training.stage import Stage
from skpresto._training.trainer import Trainer

#: Power of the product of two probabilities. They are not independent: of the true
#: class, 0.7 would be right (benchmarks/NOTES.md). Networks that learn noisy labels
#: predict given ones in part, so that more is needed to find as many wrong labels.
POWER_OF_PRODUCT = 1.0


class LearnPosterior(CorrectingPolicy):
    """Train final networks on the posterior class probabilities of every sample.

    As in distillation, the targets are probabilities: a label that is half believed is
    half learned, and no sample is left out.

    Parameters
    ----------
    posterior : LabelPosterior
        What the fold networks say about every training label.
    takes_probabilities : bool, default=True
        Whether the criterion takes class probabilities as targets. If not, the most
        probable class is learned, with its posterior probability as the weight.
    """

    def __init__(
        self, posterior: LabelPosterior, takes_probabilities: bool = True
    ) -> None:
        super().__init__()
        self.posterior = posterior
        self.takes_probabilities = takes_probabilities
        # A sample of which nothing is known has no posterior, and is not learned.
        all_known = bool((row_sums(posterior.probability) > 0).all())
        self.may_select_nothing = not (all_known and takes_probabilities)

    def select(self, batch: Batch) -> Selection:
        """Return the same targets for all networks."""
        posterior = self.posterior.posterior(batch.index).to(batch.logits.dtype)
        highest, suggested = posterior.max(dim=1)
        self.count_corrected((suggested != batch.labels) & (highest > 0))
        shape = batch.logits.shape[:2]
        if not self.takes_probabilities:
            return Selection(weights=highest.expand(shape), targets=suggested)
        weights = None
        if self.may_select_nothing:
            weights = (highest > 0).to(batch.losses.dtype).expand(shape)
        return Selection(weights=weights, targets=posterior)


def train_final_networks(
    trainer: Trainer,
    posterior: LabelPosterior,
    n_networks: int,
    n_epochs: int,
    fold_weight: float,
) -> None:
    """Train networks on the posterior, as an ensemble with the fold networks.

    Parameters
    ----------
    trainer : Trainer
        With the fold networks.
    posterior : LabelPosterior
        What to learn.
    n_networks, n_epochs : int
        Number of final networks, and length of their training.
    fold_weight : float
        Weight of all fold networks together in the ensemble; 0 leaves them out.
    """
    # Copies of a pretrained instance, trained on the same batches, stay equal.
    n_networks = 1 if trainer.blueprint.is_pretrained else n_networks
    folds = trainer.net.networks if fold_weight else ()
    trainer.start(n_networks, folds=folds, n_epochs=n_epochs)
    if fold_weight:
        trainer.net.module_.fold_weight = fold_weight
    can_distill = learns_probabilities(trainer.net, trainer.data.n_classes)
    trainer.run(Stage("final", LearnPosterior(posterior, can_distill), n_epochs))


def multiplied_by_ensemble(trainer: Trainer, probability: Tensor) -> Tensor:
    """Return out-of-fold probabilities times those that all fold networks predict.

    The network not trained on a label is unbiased, but it is a single network. The mean
    of all fold networks is more accurate, but biased towards labels that were learned.
    Labels are ranked better by both; networks trained on both are no more accurate.
    """
    trainer.check_networks()  # of a divergence in the last step
    product = torch.empty_like(probability)
    for part in blocks(*probability.shape):
        index = torch.arange(part.start, part.stop, device=probability.device)
        predicted = trainer.predicted_probabilities(index)
        product[part] = multiplied(probability[part], predicted).to(product.dtype)
    return product


def with_rows_of_weight_zero(trainer: Trainer, product: Tensor) -> Tensor:
    """Return products, and what all networks predict for rows of weight 0.

    They must not influence the training, so nothing was known of them.
    """
    rows = (row_sums(product) == 0).nonzero().squeeze(1)
    # Not a product, so the power is undone.
    predicted = trainer.predicted_probabilities(rows).pow_(1 / POWER_OF_PRODUCT)
    return product.index_copy(0, rows, predicted.to(product.dtype))
