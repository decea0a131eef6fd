import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score


def naive_precision(quality, is_wrong, n, rng):
    """Return the mean precision of the first n over many orders of equal values."""
    found = []
    for _ in range(4000):
        order = np.lexsort((rng.random(len(quality)), quality))
        found.append(is_wrong[order[:n]].mean())
    return np.mean(found)


def test_a_perfect_and_a_constant_score(accuracy):
    is_wrong = np.array([True, False, False, True, False])
    given = np.array([0, 0, 1, 1, 1])
    perfect = accuracy.ranking.ranking(~is_wrong, given, is_wrong)
    assert perfect == {
        "auroc": 1.0,
        "average_precision": 1.0,
        "precision_at_k": 1.0,
        "precision_first_100": 0.4,  # of all five
        "worst_class_average_precision": 1.0,
    }
    constant = accuracy.ranking.ranking(np.full(5, 0.7), given, is_wrong)
    assert constant["auroc"] == 0.5
    assert constant["average_precision"] == constant["precision_at_k"] == 0.4
    assert constant["worst_class_average_precision"] == pytest.approx(1 / 3)


@pytest.mark.parametrize("seed", range(3))
def test_metrics_equal_those_of_single_loops(accuracy, seed):
    rng = np.random.default_rng(seed)
    given = rng.integers(4, size=300)
    is_wrong = (rng.random(300) < 0.3) & (given != 3)  # one class without wrong labels
    quality = np.round(rng.random(300) - 0.3 * is_wrong, 1)  # many equal values
    found = accuracy.ranking.ranking(quality, given, is_wrong)
    assert found["auroc"] == pytest.approx(roc_auc_score(is_wrong, -quality))
    worst = 1.0
    for label in range(3):
        rows = given == label
        worst = min(worst, average_precision_score(is_wrong[rows], -quality[rows]))
    assert found["worst_class_average_precision"] == pytest.approx(worst)
    n_wrong = int(is_wrong.sum())
    at_k = naive_precision(quality, is_wrong, n_wrong, rng)
    assert found["precision_at_k"] == pytest.approx(at_k, abs=0.01)
    first = naive_precision(quality, is_wrong, 100, rng)
    assert found["precision_first_100"] == pytest.approx(first, abs=0.01)


def test_there_is_nothing_to_find(accuracy):
    labels = np.array([0, 1, 0, 1])
    nothing = dict.fromkeys(accuracy.ranking.METRICS)
    ranking_or_none = accuracy.ranking.ranking_or_none
    assert ranking_or_none(None, labels, 1 - labels) == nothing
    assert ranking_or_none(labels, labels, None) == nothing
    assert ranking_or_none(labels, labels, labels) == nothing
    assert ranking_or_none(labels, labels, 1 - labels) == nothing
    # Every class is either correct or wrong as a whole.
    found = ranking_or_none(labels, labels, np.array([0, 0, 0, 0]))
    assert found["worst_class_average_precision"] is None
    assert found["auroc"] == 0.0
