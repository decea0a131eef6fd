"""Iterative noisy cross-validation, then Co-teaching on the selected samples."""

from numbers import Integral

import torch
from torch import Tensor, nn

from skpresto._classifier.base import BaseNoisyLabelClassifier
from skpresto._classifier.outcome import Outcome
from skpresto._data.batch import Batch
from skpresto._device import fraction_of
from skpresto._methods._epochs import (
    EPOCHS_CONSTRAINT,
    ROUND_CONSTRAINT,
    as_epochs,
    n_epochs_of,
    round_epochs_of,
)
from skpresto._methods._noise_rate import NOISE_RATE_CONSTRAINT
from skpresto._methods._noisy_cross_validation import (
    NoisyCrossValidation,
    VisitsOfHalf,
    noise_rate_of_accuracy,
    noise_rate_of_selection,
)
from skpresto._methods._report import (
    has_weight,
    report_labels,
    selected_or_predicted,
)
from skpresto._methods._small_loss import forget_rate, is_small_loss
from skpresto._methods.coteaching import ExchangeSmallLoss
from skpresto._sklearn import Interval, StrOptions
from skpresto._training.policy import LearnFromSubset, Selection
from skpresto._training.request import FitRequest
from skpresto._training.stage import Stage
from skpresto._training.trainer import Trainer
from skpresto._warn import warn_caller
from skpresto.exceptions import FallbackWarning


