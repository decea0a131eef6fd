"""Robust losses: formulas by hand, loop-written twins, and what torch expects."""

import copy
import math
import pickle

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from skpresto import DefaultClassifier, PrestoppingClassifier, SelfieClassifier
from skpresto.losses import (
    BackwardCorrectionLoss,
    BootstrapLoss,
    ForwardCorrectionLoss,
    GCELoss,
    GJSLoss,
    SCELoss,
)
from tests.discovery import METHODS, on_paths, quick, short_fits_warn

PAIR = [[0.6, 0.4, 0.0], [0.0, 0.6, 0.4], [0.4, 0.0, 0.6]]
SOME = [
    BootstrapLoss(),
    BootstrapLoss("hard"),
    GCELoss(),
    GJSLoss(),
    SCELoss(),
    ForwardCorrectionLoss(PAIR),
    BackwardCorrectionLoss(PAIR),
]
every = pytest.mark.parametrize("loss", SOME, ids=repr)

# p = (0.5, 0.25, 0.25)
HALF = torch.tensor([[math.log(2), 0.0, 0.0]], dtype=torch.float64)
LN2 = math.log(2)


@pytest.mark.parametrize(
    ("loss", "label", "expected"),
    [
        # the entropy of p is 1.5 ln 2
        (BootstrapLoss(beta=1.0), 1, 2 * LN2),
        (BootstrapLoss(beta=0.0), 1, 1.5 * LN2),
        (BootstrapLoss(), 1, (0.95 * 2 + 0.05 * 1.5) * LN2),
        (BootstrapLoss("hard"), 1, (0.8 * 2 + 0.2 * 1) * LN2),
        (BootstrapLoss("hard", beta=0.5), 0, LN2),
        (GCELoss(q=1.0), 1, 0.75),
        (GCELoss(q=0.5), 1, 1.0),
        (GCELoss(q=0.5), 0, 2 * (1 - math.sqrt(0.5))),
        # The mean of label and p is (0.25, 0.625, 0.125), and p has 1.5 bits.
        (GJSLoss(), 1, (0.5 + 0.375 - 0.625 * math.log2(0.625) - 0.75) * 2),
        (GJSLoss(label_weight=1e-9), 1, 2 * LN2),
        (SCELoss(alpha=1, beta=0), 1, 2 * LN2),
        (SCELoss(alpha=0, beta=1), 1, 0.75 * 4 * math.log(10)),
        (SCELoss(), 0, 0.1 * LN2 + 0.5 * 4 * math.log(10)),
        # the label 1 is given with probability 0.4 * 0.5 + 0.6 * 0.25
        (ForwardCorrectionLoss(PAIR), 1, -math.log(0.35)),
        (ForwardCorrectionLoss(np.eye(3)), 1, 2 * LN2),
        (BackwardCorrectionLoss(np.eye(3)), 1, 2 * LN2),
        # the inverse of the last two classes is [[2.5, -1.5], [-1, 2]]
        (
            BackwardCorrectionLoss([[1, 0, 0], [0, 4 / 7, 3 / 7], [0, 2 / 7, 5 / 7]]),
            1,
            (2.5 - 1.5) * 2 * LN2,
        ),
    ],
    ids=repr,
)
def test_formulas_by_hand(loss, label, expected):
    assert loss(HALF, torch.tensor([label])).item() == pytest.approx(expected, rel=1e-6)


