"""What fold networks and final networks of CrossPrestopping are trained on."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from skpresto._label_quality.out_of_fold import OutOfFoldProbabilities
from skpresto._label_quality.posterior import LabelAssessment, LabelPosterior
from skpresto._selection.base import Batch
from skpresto._selection.cross_fit import (
    CoTeachOnCleanedLabels,
    SelectByOutOfFoldPosterior,
)
from tests.naive_posterior import (
    C,
    K,
    N,
    epsilons,
    folds_of,
    labels_of,
    lengths,
    logits_of,
    visit,
    visits_made,
)


def batch_of(visit, labels, epoch=0):
    index = torch.tensor(visit[0])
    losses = torch.zeros(K, len(index))
    return Batch(index, torch.tensor(labels)[index], logits_of(visit), losses, epoch)


def naive_weight(posterior, label):
    own = posterior[label]
    other = max(p for c, p in enumerate(posterior) if c != label)
    return own / (own + other) if own >= other and own > 0 else 0.0


@given(
    visits_made,
    labels_of,
    folds_of,
    lengths,
    epsilons,
    st.integers(0, 8),
    st.integers(1, 3),
)
def test_each_network_is_trained_on_weighted_labels_outside_its_fold(
    visits, labels, folds, q, epsilon, stop_epoch, n_batches
):
    given, fold_of = torch.tensor(labels), torch.tensor(folds)
    policy = SelectByOutOfFoldPosterior(
        OutOfFoldProbabilities(fold_of, C, q), given, epsilon
    )
    twin = OutOfFoldProbabilities(fold_of, C, q)
    posterior, counted_in = None, -1
    for number, made in enumerate(visits):
        epoch = number // n_batches
        batch = batch_of(made, labels, epoch)
        policy.is_selecting = epoch >= stop_epoch
        selection = policy.select(batch)
        twin.add_batch(batch.index, batch.logits)
        is_trained = torch.tensor([[folds[i] != k for i in made[0]] for k in range(K)])
        if epoch < stop_epoch:
            assert torch.equal(selection.weights, is_trained.float())
            assert selection.targets is None
            continue
        if counted_in != epoch:  # once per epoch
            posterior, counted_in = LabelPosterior(twin.mean, given, epsilon), epoch
        assessed = posterior.assess(batch.index)
        rows = posterior.posterior(batch.index).tolist()
        weights = [
            1.0 if is_corrected else naive_weight(row, label)
            for row, label, is_corrected in zip(
                rows, batch.labels.tolist(), assessed.is_corrected.tolist(), strict=True
            )
        ]
        expected = is_trained * torch.tensor(weights)
        torch.testing.assert_close(selection.weights, expected)
        assert torch.equal(selection.weights == 0, expected == 0)
        assert torch.equal(selection.targets, assessed.labels)
        corrected = policy.epoch_summary()["corrected_fraction"]
        assert corrected == pytest.approx(assessed.is_corrected.float().mean().item())


def assessment_of(is_safe, is_corrected, labels, error_probability):
    return LabelAssessment(
        is_safe=torch.tensor(is_safe),
        is_corrected=torch.tensor(is_corrected),
        labels=torch.tensor(labels),
        quality=torch.ones(len(labels)),
        suggested=torch.tensor(labels),
        error_probability=torch.tensor(error_probability),
    )


def test_labels_without_expected_errors_are_all_learned():
    assessment = assessment_of(
        is_safe=[True, False, False, True],
        is_corrected=[False, True, False, False],
        labels=[0, 2, 1, 1],
        error_probability=[0.0, 0.0, 0.9, 0.0],
    )
    policy = CoTeachOnCleanedLabels(assessment)
    index = torch.tensor([3, 1, 2])
    given = torch.tensor([1, 0, 1])
    logits = torch.zeros(2, 3, C)
    selection = policy.select(Batch(index, given, logits, torch.zeros(2, 3), 99))
    assert selection.weights.tolist() == [[1, 1, 0]] * 2
    assert selection.targets.tolist() == [1, 2, 1]
    assert policy.epoch_summary()["corrected_fraction"] == pytest.approx(1 / 3)


def test_without_a_usable_label_nothing_is_selected():
    policy = CoTeachOnCleanedLabels(assessment_of([False], [False], [0], [0.7]))
    index = torch.tensor([0])
    batch = Batch(index, index, torch.zeros(2, 1, C), torch.zeros(2, 1), 99)
    assert policy.select(batch).weights.tolist() == [[0], [0]]
    assert policy.expected_noise_rate == 0.0


@given(
    visit,
    labels_of,
    labels_of,
    st.lists(st.sampled_from(["safe", "corrected", ""]), min_size=N, max_size=N),
    st.lists(st.sampled_from([0.0, 0.2, 0.5]), min_size=N, max_size=N),
    st.sampled_from([0, 4, 9, 30]),
)
def test_each_final_network_leaves_out_what_the_other_finds_least_likely(
    visit, labels, others, found, errors, epoch
):
    is_safe, is_corrected = (
        [f == kind for f in found] for kind in ("safe", "corrected")
    )
    is_usable = [bool(f) for f in found]
    targets = np.where(is_corrected, others, labels).tolist()
    batch = batch_of(visit, labels, epoch)
    policy = CoTeachOnCleanedLabels(
        assessment_of(is_safe, is_corrected, targets, errors)
    )
    weights = policy.select(batch).weights
    index = visit[0]
    counted = [errors[i] for i in range(N) if is_usable[i]]
    rate = sum(counted) / len(counted) if counted else 0.0
    usable = [j for j, i in enumerate(index) if is_usable[i]]
    expected = rate * min((epoch + 1) / 10, 1) * len(usable)
    likely = torch.softmax(batch.logits, dim=2)
    for network in range(K):
        kept = [j for j in range(len(index)) if weights[network, j]]
        assert set(kept) <= set(usable)
        n_left_out = len(usable) - len(kept)
        assert expected - 1 - 1e-5 < n_left_out < expected + 1e-5
        of_other = {j: likely[1 - network, j, targets[index[j]]].item() for j in usable}
        of_kept = sorted(of_other[j] for j in kept)
        assert sorted(of_other.values())[n_left_out:] == of_kept
    is_changed = torch.tensor([targets[i] != labels[i] for i in index])
    n_changed = int((weights.any(dim=0) & is_changed).sum())
    changed = policy.epoch_summary()["corrected_fraction"]
    assert changed == pytest.approx(n_changed / len(index))


@given(st.lists(st.integers(1, 40), min_size=1, max_size=12), st.floats(0, 0.9))
def test_over_many_batches_the_expected_number_of_labels_is_left_out(sizes, rate):
    """However small the batches: fractions of a sample are carried over."""
    n_samples = sum(sizes)
    everything, nothing = [True] * n_samples, [False] * n_samples
    policy = CoTeachOnCleanedLabels(
        assessment_of(everything, nothing, [0] * n_samples, [rate] * n_samples)
    )
    n_left_out = 0
    for index in torch.arange(n_samples).split(sizes):
        b = len(index)
        batch = Batch(
            index, torch.zeros_like(index), torch.rand(K, b, C), torch.zeros(K, b), 99
        )
        kept = policy.select(batch).weights.sum(dim=1).tolist()
        assert kept == [kept[0]] * K
        n_left_out += b - int(kept[0])
    assert rate * n_samples - 1.001 < n_left_out < rate * n_samples + 0.001


def test_labels_of_a_fold_do_not_reach_the_network_that_leaves_it_out(make_trainer):
    """While all labels are learned, network 0 does not depend on those of its fold."""

    def networks(change):
        trainer = make_trainer()
        n_samples, n_classes = len(trainer.labels), trainer.data.n_classes
        fold_of = torch.arange(n_samples) % 2
        if change:
            in_fold = fold_of == 0
            trainer.labels[in_fold] = (trainer.labels[in_fold] + 1) % n_classes
            trainer.data.labels[in_fold] = trainer.labels[in_fold]
        torch.manual_seed(0)
        trainer.start(n_networks=2)
        probabilities = OutOfFoldProbabilities(fold_of, n_classes, 3)
        policy = SelectByOutOfFoldPosterior(probabilities, trainer.labels, 0.05)
        trainer.run(policy, 3, stage="cross-fit phase 1")
        return trainer.net.networks

    before, after = networks(change=False), networks(change=True)
    same = [
        all(map(torch.equal, a.parameters(), b.parameters()))
        for a, b in zip(before, after, strict=True)
    ]
    assert same == [True, False]
