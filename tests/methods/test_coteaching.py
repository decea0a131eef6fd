import copy

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from skpresto import CoTeachingClassifier, CoTeachingPlusClassifier
from skpresto._data.batch import Batch
from skpresto._methods.coteaching import ExchangeSmallLoss
from skpresto._methods.coteaching_plus import ExchangeSmallLossOnDisagreement
from skpresto._training.policy import Policy, Selection
from skpresto._training.stage import Stage
from skpresto.baselines import DecoupleClassifier, JoCoRClassifier
from skpresto.exceptions import SafeSetWarning
from skpresto.modules import MLP
from tests.classifier.test_foreign_modules import quick_with
from tests.discovery import quick

pytestmark = pytest.mark.filterwarnings("ignore::skpresto.exceptions.SafeSetWarning")
TWO_NETWORKS = [CoTeachingClassifier, CoTeachingPlusClassifier]
BOTH = pytest.mark.parametrize("Classifier", TWO_NETWORKS)


@st.composite
def batches(draw):
    """Draw a batch of two networks with many equal losses and predictions."""
    n = draw(st.integers(1, 9))
    losses = draw(
        st.lists(
            st.lists(st.sampled_from([0.1, 0.2, 0.7]), min_size=n, max_size=n),
            min_size=2,
            max_size=2,
        )
    )
    predicted = draw(
        st.lists(
            st.lists(st.integers(0, 1), min_size=n, max_size=n), min_size=2, max_size=2
        )
    )
    logits = nn.functional.one_hot(torch.tensor(predicted), 3).float()
    labels = torch.zeros(n, dtype=torch.long)
    epoch = draw(st.integers(0, 12))
    return Batch(torch.arange(n), labels, logits, torch.tensor(losses), epoch)


def naive_choice(losses, among, keep):
    return sorted(among, key=lambda i: (losses[i], i))[:keep]


def naive_selection(batch, rate, ramp, warm_up):
    """Return weights as Co-teaching (warm_up None) or Co-teaching+ would by loops."""
    n = len(batch.index)
    predicted = batch.logits.argmax(dim=2)
    forget = rate * min(1, (batch.epoch + 1) / ramp)
    among = list(range(n))
    if warm_up is not None and batch.epoch >= warm_up:
        among = [i for i in among if predicted[0, i] != predicted[1, i]]
    keep = max(1, int((1 - forget) * len(among) + 1e-9))
    weights = [[0.0] * n for _ in range(2)]
    for network in range(2):
        for i in naive_choice(batch.losses[network].tolist(), among, keep):
            weights[1 - network][i] = 1.0
    return weights


@given(batch=batches(), rate=st.floats(0, 0.95), ramp=st.integers(1, 10))
def test_exchange_equals_its_naive_twin(batch, rate, ramp):
    policy = ExchangeSmallLoss(20, rate, ramp)
    weights = policy.select(batch).weights.tolist()
    assert weights == naive_selection(batch, rate, ramp, warm_up=None)
    learned = [a + b > 0 for a, b in zip(*weights, strict=True)]
    assert policy.selected[: len(learned)].tolist() == learned


@given(batch=batches(), rate=st.floats(0, 0.95), warm_up=st.integers(0, 8))
def test_exchange_where_they_disagree_equals_its_naive_twin(batch, rate, warm_up):
    policy = ExchangeSmallLossOnDisagreement(20, rate, 5, warm_up=warm_up)
    weights = policy.select(batch).weights.tolist()
    assert weights == naive_selection(batch, rate, 5, warm_up)
    predicted = batch.logits.argmax(dim=2)
    disagreement = (predicted[0] != predicted[1]).float().mean().item()
    summary = policy.end_epoch()
    assert summary["disagreement_fraction"] == pytest.approx(disagreement)
    assert policy.end_epoch()["disagreement_fraction"] == 0


def plain_coteaching(networks, X, y, batches_of_rows, rate, ramp, lr):
    """Train two networks by a hand-written loop."""
    optimizers = [
        torch.optim.SGD(
            network.parameters(), lr=lr, momentum=0.9, weight_decay=1e-3, fused=True
        )
        for network in networks
    ]
    for epoch, rows in batches_of_rows:
        outputs = [network(X[rows]) for network in networks]
        losses = [
            nn.functional.cross_entropy(output, y[rows], reduction="none")
            for output in outputs
        ]
        keep = int((1 - rate * min(1, (epoch + 1) / ramp)) * len(rows) + 1e-9)
        chosen = [loss.argsort(stable=True)[:keep] for loss in losses]
        for k in range(2):
            optimizers[k].zero_grad()
            weights = torch.zeros(len(rows))
            weights[chosen[1 - k]] = 1.0
            ((losses[k] * weights).sum() / weights.sum()).backward()
        for optimizer in optimizers:
            optimizer.step()


