"""Every classifier computes on a device what it computes on the CPU."""

from contextlib import nullcontext

import numpy as np
import pytest
import torch

from tests.device.pretend.device import without_float64
from tests.discovery import every, on_paths, quick, short_fits_warn

pytestmark = short_fits_warn


def compare(on_cpu, on_device, X, tolerance):
    """Raise if two fits differ by more than the arithmetic of devices."""
    arrays = [fit.predict_proba(X) for fit in (on_cpu, on_device)]
    np.testing.assert_allclose(*arrays, atol=tolerance)
    if tolerance > 1e-6:
        n_changed = np.sum(on_cpu.safe_mask_ != on_device.safe_mask_)
        assert n_changed <= len(on_cpu.safe_mask_) / 20
        return
    for name in ("safe_mask_", "suggested_labels_"):
        np.testing.assert_array_equal(getattr(on_cpu, name), getattr(on_device, name))
    for name in ("label_quality_", "label_agreement_", "noise_rate_"):
        of_both = getattr(on_cpu, name), getattr(on_device, name)
        np.testing.assert_allclose(*of_both, atol=1e-6)


@pytest.fixture(scope="session")
def fit_on(points):
    X, y = points

    def fit(Classifier, device):
        # Dropout would draw from the random numbers of the device.
        return quick(
            Classifier,
            q=4,
            max_epochs=6,
            batch_size=32,
            device=device,
            module__dropout=0,
        ).fit(X, y)

    return fit


@every
def test_results_are_those_of_the_cpu(
    Classifier, fit_on, device, is_pretended, points, tolerance
):
    # The pretend device has no float64 here, as Apple's chips.
    with without_float64() if is_pretended else nullcontext():
        on_device = fit_on(Classifier, device)
        assert next(on_device.net_.module_.parameters()).device.type == device
        compare(fit_on(Classifier, "cpu"), on_device, points[0], tolerance)


@on_paths()
def test_a_second_device_is_used_for_everything(
    Classifier, fit_on, second_device, points, tolerance
):
    on_first, on_second = (fit_on(Classifier, d) for d in ("cuda", second_device))
    tensors = on_second.net_.module_.state_dict().values()
    assert {str(tensor.device) for tensor in tensors} == {second_device}
    assert torch.cuda.current_device() == 0
    compare(on_first, on_second, points[0], tolerance)
