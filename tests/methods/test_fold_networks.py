"""What fold networks and final networks of CrossPrestopping are trained on."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from skpresto._data.batch import Batch
from skpresto._label_quality.out_of_fold import OutOfFoldProbabilities
from skpresto._label_quality.posterior import LabelPosterior
from skpresto._methods._final_networks import LearnPosterior
from skpresto._methods._fold_networks import SelectByOutOfFoldPosterior
from skpresto._training.stage import Stage
from tests.naive_posterior import (
    C,
    K,
    batch_of,
    epsilons,
    folds_of,
    labels_of,
    lengths,
    probabilities_after,
    visit,
    visits_made,
)


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
    given = torch.tensor(labels)
    probabilities = OutOfFoldProbabilities(given, C, q)
    policy = SelectByOutOfFoldPosterior(probabilities, given, epsilon)
    posterior, counted_in = None, -1
    for number, made in enumerate(visits):
        epoch = number // n_batches
        batch = batch_of(made, labels, folds, epoch)
        policy.is_selecting = epoch >= stop_epoch
        if epoch != counted_in:
            policy.end_epoch()
        probabilities.record(batch)
        selection = policy.select(batch)
        is_trained = torch.tensor([[folds[i] != k for i in made[0]] for k in range(K)])
        if epoch < stop_epoch:
            assert torch.equal(selection.weights, is_trained.float())
            assert selection.targets is None
            continue
        if counted_in != epoch:  # once per epoch
            means = probabilities.mean.clone()
            posterior = LabelPosterior.counted(means, given, epsilon, shrunken=True)
            counted_in = epoch
        posterior = replace(posterior, probability=probabilities.mean)
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
        corrected = policy._corrected.take()
        assert corrected == pytest.approx(assessed.is_corrected.float().mean().item())


@given(visits_made, visit, labels_of, folds_of, lengths, st.booleans())
def test_final_networks_learn_the_posterior_of_every_sample_that_was_seen(
    visits, made, labels, folds, q, takes_probabilities
):
    probabilities = probabilities_after(visits, folds, q)
    posterior = LabelPosterior.counted(probabilities.mean, torch.tensor(labels))
    policy = LearnPosterior(posterior, takes_probabilities)
    batch = batch_of(made, labels, folds)
    selection = policy.select(batch)
    rows = posterior.posterior(batch.index).tolist()
    is_seen = [sum(row) > 0 for row in rows]
    likeliest = [row.index(max(row)) for row in rows]
    if takes_probabilities:
        assert selection.targets.tolist() == rows
        weights = [float(seen) for seen in is_seen]
    else:
        assert selection.targets.tolist() == likeliest
        weights = [max(row) for row in rows]
    if selection.weights is None:
        assert all(is_seen)
        assert not policy.may_select_nothing
    else:
        assert selection.weights.tolist() == [weights] * K
        assert policy.may_select_nothing
    n_changed = sum(
        seen and suggested != labels[i]
        for i, seen, suggested in zip(made[0], is_seen, likeliest, strict=True)
    )
    changed = policy.end_epoch()["corrected_fraction"]
    assert changed == pytest.approx(n_changed / len(rows))


def test_without_samples_to_leave_out_all_have_equal_weight():
    labels = torch.tensor([0, 1, 1])
    posterior = LabelPosterior.counted(torch.full((3, C), 1 / C), labels)
    policy = LearnPosterior(posterior)
    index = torch.arange(3)
    batch = Batch(index, posterior.labels, torch.zeros(2, 3, C), torch.zeros(2, 3), 0)
    assert policy.select(batch).weights is None
    assert not policy.may_select_nothing


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
        probabilities = OutOfFoldProbabilities(trainer.labels, n_classes, 3)
        policy = SelectByOutOfFoldPosterior(probabilities, trainer.labels, 0.05)
        recorders = [probabilities]
        trainer.run(Stage("fit", policy, 3, recorders=recorders, folds=fold_of))
        return trainer.net.networks

    before, after = networks(change=False), networks(change=True)
    same = [
        all(map(torch.equal, a.parameters(), b.parameters()))
        for a, b in zip(before, after, strict=True)
    ]
    assert same == [True, False]
