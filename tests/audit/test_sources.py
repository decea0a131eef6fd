"""Tables become numbers, and fits report how far they are."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from skpresto import CrossPrestoppingClassifier, PrestoppingClassifier
from skpresto.audit._sources import read_table
from skpresto.audit._sources.frames import label_strings
from skpresto.audit._sources.images import open_image
from skpresto.audit._sources.patches import patch_features
from skpresto.audit._sources.vectorize import vectorize
from skpresto.cli._progress import fit_progress
from skpresto.cli._terminal import Terminal


@pytest.fixture
def mixed():
    rng = np.random.RandomState(0)
    n = 300
    return pd.DataFrame(
        {
            "number": rng.normal(5, 100, n),
            "holes": np.where(rng.uniform(size=n) < 0.2, np.nan, rng.normal(size=n)),
            "category": rng.choice(["a", "b", "c", None], n),
            "date": pd.Timestamp("2024-01-01")
            + pd.to_timedelta(np.arange(n), unit="D"),
            "text": [f"item {i} of {i % 9}" for i in range(n)],
            "infinite": np.where(np.arange(n) == 3, np.inf, 1.0),
        }
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", [None, "text"])
def test_mixed_columns_become_finite_numbers(mixed, text):
    features = vectorize(mixed, text, seed=0)
    assert features.dtype == np.float32
    assert len(features) == len(mixed)
    assert np.isfinite(features).all()
    np.testing.assert_array_equal(features, vectorize(mixed, text, seed=0))


@pytest.mark.filterwarnings("ignore")
def test_a_free_text_counts_as_much_as_a_number(mixed):
    number = vectorize(mixed[["number"]], None, seed=0)
    text = vectorize(mixed[["text"]], None, seed=0)
    assert number.var(axis=0).sum() == pytest.approx(1, rel=0.01)
    assert text.var(axis=0).sum() == pytest.approx(1, rel=0.1)


@pytest.mark.filterwarnings("ignore")
def test_a_named_text_counts_as_much_as_all_others(mixed):
    others = vectorize(mixed[["number", "holes"]], None, seed=0)
    both = vectorize(mixed[["number", "holes", "text"]], "text", seed=0)
    text = both[:, others.shape[1] :]
    assert text.var(axis=0).sum() == pytest.approx(2, rel=0.01)


def test_a_large_file_says_what_it_needs(tmp_path, monkeypatch):
    monkeypatch.setattr("skpresto.audit._sources.frames._LARGE_FILE", 100)
    path = tmp_path / "t.csv"
    frame = pd.DataFrame({"a": np.arange(5000) / 7, "label": ["x", "y"] * 2500})
    frame.to_csv(path, index=False)
    said = []
    read_table(path, "label", say=said.append)
    n_rows = int(said[0].split("about ")[1].split()[0].replace(",", ""))
    assert 4000 < n_rows < 6000
    assert "GB of memory" in said[0]


def test_labels_of_any_type_become_text():
    values = ["a", "", None, 1, True, float("nan"), 2.5]
    assert label_strings(values) == ["a", None, None, "1", "True", None, "2.5"]


def test_features_of_images_separate_what_differs():
    rng = np.random.RandomState(0)
    pixels = rng.randint(60, size=(40, 32, 32, 3)).astype(np.uint8)
    pixels[:20, ::2] += 150  # stripes
    features = patch_features(pixels, seed=0)
    assert features.shape[0] == 40
    first = features[:, 0]
    assert max(first[:20]) < min(first[20:]) or min(first[:20]) > max(first[20:])
    np.testing.assert_array_equal(features, patch_features(pixels, seed=0))


@pytest.mark.parametrize(
    ("is_quick", "stages"),
    [
        (True, ["phase 1"] * 10 + ["phase 2"] * 7),
        (
            False,
            ["cross-fit phase 1"] * 3 + ["cross-fit phase 2"] * 7 + ["final"] * 10,
        ),
        (
            False,
            ["cross-fit phase 1"] * 5
            + ["fallback phase 1"] * 10
            + ["fallback phase 2"] * 5,
        ),
    ],
)
def test_progress_only_goes_forward(is_quick, stages):
    terminal = Terminal()
    shown = terminal.progress_bar()
    terminal.progress_bar = lambda: shown
    made = PrestoppingClassifier if is_quick else CrossPrestoppingClassifier
    estimator = made(max_epochs=10)
    fractions = []
    with fit_progress(terminal, estimator):
        ((_, callback),) = estimator.callbacks
        for stage in stages:
            n_networks = {"cross": 5, "final": 2, "fallb": 3}.get(stage[:5], 1)
            net = SimpleNamespace(stage_=stage, networks=range(n_networks))
            callback.on_epoch_end(net)
            fractions.append(shown.tasks[0].percentage / 100)
            assert shown.tasks[0].description == f"Training: {stage}"
    after_fallback = (
        stages.index("fallback phase 1") if "fallback phase 1" in stages else 0
    )
    rest = fractions[after_fallback:]
    assert rest == sorted(rest)
    assert 0 < fractions[0] < 0.2
    assert 0.9 < fractions[-1] <= 1


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "CMYK", "I;16", "F"])
def test_images_of_any_mode_have_three_channels(mode, tmp_path):
    levels = np.linspace(0, 255, 64).reshape(8, 8)
    if mode == "I;16":
        image = Image.fromarray((levels * 200).astype(np.uint16))
    elif mode == "F":
        image = Image.fromarray(levels.astype(np.float32) * 3)
    else:
        image = Image.fromarray(levels.astype(np.uint8)).convert(mode)
    path = tmp_path / "image.tif"
    image.save(path)
    pixels = np.asarray(open_image(path))
    assert pixels.shape == (8, 8, 3)
    assert pixels.max() > 200 > 100 > pixels.min()


def test_photo_is_shown_upright(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by 90 degrees
    Image.new("RGB", (40, 20)).save(tmp_path / "photo.jpg", exif=exif)
    assert open_image(tmp_path / "photo.jpg").size == (20, 40)


def test_huge_image_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("skpresto.audit._sources.images.MAX_PIXELS", 100)
    Image.new("RGB", (11, 10)).save(tmp_path / "huge.png")
    with pytest.raises(Image.DecompressionBombError, match="110 pixels, more than"):
        open_image(tmp_path / "huge.png")
