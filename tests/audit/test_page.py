"""What the page is made of, without a browser."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from skpresto.audit import LabelReport
from skpresto.audit._page import About, render_page, write_page
from skpresto.audit._page.payload import N_CONTROLS, select_samples
from skpresto.audit._page.sparkline import encode_lines, line_points
from skpresto.audit._page.telling import TellingFeatures
from skpresto.audit._page.thumbnails import array_image, data_address, thumbnails
from skpresto.audit._page.views import FeatureView, ImageView, TextView, view_of


@pytest.fixture
def report(probabilities):
    probability, y = probabilities
    return LabelReport.from_probabilities(probability, y)


def data_of(page):
    text = re.search(r'id="data">(.*?)</script>', page, re.DOTALL).group(1)
    return json.loads(text)


def test_page_lists_suspects_by_rank(report):
    data = data_of(render_page(report))
    rows = [data["items"]["row"][item] for item in data["suspects"]]
    assert rows == report.suspects().index.tolist()


def test_top_limits_the_list_and_the_page_says_so(report):
    page = render_page(report, top=2)
    data = data_of(page)
    assert len(data["suspects"]) == 2
    assert data["nSuspects"] == len(report.suspects())
    assert "The 2 most suspect are listed below" in page


def test_page_without_suspects_says_so():
    probability = np.tile([[0.99, 0.01], [0.01, 0.99]], (50, 1))
    report = LabelReport.from_probabilities(probability, np.tile([0, 1], 50))
    page = render_page(report)
    assert "No label is a suspect" in page
    assert data_of(page)["suspects"] == []


def test_control_sample_is_drawn_from_suspects_and_those_that_come_next():
    rng = np.random.RandomState(0)
    y = rng.randint(2, size=2000)
    probability = (
        0.05 + 0.9 * np.eye(2)[np.where(rng.uniform(size=2000) < 0.3, 1 - y, y)]
    )
    report = LabelReport.from_probabilities(probability, y)
    controls = select_samples(report, 10_000).controls
    assert len(set(controls.tolist())) == len(controls) == N_CONTROLS
    rank = np.argsort(report.order)[controls]
    n_suspects = report.is_suspect.sum()
    for n in (10, 50, 200):  # however many are decided
        assert np.mean(rank[:n] < n_suspects) == pytest.approx(0.7)
    assert (rank < 3 * n_suspects).all()
    assert len(set(rank[:10] // 100)) > 3


def test_nothing_that_a_user_typed_is_markup():
    evil = '</script><script>alert("x")</script><!-- {{ 7 * 7 }} \u2028'
    probability = np.tile([[0.9, 0.1], [0.1, 0.9], [0.9, 0.1]], (20, 1))
    labels = np.tile([evil, "b", "b"], 20)
    report = LabelReport.from_probabilities(probability, labels, [evil, "b"])
    about = About(
        title=evil,
        label_name=evil,
        names=[evil] * 60,
        settings=[(evil, evil)],
        left_out=[(evil, evil)],
        notes=[evil],
    )
    frame = pd.DataFrame(
        {evil: np.arange(60.0), "t": [f"{evil}{i}" for i in range(60)]}
    )
    page = render_page(report, about=about, shown=frame)
    assert page.count("<script") == 2
    assert page.count("</script") == 2
    assert "<!-- {{" not in page
    assert "{{ 7 * 7 }}" in page
    assert data_of(page)["classes"] == ["b", evil] or evil in data_of(page)["classes"]


def test_page_allows_itself_and_nothing_else(report):
    page = render_page(report)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page).group(1)
    assert "default-src &#39;none&#39;" in policy
    assert policy.count("sha256-") == 2
    assert " style=" not in page
    assert " onclick=" not in page


def test_page_is_written_whole(report, tmp_path):
    path = report.to_html(tmp_path / "page.html")
    assert path.read_text(encoding="utf-8").endswith("</html>")
    with pytest.raises(FileExistsError, match="exists already"):
        write_page(report, path, overwrite=False)
    assert [p.name for p in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.parametrize(
    "shown",
    [
        ["a text"] * 500,
        np.zeros((119, 3)),
        np.zeros((121, 3, 8, 8)),
        pd.DataFrame({"a": range(7)}),
    ],
    ids=lambda shown: type(shown).__name__,
)
def test_samples_that_are_shown_must_be_those_of_the_labels(report, shown, tmp_path):
    with pytest.raises(ValueError, match=f"but shown has {len(shown)} samples and y "):
        report.to_html(tmp_path / "page.html", shown=shown)
    assert not list(tmp_path.iterdir())


def test_report_in_memory_has_a_fingerprint_of_its_labels(probabilities):
    probability, y = probabilities
    changed = y.copy()
    changed[[0, 1]] = [0, 1] if y[0] else [1, 0]
    pages = [
        data_of(render_page(LabelReport.from_probabilities(probability, labels)))
        for labels in (y, y.copy(), changed)
    ]
    fingerprints = [page["fingerprint"] for page in pages]
    assert fingerprints[0] == fingerprints[1] != fingerprints[2]


def telling_by_loop(frame, report, position):
    """Return the name of the most telling number, by plain loops."""
    given = report.frame["given"].tolist()
    best, score = None, 0.0
    for name in frame.columns:
        values = [
            frame[name][i]
            for i in range(len(frame))
            if given[i] == given[position] and not report.is_suspect[i]
        ]
        median = np.median(values)
        spread = 1.4826 * np.median(np.abs(np.array(values) - median))
        this = min(abs(frame[name][position] - median) / spread, 10)
        if this > score:
            best, score = name, this
    return best


def test_telling_features_are_those_of_a_plain_loop(report):
    rng = np.random.RandomState(0)
    frame = pd.DataFrame(rng.normal(size=(120, 6)), columns=list("abcdef"))
    positions = np.arange(120)
    found = TellingFeatures(frame, report).of(positions)
    assert [f[0][0] for f in found] == [
        telling_by_loop(frame, report, position) for position in positions
    ]


def test_rare_categories_dates_and_missing_values_are_described(report):
    given = report.frame["given"].to_numpy()
    frame = pd.DataFrame(
        {
            "constant": 1.0,
            "color": np.where(given == 0, "red", "blue"),
            "day": pd.Timestamp("2024-03-01") + pd.to_timedelta(given * 30, unit="D"),
            "hole": np.where(np.arange(120) == 5, np.nan, given),
            "flag": given == 0,
        }
    )
    frame.loc[5, "color"] = None
    frame.loc[5, "day"] = pd.Timestamp("1999-01-01")
    shown = {f[0]: f[1:] for f in TellingFeatures(frame, report).of(np.array([5]))[0]}
    assert shown["color"][0] == "missing"
    assert shown["day"][0] == "1999-01-01"
    assert "constant" not in shown


@pytest.mark.parametrize("unit", ["s", "ms", "us"])
@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_dates_before_1677_and_after_2262_are_described(report, unit, zone):
    given = report.frame["given"].to_numpy()
    days = np.full(
        120, np.datetime64("1650-06-02T12:00", unit)
    ) + given * np.timedelta64(1, "D")
    days[5], days[6] = np.datetime64("9999-12-30T12:00", unit), np.datetime64("NaT")
    column = pd.Series(days)
    if zone is not None:
        column = column.dt.tz_localize("UTC").dt.tz_convert(zone)
    frame = pd.DataFrame({"day": column})
    shown = TellingFeatures(frame, report).of(np.array([5, 6]))
    assert shown[0][0][:2] == ("day", "9999-12-30")
    assert shown[0][0][2].startswith("1650-06-")
    assert shown[1] == []


@pytest.mark.parametrize(
    ("samples", "kind"),
    [
        (None, type(None)),
        (["a text", "another"], TextView),
        (pd.Series(["a", "b"]), TextView),
        (np.array(["a", "b"]), TextView),
        (np.zeros((2, 3)), FeatureView),
        (pd.DataFrame({"a": [1, 2]}), FeatureView),
        (np.zeros((2, 3, 8, 8)), ImageView),
        (np.zeros((2, 8, 8, 3), dtype=np.uint8), ImageView),
        (np.zeros((2, 3, 4)), type(None)),
    ],
)
def test_samples_are_shown_by_what_they_are(samples, kind):
    assert isinstance(view_of(samples), kind)


@pytest.mark.parametrize(
    "shape", [(1, 9, 7), (3, 9, 7), (9, 7, 1), (9, 7, 3), (9, 7, 4)]
)
def test_arrays_become_images_of_their_size(shape):
    assert array_image(np.random.RandomState(0).uniform(size=shape), 0, 1).size == (
        7,
        9,
    )


def test_a_thousand_large_photos_fit_into_a_page():
    rng = np.random.RandomState(0)
    small = rng.randint(256, size=(30, 40, 3)).astype(np.uint8)
    photo = Image.fromarray(small).resize((800, 600))
    addresses = thumbnails(lambda position: photo, np.arange(1000))
    assert sum(map(len, addresses)) < 5_000_000
    assert data_address(Image.new("RGBA", (8, 8)), 96).startswith("data:image/png")


def test_lines_are_averaged_to_few_points():
    rising = np.linspace(0, 1, 300)[None, :]
    (line,) = encode_lines(rising)
    assert len(line) == 30
    assert list(line) == sorted(line)
    assert line_points("0.z").count(",") == 2


def test_trajectories_are_drawn(report):
    report.trajectories = np.random.RandomState(0).uniform(size=(120, 12))
    page = render_page(report)
    assert 'class="spark' in page
    assert len(data_of(page)["items"]["line"][0]) == 12


def test_long_texts_are_shortened(report):
    data = data_of(render_page(report, shown=["x" * 5000] * 120))
    assert max(map(len, data["items"]["text"])) == 1200