def test_two_networks_equal_two_trained_in_plain_torch_bit_for_bit(make_trainer):
    trainer = make_trainer(
        classifier=CoTeachingClassifier,
        module=MLP,
        module__hidden=(8, 8),
        module__dropout=0.0,
        optimizer__weight_decay=1e-3,
        batch_size=80,
        noise_rate=0.3,
        lr=0.1,
        n_networks=2,
    )
    twins = copy.deepcopy(trainer.net.networks)
    X, y = torch.as_tensor(trainer.data.X.source), trainer.data.labels
    state = torch.get_rng_state()
    order = [
        (epoch, rows) for epoch in range(4) for rows in torch.randperm(400).split(80)
    ]
    assert len(order) == 20
    torch.set_rng_state(state)
    trainer.run(Stage("train", ExchangeSmallLoss(400, 0.3, 3), 4))
    for twin in twins:
        twin.train()
    plain_coteaching(twins, X, y, order, rate=0.3, ramp=3, lr=0.1)
    for network, twin in zip(trainer.net.networks, twins, strict=True):
        for name, value in network.state_dict().items():
            assert torch.equal(value, twin.state_dict()[name]), name


def test_a_network_with_nothing_to_learn_stays_as_it_is(make_trainer):
    class OnlyTheFirstLearns(Policy):
        def select(self, batch):
            weights = torch.zeros_like(batch.losses)
            weights[0] = 1.0
            return Selection(weights=weights)

    trainer = make_trainer(classifier=CoTeachingClassifier, n_networks=2)
    policy = ExchangeSmallLoss(400, 0.3, 3)
    trainer.run(Stage("train", policy, 1))  # so that there is momentum
    before = copy.deepcopy([n.state_dict() for n in trainer.net.networks])
    trainer.run(Stage("train", OnlyTheFirstLearns(), 1))
    after = [n.state_dict() for n in trainer.net.networks]
    assert not torch.equal(before[0]["0.weight"], after[0]["0.weight"])
    assert all(torch.equal(before[1][name], after[1][name]) for name in before[1])


def test_predictions_are_the_mean_of_both_networks(noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(CoTeachingClassifier).fit(X, y)
    with torch.no_grad():
        rows = torch.from_numpy(X)
        parts = [network.eval()(rows).softmax(1) for network in clf.net_.networks]
    np.testing.assert_allclose(
        clf.predict_proba(X), (sum(parts) / 2).numpy(), rtol=1e-4, atol=1e-6
    )


@pytest.mark.parametrize(
    "Classifier", [*TWO_NETWORKS, DecoupleClassifier, JoCoRClassifier]
)
def test_networks_start_out_different_even_from_one_instance(noisy_blobs, Classifier):
    X, y, _ = noisy_blobs
    clf = quick_with(Classifier, MLP(2, 4, hidden=(8,)), max_epochs=2).fit(X, y)
    first, second = (network[0].weight for network in clf.net_.networks)
    assert not torch.equal(first, second)


@BOTH
def test_selection_is_cleaner_than_the_data(noisy_blobs, Classifier):
    X, y, y_true = noisy_blobs
    params = {"max_epochs": 15, "batch_size": 32, "module__hidden": (32,)}
    clf = Classifier(noise_rate=0.3, **params, random_state=2)
    clf.fit(X, y)
    is_wrong = y != y_true
    assert 0 < clf.safe_mask_.mean() < 1
    assert is_wrong[clf.safe_mask_].mean() < is_wrong.mean()
    assert clf.noise_rate_ == 0.3
    # Co-teaching+ has few samples left to learn from once the networks agree.
    assert clf.score(X, y_true) > (0.85 if Classifier is CoTeachingClassifier else 0.6)


@BOTH
def test_unknown_noise_rate_is_estimated(noisy_blobs, Classifier):
    X, y, y_true = noisy_blobs
    clf = Classifier(max_epochs=25, batch_size=32, module__hidden=(32,), random_state=0)
    clf.fit(X, y)
    assert abs(clf.noise_rate_ - np.mean(y != y_true)) < 0.1
    assert clf.noise_rate is None


def test_noise_rate_cannot_be_estimated_from_single_rows():
    X = np.eye(6, dtype=np.float32)
    with pytest.raises(ValueError, match="cannot estimate the noise rate from 6 sampl"):
        quick(CoTeachingClassifier, noise_rate=None).fit(X, np.arange(6))


def test_disagreement_and_skipped_batches_are_recorded(blobs):
    X, y = blobs
    clf = quick(CoTeachingPlusClassifier, warm_up=2, max_epochs=20).fit(X, y)
    fractions = [record.disagreement_fraction for record in clf.history_]
    assert all(0 <= fraction <= 1 for fraction in fractions)
    assert fractions[-1] < fractions[0]
    later = clf.history_[2:]
    assert all(r.selected_fraction <= r.disagreement_fraction for r in later)


def test_networks_that_agree_everywhere_learn_nothing_from_the_batch(blobs):
    X, y = blobs

    class Constant(nn.Linear):
        def forward(self, X):
            return super().forward(X) * 0 + torch.tensor([5.0, 0, 0, 0])

    clf = CoTeachingPlusClassifier(
        Constant(2, 4), noise_rate=0.1, warm_up=1, max_epochs=3, batch_size=50
    )
    with pytest.warns(SafeSetWarning, match="only 0 of 400 labels"):
        clf.fit(X, y)
    assert [record.n_skipped_batches for record in clf.history_] == [0, 8, 8]