def naive(loss, p, t):
    """Return the loss of one sample from its probabilities and target, by loops."""
    classes = range(len(p))
    if isinstance(loss, BootstrapLoss):
        top = max(classes, key=lambda k: p[k])
        own = p if loss.mode == "soft" else [float(k == top) for k in classes]
        mixed = [loss.beta * t[k] + (1 - loss.beta) * own[k] for k in classes]
        return -sum(mixed[k] * math.log(p[k]) for k in classes)
    if isinstance(loss, GCELoss):
        return sum(t[k] * (1 - p[k] ** loss.q) / loss.q for k in classes)
    if isinstance(loss, SCELoss):
        forward = -sum(t[k] * math.log(p[k]) for k in classes)
        reverse = -sum(p[k] * math.log(max(t[k], 1e-4)) for k in classes)
        return loss.alpha * forward + loss.beta * reverse
    if isinstance(loss, GJSLoss):
        return naive_jensen_shannon(loss.label_weight, t, [p])
    T = np.array(PAIR)
    if isinstance(loss, ForwardCorrectionLoss):
        given_label = [sum(p[i] * T[i, j] for i in classes) for j in classes]
        return -sum(t[j] * math.log(given_label[j]) for j in classes)
    inverse = np.linalg.inv(T)
    return -sum(t[j] * inverse[j, k] * math.log(p[k]) for j in classes for k in classes)


def naive_jensen_shannon(weight, t, views):
    """Return the weighted divergences from the mean of label and views, scaled."""
    weights = [weight] + [(1 - weight) / len(views)] * len(views)
    weighted = list(zip(weights, [t, *views], strict=True))
    mean = [sum(w * d[k] for w, d in weighted) for k in range(len(t))]
    total = 0.0
    for w, d in weighted:
        total += w * sum(x * math.log(x / m) for x, m in zip(d, mean, strict=True) if x)
    return -total / ((1 - weight) * math.log(1 - weight))


@st.composite
def samples(draw):
    n = draw(st.integers(1, 4))
    numbers = st.floats(-5, 5)
    logits = draw(
        st.lists(st.lists(numbers, min_size=3, max_size=3), min_size=n, max_size=n)
    )
    weights = st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any)
    targets = torch.tensor(draw(st.lists(weights, min_size=n, max_size=n))).double()
    return torch.tensor(logits).double(), targets / targets.sum(dim=1, keepdim=True)


@given(first=samples(), second=samples(), weight=st.floats(0.01, 0.99))
def test_divergence_of_several_views_equals_its_naive_twin(first, second, weight):
    (one, targets), other = first, second[0]
    n = min(len(one), len(other))
    views = torch.stack([one[:n], other[:n], -one[:n]])
    found = GJSLoss(weight, reduction="none")(views, targets[:n])
    for i, loss in enumerate(found.tolist()):
        probabilities = views[:, i].softmax(dim=1).tolist()
        expected = naive_jensen_shannon(weight, targets[i].tolist(), probabilities)
        assert loss == pytest.approx(expected, rel=1e-6, abs=1e-9)


@given(drawn=samples(), loss=st.sampled_from(SOME))
def test_losses_equal_their_naive_twins(drawn, loss):
    logits, soft = drawn
    hard = soft.argmax(dim=1)
    loss = copy.deepcopy(loss)
    loss.reduction = "none"
    for targets, rows in ((soft, soft), (hard, torch.eye(3).double()[hard])):
        pairs = zip(logits.softmax(dim=1).tolist(), rows.tolist(), strict=True)
        expected = [naive(loss, p, t) for p, t in pairs]
        assert loss(logits, targets).tolist() == pytest.approx(
            expected, abs=1e-6, rel=1e-5
        )


@every
@pytest.mark.parametrize("is_soft", [False, True])
def test_gradients_are_those_of_the_formula(loss, is_soft):
    torch.manual_seed(0)
    logits = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    targets = torch.rand(4, 3).softmax(dim=1) if is_soft else torch.tensor([0, 1, 2, 1])
    assert torch.autograd.gradcheck(lambda z: loss(z, targets), logits)


@every
@pytest.mark.parametrize("size", [1e4, 1e20, 3e38])
@pytest.mark.parametrize("is_soft", [False, True])
def test_huge_logits_give_finite_losses_and_gradients(loss, size, is_soft):
    logits = torch.tensor([[size, -size, 0.0], [0.0, size, -size]], requires_grad=True)
    for label in range(3):
        targets = torch.full((2,), label)
        if is_soft:
            targets = 0.9 * nn.functional.one_hot(targets, 3) + 0.1 / 3
        value = loss(logits, targets)
        (gradient,) = torch.autograd.grad(value, logits)
        assert torch.isfinite(value)
        assert torch.isfinite(gradient).all()


