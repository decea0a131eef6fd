import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from skpresto._methods._small_loss import forget_rate, is_small_loss, n_kept


@pytest.mark.parametrize(
    ("epoch", "exponent", "expected"),
    [
        (0, 1, 0.04),
        (4, 1, 0.2),
        (9, 1, 0.4),
        (50, 1, 0.4),
        (0, 2, 0.04),
        (1, 2, 0.16),
        (3, 2, 0.4),
        (3, 0.5, 0.08),
    ],
)
def test_forget_rate_by_hand(epoch, exponent, expected):
    assert forget_rate(epoch, 0.4, 10, exponent) == pytest.approx(expected)


@given(rate=st.floats(0, 0.99), ramp=st.integers(1, 30), exponent=st.floats(0.5, 3))
def test_forget_rate_rises_to_the_noise_rate_and_stays(rate, ramp, exponent):
    rates = [forget_rate(epoch, rate, ramp, exponent) for epoch in range(1000)]
    assert rates == sorted(rates)
    assert rates[-1] == rate


@pytest.mark.parametrize(
    ("n_samples", "rate", "expected"),
    [(128, 0.4, 76), (128, 0.0, 128), (10, 0.9, 1), (10, 0.3, 7), (1, 0.99, 1)],
)
def test_number_kept_by_hand(n_samples, rate, expected):
    assert n_kept(n_samples, rate) == expected


@given(
    losses=st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=1, max_size=12),
    n_smallest=st.integers(1, 12),
)
def test_small_losses_equal_a_naive_choice(losses, n_smallest):
    by_loss = sorted(range(len(losses)), key=lambda i: (losses[i], i))[:n_smallest]
    expected = [i in by_loss for i in range(len(losses))]
    assert is_small_loss(torch.tensor([losses]), n_smallest)[0].tolist() == expected
    on_device = is_small_loss(torch.tensor([losses]), torch.tensor(n_smallest))
    assert on_device[0].tolist() == expected
