"""DivideMix's targets, loss and division, by hand and by loops."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.mixture import GaussianMixture

from skpresto._data.augment import Augment
from skpresto._data.batch import Batch
from skpresto._data.mixup import Mixup
from skpresto._methods._clean_mixture import clean_probabilities, losses_of_networks
from skpresto._methods._semi_supervised import divided_targets
from skpresto._methods.dividemix import DivideAndMix

N, CLASSES = 5, 3
PRIOR = [0.5, 0.2, 0.3]


def naive_targets(p, labels, told):
    """Return targets of both networks, refined or guessed, in nested lists."""
    targets = []
    for k in range(2):
        rows = []
        for i, label in enumerate(labels):
            w = told[k][i]
            if w > 0.5:
                row = [w * (c == label) + (1 - w) * p[k][i][c] for c in range(CLASSES)]
            else:
                row = [(p[0][i][c] + p[1][i][c]) / 2 for c in range(CLASSES)]
            sharp = [x ** (1 / 0.5) for x in row]
            rows.append([x / sum(sharp) for x in sharp])
        targets.append(rows)
    return targets


seeds = st.integers(0, 1 << 30)


@given(seed=seeds)
def test_targets_equal_their_naive_twin(seed):
    generator = torch.Generator().manual_seed(seed)
    p = torch.softmax(3 * torch.randn(2, N, CLASSES, generator=generator), dim=2)
    labels = torch.randint(CLASSES, (N,), generator=generator)
    told = torch.rand(2, N, generator=generator)
    expected = naive_targets(p.tolist(), labels.tolist(), told.tolist())
    found = divided_targets(p, labels, told)
    torch.testing.assert_close(found, torch.tensor(expected))


def naive_loss(outputs, targets, is_labelled, factor, prior):
    """Return the loss of one network, from rows of all its views, as in the release."""
    probabilities = [torch.softmax(z, dim=0).tolist() for z in outputs]
    entropies, squares = [], []
    for q, target, labelled in zip(probabilities, targets, is_labelled, strict=True):
        if labelled:
            entropies.append(
                -sum(t * math.log(x) for t, x in zip(target, q, strict=True))
            )
        else:
            squares += [(x - t) ** 2 for x, t in zip(q, target, strict=True)]
    mean = [sum(q[c] for q in probabilities) / len(outputs) for c in range(CLASSES)]
    penalty = sum(
        share * math.log(share / m) for share, m in zip(prior, mean, strict=True)
    )
    supervised = sum(entropies) / len(entropies) if entropies else 0
    guessed = sum(squares) / len(squares) if squares else 0
    return supervised + factor * guessed + penalty


def soft_losses(logits, targets):
    return -(targets * torch.log_softmax(logits, dim=-1)).sum(dim=-1).flatten()


@pytest.mark.parametrize("has_views", [False, True])
@pytest.mark.parametrize(
    ("epoch", "factor"), [(4, 0.0), (6, 10.0), (12, 20.0), (20, 20.0)]
)
@given(seed=seeds)
def test_loss_equals_its_naive_twin(has_views, epoch, factor, seed):
    torch.manual_seed(seed)
    X, W = torch.randn(N, 2), torch.randn(2, 2, CLASSES)
    labels = torch.randint(CLASSES, (N,))
    seen = []

    def view(change):
        seen.append(change(X))
        return torch.stack([seen[-1] @ own for own in W])

    augment = Augment(lambda X: X + torch.rand(1)) if has_views else None
    prior = torch.tensor(PRIOR)
    n_views = 2 if has_views else 1
    policy = DivideAndMix(
        None, soft_losses, Mixup(augment), N, prior, 4, 4, 20.0, False
    )
    policy.probabilities.copy_(torch.rand(2, N))
    logits = torch.stack([X @ own for own in W])
    batch = Batch(torch.arange(N), labels, logits, torch.zeros(2, N), epoch, view=view)
    selection = policy.select(batch)
    assert selection.weights is None
    before = torch.get_rng_state()
    found = selection.objective(logits, batch.losses).mean(dim=1)

    torch.set_rng_state(before)
    for _ in range(n_views if has_views else 0):
        torch.rand(1)
    partners, weight = torch.randperm(n_views * N), Mixup(None).drawn_weight()
    views = [seen[0]] if has_views else [X]
    p = torch.stack([torch.softmax(views[0] @ own, dim=1) for own in W])
    p = p.view(2, n_views, N, CLASSES).mean(dim=1)
    told = policy.probabilities.flip(0)
    targets = naive_targets(p.tolist(), labels.tolist(), told.tolist())
    for k in range(2):
        outputs = seen[-1] @ W[k]
        own = torch.tensor(targets[k] * n_views)
        mixed = weight * own + (1 - weight) * own[partners]
        is_labelled = (told[k] > 0.5).tolist() * n_views
        expected = naive_loss(outputs, mixed.tolist(), is_labelled, factor, PRIOR)
        assert found[k].item() == pytest.approx(expected, rel=1e-3, abs=1e-4)


def test_the_warm_up_is_plain_or_penalizes_confidence():
    batch = Batch(torch.arange(2), torch.tensor([0, 1]), torch.zeros(2, 2, 2), None, 3)
    args = None, soft_losses, Mixup(None), 2, torch.ones(2) / 2, 4, 4, 20.0
    assert DivideAndMix(*args, False).select(batch).objective is None
    objective = DivideAndMix(*args, True).select(batch).objective
    logits = torch.tensor([[[math.log(3), 0.0], [0.0, 0.0]]])
    entropies = [0.75 * math.log(0.75) + 0.25 * math.log(0.25), math.log(0.5)]
    found = objective(logits, torch.ones(1, 2))
    assert found[0].tolist() == pytest.approx([1 + h for h in entropies])


def test_other_criteria_learn_the_most_probable_class():
    policy = DivideAndMix(
        None,
        lambda z, labels: torch.nn.functional.multi_margin_loss(
            z.flatten(0, 1), labels.flatten(), reduction="none"
        ),
        Mixup(None),
        2,
        torch.ones(2) / 2,
        *(0, 1, 0.0, False),
    )
    policy.takes_probabilities = False
    logits = torch.tensor([[[2.0, 0.0], [0.0, 2.0]]]).repeat(2, 1, 1)
    batch = Batch(torch.arange(2), torch.tensor([0, 1]), logits, logits[:, :, 0], 0)
    batch = batch._replace(view=lambda change: logits)
    objective = policy.select(batch).objective
    torch.manual_seed(0)  # partners are exchanged or not
    losses = objective(logits, batch.losses)
    torch.manual_seed(0)
    is_exchanged = torch.randperm(2)[0] == 1
    weight = Mixup(None).drawn_weight()
    expected = 1.5 * (1 - weight) if is_exchanged else 0.0
    assert losses.flatten().tolist() == pytest.approx([expected] * 4, abs=1e-5)


def naive_clean(losses):
    scaled = (losses - losses.min()) / (losses.max() - losses.min())
    mixture = GaussianMixture(
        n_components=2, max_iter=10, tol=1e-2, reg_covar=5e-4, random_state=0
    ).fit(scaled.reshape(-1, 1))
    return mixture.predict_proba(scaled.reshape(-1, 1))[:, mixture.means_.argmin()]


def test_probabilities_are_those_of_the_group_of_small_losses():
    rng = np.random.RandomState(0)
    losses = np.concatenate([rng.exponential(0.1, 80), rng.normal(3, 0.5, 40)])
    found = clean_probabilities(torch.from_numpy(losses)).numpy()
    np.testing.assert_allclose(found, naive_clean(losses))
    assert (found[:80] > 0.5).all()
    assert (found[80:] < 0.5).all()
    assert clean_probabilities(torch.ones(3)).tolist() == [1, 1, 1]


def test_labels_are_divided_after_the_warm_up_by_the_losses_of_each_network():
    losses = torch.tensor([[0.0, 0.1, 9.0, 9.1], [9.0, 9.1, 0.0, 0.1]])
    index = torch.tensor([3, 0, 1, 2])
    policy = DivideAndMix(
        lambda: (index, losses),
        *(soft_losses, Mixup(None), 5, torch.ones(2) / 2, 2, 1, 0.0, False),
    )
    policy.end_epoch()
    assert policy.selected.all()
    policy.end_epoch()
    expected = [[1, 0, 0, 1, 0], [0, 1, 1, 0, 0]]
    assert policy.probabilities.round().tolist() == expected
    assert policy.selected.tolist() == [True, True, True, True, False]


def test_losses_are_of_each_network_in_evaluation_mode(make_trainer):
    weights = torch.ones(400)
    weights[10:] = 0
    trainer = make_trainer(n_networks=2, weights=weights, module__dropout=0.5)
    index, losses = losses_of_networks(trainer)
    assert index.tolist() == list(range(10))
    X = torch.as_tensor(trainer.data.X.source[:10])
    for network, found in zip(trainer.net.networks, losses, strict=True):
        expected = torch.nn.functional.cross_entropy(
            network.eval()(X), trainer.labels[:10], reduction="none"
        )
        torch.testing.assert_close(found, expected)