@every
def test_classes_masked_by_infinite_logits_count_as_impossible(loss):
    logits = torch.tensor([[0.5, -torch.inf, 1.0]], requires_grad=True)
    value = loss(logits, torch.tensor([2]))
    (gradient,) = torch.autograd.grad(value, logits)
    assert torch.isfinite(gradient).all()


@every
def test_reductions(loss):
    torch.manual_seed(0)
    logits, labels = torch.randn(5, 3), torch.tensor([0, 1, 2, 1, 0])
    values = {}
    for reduction in ("none", "mean", "sum"):
        own = copy.deepcopy(loss)
        own.reduction = reduction
        values[reduction] = own(logits, labels)
    assert values["none"].shape == (5,)
    torch.testing.assert_close(values["none"].sum(), values["sum"])
    torch.testing.assert_close(values["none"].mean(), values["mean"])
    torch.testing.assert_close(loss(logits, labels.int()), values["mean"])


@every
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_reduced_precision_does_not_reach_the_loss(loss, dtype):
    torch.manual_seed(0)
    logits, labels = torch.randn(5, 3).to(dtype), torch.tensor([0, 1, 2, 1, 0])
    expected = loss(logits.float(), labels)
    for targets in (labels, nn.functional.one_hot(labels, 3).to(dtype)):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            value = loss(logits, targets)
        assert value.dtype is torch.float32
        torch.testing.assert_close(value, expected)


@every
def test_compiled_pickled_and_moved_losses_are_the_same(loss):
    torch.manual_seed(0)
    logits, labels = torch.randn(5, 3), torch.tensor([0, 1, 2, 1, 0])
    expected = loss(logits, labels)
    compiled = torch.compile(loss, backend="eager", fullgraph=True)
    assert torch.equal(compiled(logits, labels), expected)
    stored = pickle.loads(pickle.dumps(loss))
    assert torch.equal(stored(logits, labels), expected)
    assert repr(stored) == repr(loss)
    assert copy.deepcopy(loss).double()(logits, labels).dtype is torch.float32


def test_backward_correction_is_unbiased():
    """The mean over noisy labels is cross-entropy with the true one."""
    torch.manual_seed(0)
    logits = torch.randn(1, 3, dtype=torch.float64)
    loss, T = BackwardCorrectionLoss(PAIR), np.array(PAIR)
    for true in range(3):
        mean = sum(
            T[true, j] * loss(logits, torch.tensor([j])).item() for j in range(3)
        )
        expected = nn.functional.cross_entropy(logits, torch.tensor([true])).item()
        assert mean == pytest.approx(expected, rel=1e-5)


@on_paths("one stage", "new start", "two networks", "folds", among=METHODS)
@pytest.mark.parametrize("loss", [BootstrapLoss, GCELoss, GJSLoss, SCELoss])
@short_fits_warn
def test_every_classifier_can_be_trained_with_them(Classifier, loss, noisy_blobs):
    X, y, y_true = noisy_blobs
    clf = quick(Classifier, criterion=loss).fit(X, y)
    assert clf.score(X, y_true) > 0.6
    assert clf.net_.criterion_.reduction == "none"


