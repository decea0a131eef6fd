"""Second views: flips and crops by loops, and functions of the user."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from skpresto._data.augment import Augment, augment_of, flips_and_crops


def naive_flip_and_crop(image, is_mirrored, from_y, from_x, by_y, by_x):
    """Return an image mirrored or not, and cut from its frame of zeros, by loops."""
    channels, height, width = image.shape
    result = np.zeros_like(image)
    for c in range(channels):
        for y in range(height):
            for x in range(width):
                column = (width - 1 - x if is_mirrored else x) + from_x - by_x
                row = y + from_y - by_y
                if 0 <= row < height and 0 <= column < width:
                    result[c, y, x] = image[c, row, column]
    return result


@given(
    shape=st.tuples(*(st.integers(*bounds) for bounds in ((0, 4), (1, 3), (1, 17)))),
    width=st.integers(1, 17),
    seed=st.integers(0, 99),
)
def test_flips_and_crops_equal_their_naive_twin(shape, width, seed):
    n, _, height = shape
    X = torch.rand(*shape, width) + 1
    before = X.clone()
    torch.manual_seed(seed)
    found = flips_and_crops(X).numpy()
    torch.manual_seed(seed)
    is_mirrored = torch.rand(n, 1) < 0.5
    starts = [torch.randint(2 * (side // 8) + 1, (n, 1)) for side in (height, width)]
    for i in range(n):
        drawn = is_mirrored[i].item(), *(start[i].item() for start in starts)
        expected = naive_flip_and_crop(X[i].numpy(), *drawn, height // 8, width // 8)
        np.testing.assert_array_equal(found[i], expected)
    assert torch.equal(X, before)


def test_images_are_drawn_one_by_one():
    X = torch.arange(32.0).expand(200, 1, 32, 32) + 1
    first_rows = {tuple(image[0, 16].tolist()) for image in flips_and_crops(X)}
    assert len(first_rows) == 2 * 9  # mirrored or not, and moved by -4 to 4


@pytest.mark.parametrize(
    ("augment", "shape", "has_views"),
    [
        ("auto", (3, 32, 32), True),
        ("auto", (7,), False),
        ("auto", ((2,), (3,), (4,)), False),  # three inputs, and no image
        ("auto", {"image": (3, 32, 32)}, False),
        ("auto", None, False),
        (None, (3, 32, 32), False),
        (torch.flip, (7,), True),
    ],
)
def test_only_images_have_views_of_their_own_accord(augment, shape, has_views):
    assert (augment_of(augment, shape) is not None) is has_views


def test_a_function_of_the_user_may_work_in_place():
    X = {"left": torch.zeros(2, 3), "right": torch.zeros(2, 1)}
    views = Augment(lambda parts: {k: part.add_(1) for k, part in parts.items()})(X)
    assert views["left"].sum() == 6
    assert not X["left"].any()


@pytest.mark.parametrize(
    ("change", "got"),
    [
        (lambda X: X[:1], r"\(1, 3\)"),
        (lambda X: X.numpy().tolist(), "a list"),
        (lambda X: None, "a NoneType"),
        (lambda X: (X, X), r"\(\(2, 3\), \(2, 3\)\)"),
    ],
)
def test_other_shapes_are_refused(change, got):
    with pytest.raises(ValueError, match=rf"here \(2, 3\), got {got}. Return another"):
        Augment(change)(torch.zeros(2, 3))