class CoTeachOnSelected(ExchangeSmallLoss):
    """Co-teaching on selected samples, later also on remaining candidates.

    Each network leaves out for the other one the fraction of largest losses that is
    expected to be wrong among the selected samples of a batch. After a warm-up, at most
    half as many candidates as there are selected samples compete with them for the same
    number of places.

    Parameters
    ----------
    is_selected, is_candidate : Tensor of shape (n_samples,), dtype=bool
        Both sets.
    noise_rate : float
        Expected fraction of wrong labels among the selected samples.
    ramp_epochs : int
        Epochs until that fraction is left out.
    warm_up : int
        Number of epochs without candidates.
    """

    may_select_nothing = True

    def __init__(
        self,
        is_selected: Tensor,
        is_candidate: Tensor,
        noise_rate: float,
        ramp_epochs: int,
        warm_up: int,
    ) -> None:
        n_samples, device = len(is_selected), is_selected.device
        super().__init__(n_samples, noise_rate, ramp_epochs, device=str(device))
        self.is_in_selected_set = is_selected
        self.is_candidate = is_candidate
        self.warm_up = warm_up

    def select(self, batch: Batch) -> Selection:
        """Return for each network the small losses of the other one."""
        among = self.is_in_selected_set.index_select(0, batch.index)
        n_selected = among.sum()
        if batch.epoch >= self.warm_up:
            others = self.is_candidate.index_select(0, batch.index)
            among = among | (others & (others.cumsum(0) <= n_selected // 2))
        rate = forget_rate(batch.epoch, self.noise_rate, self.ramp_epochs)
        # Without the small offset, products such as 0.9 * 10 may round down to 8.
        n_kept = ((1 - rate) * n_selected + 1e-6).floor().clamp(min=1)
        losses = batch.losses.masked_fill(~among, torch.inf)
        return self._exchange(batch, among & is_small_loss(losses, n_kept))


class INCVClassifier(BaseNoisyLabelClassifier):
    """Select labels by repeated cross-validation, then train two networks on them.

    Iterative noisy cross-validation [1]_ divides the samples into halves, trains a
    network on each, and selects the samples of a half whose label is predicted by the
    network of the other half. That is repeated with the remaining samples; networks of
    later rounds are also trained on those selected. Two final networks are trained on
    the selected samples as in Co-teaching. The cost is two fits, and two short ones per
    round: four fits by default.

    Parameters
    ----------
    module : nn.Module class or instance, default=None
        The network, as in :class:`~skpresto.CoTeachingClassifier`.
    noise_rate : float in [0, 1), default=None
        Fraction of wrong labels. ``None`` computes it from the fraction of labels that
        are predicted in the first round.
    noise_pattern : {"symmetric", "asymmetric"}, default="symmetric"
        Whether a wrong label may be any class, or one certain class for each true one.
        It enters the noise rates of all labels and of those selected; and with
        ``"asymmetric"``, samples with large losses are not discarded between rounds.
    rounds : int, default=4
        Number of times that samples are divided into halves.
    round_epochs : int or float, default=0.25
        Epochs for which the network of a half is trained, as a number or as a fraction
        of ``max_epochs``.
    warm_up : int or float, default=0.2
        Epochs in which the final networks learn from selected samples only, as a
        number or as a fraction of ``max_epochs``. Later, samples that were neither
        selected nor discarded are added to the batches.
    ramp_epochs : int or float, default=10
        Epochs until the full noise rate of the selected samples is left out of a batch,
        as in :class:`~skpresto.CoTeachingClassifier`.
    q : int, default=10
        Number of latest predictions stored per sample. It does not affect training,
        only what is recorded.
    class_weight, criterion, optimizer, lr, max_epochs, batch_size, device
    callbacks, n_jobs, random_state, verbose, **net_params
        How the network is trained, as in :class:`~skpresto.PrestoppingClassifier`.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, input_shape_, net_, n_epochs_
        As in :class:`~skpresto.PrestoppingClassifier`.
    history_ : list of EpochRecord
        One record per epoch, with the name of its stage; can be passed to
        ``pandas.DataFrame``.
    safe_mask_ : ndarray of shape (n_samples,), dtype=bool
        Whether the sample was selected. A sample of weight 0 is safe if its label is
        predicted.
    label_quality_ : ndarray of shape (n_samples,)
        As in :class:`~skpresto.PrestoppingClassifier`, from visits of networks that
        were not trained on the sample, in all rounds.
    label_agreement_, suggested_labels_, label_findings_
        As in :class:`~skpresto.PrestoppingClassifier`.
    noise_rate_ : float
        The noise rate used: as given, or computed.

    See Also
    --------
    skpresto.CoTeachingClassifier : Two networks on all samples.
    skpresto.CrossPrestoppingClassifier : Cross-fitting in folds, with corrections.

    Notes
    -----
    With a noise rate e and c classes that a wrong label may have (all but one if
    symmetric, one if asymmetric), labels are predicted with a probability of
    ``(1 - e)**2 + e**2 / c``, from which e is computed, and the selected ones are wrong
    with a probability of ``e**2 / (e**2 + c * (1 - e)**2)``. For each selected sample
    of a half, min(2, e / (1 - e)) with the largest losses are discarded. The authors'
    release computes e for asymmetric noise by the symmetric formula, and uses the epoch
    with the best accuracy on the other half in early rounds; here a round is short. If
    no label is selected, all are used, with a
    :class:`~skpresto.exceptions.FallbackWarning`.

    References
    ----------
    .. [1] P. Chen, B. B. Liao, G. Chen, S. Zhang, "Understanding and utilizing deep
       neural networks trained with noisy labels", ICML 2019.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from skpresto.baselines import INCVClassifier
    >>> X, y = make_blobs(n_samples=200, random_state=0)
    >>> clf = INCVClassifier(rounds=2, max_epochs=8, random_state=0).fit(X, y)
    >>> [record.stage for record in clf.history_][::2][:4]
    ['round 1 half 1', 'round 1 half 2', 'round 2 half 1', 'round 2 half 2']
    """

    _parameter_constraints = {
        **BaseNoisyLabelClassifier._parameter_constraints,
        "noise_rate": NOISE_RATE_CONSTRAINT,
        "noise_pattern": [StrOptions({"symmetric", "asymmetric"})],
        "rounds": [Interval(Integral, 1, None, closed="left")],
        "round_epochs": ROUND_CONSTRAINT,
        "warm_up": EPOCHS_CONSTRAINT,
        "ramp_epochs": EPOCHS_CONSTRAINT,
    }

    def __init__(
        self,
        module=None,
        *,
        noise_rate=None,
        noise_pattern="symmetric",
        rounds=4,
        round_epochs=0.25,
        warm_up=0.2,
        ramp_epochs=10,
        q=10,
        class_weight=None,
        criterion=nn.CrossEntropyLoss,
        optimizer=torch.optim.SGD,
        lr=0.1,
        max_epochs=60,
        batch_size=128,
        device="cpu",
        callbacks=None,
        n_jobs=None,
        random_state=None,
        verbose=0,
        **net_params,
    ):
        self._store(locals())

    def _train(self, trainer: Trainer, request: FitRequest) -> Outcome:
        warm_up = n_epochs_of(self, "warm_up")
        is_symmetric = self.noise_pattern == "symmetric"
        n_wrong_classes = trainer.data.n_classes - 1 if is_symmetric else 1
        visits = VisitsOfHalf(trainer.labels, trainer.data.n_classes)
        validation = NoisyCrossValidation(trainer.labels, has_weight(trainer))
        noise_rate = self.noise_rate
        for number in range(1, self.rounds + 1):
            halves = self._validate_halves(trainer, validation, visits, number)
            if noise_rate is None:
                is_predicted = [validation.is_predicted(*half) for half in halves]
                accuracy = fraction_of(torch.cat(is_predicted))
                noise_rate = noise_rate_of_accuracy(accuracy, n_wrong_classes)
            validation.end_round(halves, noise_rate if is_symmetric else None)
            if int(validation.is_candidate.sum()) < 2:
                break
        visits.record_only(torch.ones_like(validation.is_selected))
        noise_rate = float(noise_rate)
        rate_of_selected = noise_rate_of_selection(noise_rate, n_wrong_classes)
        if not validation.is_selected.any():
            self._warn_of_no_selection()
            validation.is_selected, rate_of_selected = has_weight(trainer), noise_rate
        policy = CoTeachOnSelected(
            validation.is_selected,
            validation.is_candidate,
            rate_of_selected,
            as_epochs(self.ramp_epochs, self.max_epochs),
            warm_up,
        )
        trainer.start(n_networks=2, must_differ=True)
        trainer.run(Stage("final", policy, self.max_epochs))
        findings = report_labels(
            trainer,
            visits,
            is_safe=selected_or_predicted(trainer, validation.is_selected),
            noise_rate=noise_rate,
            basis="out of fold",
        )
        return Outcome(findings)

    def _validate_halves(
        self,
        trainer: Trainer,
        validation: NoisyCrossValidation,
        visits: VisitsOfHalf,
        number: int,
    ) -> list[tuple[Tensor, Tensor]]:
        """Train a network on each half; return what it predicts for the other one."""
        candidates = validation.is_candidate.nonzero().squeeze(1)
        order = torch.from_numpy(trainer.rng.permutation(len(candidates)))
        shuffled = candidates[order.to(candidates.device)]
        middle = len(shuffled) // 2
        halves = shuffled[:middle], shuffled[middle:]
        predictions = []
        for position, index in enumerate(halves):
            other = halves[1 - position]
            is_learned = validation.is_selected.index_fill(0, index, True)
            trainer.start()
            name = f"round {number} half {position + 1}"
            policy = LearnFromSubset(is_learned)
            visits.record_only(torch.zeros_like(is_learned).index_fill(0, other, True))
            trainer.run(Stage(name, policy, round_epochs_of(self), recorders=[visits]))
            trainer.check_networks()
            predictions.append((other, trainer.predicted_probabilities(other)))
        return predictions

    def _warn_of_no_selection(self) -> None:
        warn_caller(
            f"{type(self).__name__}: no label is predicted by a network that was "
            "trained on the other half of the samples, so all labels are used instead. "
            "More samples, or more round_epochs, may avoid this.",
            FallbackWarning,
        )