@pytest.mark.filterwarnings("ignore::skpresto.exceptions.SafeSetWarning")
def test_their_parameters_are_those_of_the_criterion(noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(DefaultClassifier, criterion=GCELoss, criterion__q=0.3).fit(X, y)
    given_instance = quick(DefaultClassifier, criterion=GCELoss(q=0.3)).fit(X, y)
    assert clf.net_.criterion_.q == 0.3
    np.testing.assert_array_equal(clf.predict_proba(X), given_instance.predict_proba(X))
    with pytest.raises(ValueError, match="GCELoss needs q to be a number above 0"):
        clf.set_params(criterion__q=2).fit(X, y)
    with pytest.raises(
        ValueError, match="transition_matrix of 3 classes, but logits of 4"
    ):
        quick(DefaultClassifier, criterion=ForwardCorrectionLoss(PAIR)).fit(X, y)
    matrix = 0.7 * np.eye(4) + 0.3 * np.eye(4)[[1, 2, 3, 0]]
    corrected = quick(SelfieClassifier, criterion=ForwardCorrectionLoss)
    corrected.set_params(criterion__transition_matrix=matrix).fit(X, y)
    assert corrected.score(X, y) > 0.5


def test_a_known_matrix_repairs_pair_noise(noisy_blobs):
    X, y, y_true = noisy_blobs
    matrix = 0.7 * np.eye(4) + 0.3 * np.eye(4)[[1, 2, 3, 0]]
    params = {"max_epochs": 30, "batch_size": 32, "module__hidden": (64,)}
    plain = quick(DefaultClassifier, **params).fit(X, y)
    corrected = quick(
        DefaultClassifier, **params, criterion=ForwardCorrectionLoss(matrix)
    )
    assert corrected.fit(X, y).score(X, y_true) > plain.score(X, y_true)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_autocast_leaves_them_in_single_precision(noisy_blobs):
    X, y, _ = noisy_blobs
    clf = quick(PrestoppingClassifier, criterion=SCELoss, autocast="bfloat16")
    assert np.isfinite([record.train_loss for record in clf.fit(X, y).history_]).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: GCELoss(q=0),
            "GCELoss needs q to be a number above 0 and up to 1, got 0",
        ),
        (lambda: GCELoss(q=math.nan), "got nan"),
        (lambda: GCELoss(q="half"), "got 'half'"),
        (lambda: GCELoss(reduction="max"), r"needs reduction to be one of .*got 'max'"),
        (lambda: GCELoss(reduction=[]), r"needs reduction to be one of .*got \[\]"),
        (
            lambda: BootstrapLoss("firm"),
            "needs mode to be 'soft' or 'hard', got 'firm'",
        ),
        (
            lambda: BootstrapLoss(beta=1.5),
            "needs beta to be a number from 0 to 1, got 1",
        ),
        (
            lambda: GJSLoss(1),
            "GJSLoss needs label_weight to be a number between 0 and 1, got 1",
        ),
        (lambda: GJSLoss()(torch.zeros(2, 3, 4), torch.zeros(2).long()), r"\(3, 4\)"),
        (lambda: SCELoss(alpha=-1), "needs alpha to be a number from 0"),
        (lambda: SCELoss(beta=math.inf), "needs beta to be a number from 0"),
        (lambda: SCELoss(0, 0), "needs alpha to be above 0 if beta is 0, got 0"),
        (lambda: ForwardCorrectionLoss("T"), "square matrix of numbers.*got 'T'"),
        (lambda: ForwardCorrectionLoss(np.ones((2, 3))), r"array of shape \(2, 3\)"),
        (lambda: ForwardCorrectionLoss([[1.0]]), "at least two rows"),
        (lambda: ForwardCorrectionLoss(np.ones((2, 2))), "sum to 1, got rows with the"),
        (
            lambda: ForwardCorrectionLoss([[1.5, -0.5], [0, 1]]),
            "at least 0.*smallest entry -0.5",
        ),
        (
            lambda: ForwardCorrectionLoss([[math.nan, 1], [0, 1]]),
            "rows of transition_m",
        ),
        (
            lambda: ForwardCorrectionLoss([[1, 0], [1, 0]]),
            "column 1 of transition_matrix",
        ),
        (
            lambda: BackwardCorrectionLoss(torch.full((2, 2), 0.5)),
            "that can be inverted, got one with the condition number",
        ),
        (
            lambda: GCELoss()(torch.zeros(2, 3), torch.zeros(3).long()),
            r"GCELoss needs logits of shape .*shape \(3,\) and type torch.int64",
        ),
        (lambda: GCELoss()(torch.zeros(2, 3), torch.zeros(2)), "type torch.float32"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(make, message):
    with pytest.raises(ValueError, match=message):
        make()
