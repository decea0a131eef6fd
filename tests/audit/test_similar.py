"""The accepted labels that the page shows beside a suspect."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from skpresto.audit import LabelReport
from skpresto.audit._page import similar, views
from skpresto.audit._page.similar import most_similar


def report_of(X, n_wrong=12):
    """Return a report on labels of three classes, of which the first ones are wrong."""
    rng = np.random.RandomState(0)
    truth = rng.randint(3, size=90)
    scores = rng.normal(size=(90, 3)) + 4 * np.eye(3)[truth]
    pred_proba = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    y = truth.copy()
    y[:n_wrong] = (y[:n_wrong] + 1) % 3
    return LabelReport.from_probabilities(pred_proba, y, X=X)


def page_data(report, tmp_path, **options):
    report.to_html(tmp_path / "page.html", **options)
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    content = re.search(r'id="data">(.*?)</script>', html, re.DOTALL)[1]
    return json.loads(content), html


def naively_nearest(report, X, suspect, k):
    accepted = [i for i in range(len(X)) if not report.is_suspect[i]]
    members = [i for i in accepted if report.given[i] == k]
    distances = [((X[suspect] - X[i]) ** 2).sum() for i in members]
    return members[int(np.argmin(distances))]


@pytest.mark.parametrize("shape", [(90, 5), (90, 2, 3, 4)])
def test_the_nearest_accepted_labels_are_found(shape):
    X = np.random.RandomState(1).normal(size=shape)
    report = report_of(X)
    suspects = report.order[: int(report.is_suspect.sum())]
    found = most_similar(report, suspects)
    assert len(found) == len(suspects) > 8
    for suspect, pair in zip(suspects, found, strict=True):
        classes = report.given[suspect], report.suggested[suspect]
        assert pair.tolist() == [
            naively_nearest(report, X, suspect, k) for k in classes
        ]


def test_columns_of_a_table_count_alike_and_may_be_of_any_kind():
    rng = np.random.RandomState(1)
    near = rng.normal(size=90)
    table = pd.DataFrame({"near": near, "large": 1e6 + rng.normal(size=90)})
    table["color"] = rng.choice(["red", "blue"], 90)
    table.loc[80:, "large"] = np.nan
    report = report_of(table)
    suspects = report.order[:5]
    scaled = table.assign(large=table["large"].fillna(table["large"].mean()))
    scaled = pd.get_dummies(scaled, dtype=float)
    scaled = ((scaled - scaled.mean()) / scaled.std(ddof=0)).to_numpy()
    for suspect, pair in zip(suspects, most_similar(report, suspects), strict=True):
        given = scaled[naively_nearest(report, scaled, suspect, report.given[suspect])]
        best = np.square(given - scaled[suspect]).sum()
        assert np.square(scaled[pair[0]] - scaled[suspect]).sum() < 2 * best


def test_without_samples_the_most_probable_classes_are_compared():
    report = report_of(None)
    found = most_similar(report, report.order[:5])
    assert (report.given[found[:, 1]] == report.suggested[report.order[:5]]).all()
    assert not report.is_suspect[found].any()


def test_a_class_without_accepted_labels_has_none(tmp_path):
    y = np.array([0] * 20 + [1] * 20 + [2])
    pred_proba = np.full((41, 3), 0.05)
    pred_proba[np.arange(41), np.r_[y[:40], 0]] = 0.9
    report = LabelReport.from_probabilities(pred_proba, y, X=np.ones((41, 2)))
    assert report.order[0] == 40
    assert most_similar(report, report.order[:1])[0, 0] == -1
    (pair, *_) = page_data(report, tmp_path)[0]["similar"]
    assert pair[0] is None
    assert pair[1]["name"].startswith("row ")


def test_time_and_space_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(similar, "_MOST_SUSPECTS", 7)
    monkeypatch.setattr(similar, "_MOST_OF_CLASS", 4)
    report = report_of([f"a text about {'many ' * 100} things {i}" for i in range(90)])
    found = most_similar(report, report.order[:10])
    assert found.shape == (7, 2)
    assert all(len(np.unique(found[report.given[found] == k])) <= 4 for k in range(3))
    data, html = page_data(report, tmp_path)
    assert len(data["similar"]) == 7
    assert all(len(one["text"]) <= 120 for pair in data["similar"] for one in pair)
    assert "for the first 7 suspects" in html
    monkeypatch.setattr(views.TextView, "space_for_similar", 700)
    assert len(page_data(report, tmp_path)[0]["similar"]) == 2


def test_values_and_images_are_shown_in_brief(tmp_path):
    rng = np.random.RandomState(1)
    table = pd.DataFrame(rng.normal(size=(90, 6)).round(2), columns=list("abcdef"))
    data, _ = page_data(report_of(table), tmp_path)
    features, pair = data["items"]["features"][0], data["similar"][0]
    row = int(pair[1]["name"].removeprefix("row "))
    shown = dict(part.rsplit(" ", 1) for part in pair[1]["text"].split(", "))
    assert [*shown] == [name for name, *_ in features]
    assert all(float(v) == table[name][row] for name, v in shown.items())
    files = [tmp_path / f"{i}.png" for i in range(90)]
    for file in files:
        Image.fromarray(rng.randint(0, 255, (90, 90), dtype=np.uint8)).save(file)
    data, _ = page_data(report_of(None), tmp_path, shown=files)
    images = [one["image"] for pair in data["similar"] for one in pair]
    assert all(image.startswith("data:image/jpeg;base64,") for image in images)
    assert max(map(len, images)) < 8000
