"""Columns that name the rows or give the labels away are not trained on."""

import hashlib
import uuid
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.version import Version
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from skpresto.audit._sources.columns import Wishes, choose_columns, notes_about
from skpresto.audit._sources.identifiers import (
    as_dates,
    expected_collisions,
    identifier_kind,
)
from skpresto.audit._sources.leaks import LeakCheck

N = 800


def hexadecimal(i):
    return hashlib.md5(str(i).encode()).hexdigest()


def identifiers():
    rng = np.random.RandomState(0)
    alphabet = list("abcdefghijklmnopqrstuvwxyz0123456789")
    start = pd.Timestamp("2024-05-01 08:00")
    return {
        "row numbers": np.arange(7, 7 + N),
        "step of 3": np.arange(N) * 3 + 17,
        "downwards": 10_000 - 7 * np.arange(N),
        "gaps": np.cumsum(rng.randint(1, 9, N)),
        "negative": np.arange(N) * 2 - N,
        "with holes": np.where(np.arange(N) % 50 == 3, np.nan, 5.0 * np.arange(N)),
        "random, 18 digits": rng.randint(2**60, size=N),
        "random, 9 digits": rng.randint(10**8, 10**9, size=N),
        "categories": pd.Categorical(np.arange(N) * 5),
        "infinite once": np.where(np.arange(N) == 7, np.inf, 3.0 * np.arange(N)),
        "durations": pd.to_timedelta(np.arange(N), "s"),
        "far dates": [f"{1000 + i}-02-01" for i in range(N)],
        "file names": [f"photos/img ({i}).JPG" for i in range(N)],
        "padded": [f"IMG_{i:05}" for i in range(N)],
        "numbered": [f"sample{i}" for i in range(N)],
        "two series": [f"{'train' if i % 2 else 'test'}_{i}" for i in range(N)],
        "drawn numbers": [f"usr-{i}" for i in 100_000 + rng.permutation(10**5)[:N]],
        "md5": [hexadecimal(i) for i in range(N)],
        "short hash": [hexadecimal(i)[:10] for i in range(N)],
        "uuid": [str(uuid.UUID(hexadecimal(i))) for i in range(N)],
        "random characters": ["".join(rng.choice(alphabet, 9)) for _ in range(N)],
        "every minute": start + pd.to_timedelta(np.arange(N), unit="min"),
        "dates as text": [str(start + pd.Timedelta(seconds=41 * i)) for i in range(N)],
        "Unix time": 1_700_000_000 + np.cumsum(rng.randint(1, 9000, N)),
        "Unix time with fractions": 1.7e9 + np.cumsum(rng.exponential(3000, N)),
    }


def measurements():
    rng = np.random.RandomState(1)
    weights = np.arange(1, 21) / 210
    year = pd.to_timedelta(rng.randint(3 * 10**7, size=N), unit="s")
    return {
        "normal": rng.normal(size=N),
        "uniform": rng.uniform(size=N),
        "cents": rng.lognormal(3, 1, N).round(2),
        "revenue": rng.lognormal(15, 1, N).astype(int),
        "sorted revenue": np.sort(rng.lognormal(18, 1, N).astype(int)),
        "age": rng.randint(100, size=N),
        "share": rng.randint(101, size=N) / 100,
        "flag": rng.uniform(size=N) < 0.5,
        "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(N) % 90, "D"),
        "time of purchase": pd.Timestamp("2023-01-01") + year,
        "text": [f"we saw {i} of them, {i % 97} were red" for i in rng.permutation(N)],
        "genes": ["".join(rng.choice(list("ACGT"), 40)) for _ in range(N)],
        "peptides": [
            "".join(rng.choice(list("ACDEFGHIKLMNPQRSTVWY"), 9, p=weights))
            for _ in range(N)
        ],
        "words": [
            "".join(rng.choice(list("etaoinshrdlu"), rng.randint(3, 9)))
            for _ in range(N)
        ],
        "weights": [f"{v:.3f}kg" for v in rng.lognormal(3, 1, N)],
        "amounts": [f"${v:,.0f}" for v in rng.lognormal(12, 1, N)],
        "formulas": [
            f"C{rng.randint(30)}H{rng.randint(60)}O{rng.randint(20)}" for _ in range(N)
        ],
        "category": [f"c{i % 7}" for i in range(N)],
        "addresses": [
            f"https://{''.join(rng.choice(list('etaoin'), 7))}.com/a" for _ in range(N)
        ],
    }


@pytest.mark.parametrize("name", identifiers())
def test_identifiers_are_recognized_in_any_order(name):
    if name == "far dates" and Version(pd.__version__).major < 3:
        pytest.skip("pandas 2 reads dates of the years 1677 to 2262 only")
    column = pd.Series(identifiers()[name])
    assert identifier_kind(column) is not None
    if not name.startswith(("Unix", "far")):
        shuffled = column.sample(frac=1, random_state=0).reset_index(drop=True)
        assert identifier_kind(shuffled) is not None


@pytest.mark.parametrize("name", measurements())
def test_measurements_and_texts_are_no_identifiers(name):
    column = pd.Series(measurements()[name])
    labels = np.where(np.arange(N) < N / 2, "a", "b")
    for order in (np.arange(N), np.random.RandomState(0).permutation(N)):
        shuffled = column.iloc[order].reset_index(drop=True)
        assert identifier_kind(shuffled) is None
        if name != "sorted revenue":  # in the order of the labels it gives them away
            assert LeakCheck(labels[order]).leak(shuffled) is None


def naive_collisions(numbers):
    """Expected equal pairs: n² / 2 over the grid points of each bin of the density."""
    ordered = sorted(set(numbers))
    gaps = [b - a for a, b in pairwise(ordered)]
    if not gaps:
        return 0.0
    step = np.gcd.reduce(gaps)
    n_bins = int(len(gaps) ** 0.5)
    edges = sorted({int(i * len(gaps) / n_bins) for i in range(n_bins + 1)})
    total = 0.0
    for a, b in pairwise(edges):
        n = (b - a) * len(ordered) / len(gaps)
        total += n**2 / (2 * sum(gaps[a:b]) / step)
    return total


@given(st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=60))
def test_collisions_are_those_of_a_loop(numbers):
    found = expected_collisions(np.array(numbers))
    assert found == pytest.approx(naive_collisions(numbers), rel=1e-6, abs=1e-5)


@settings(max_examples=30)
@given(
    st.integers(60, 400),
    st.integers(1, 10**9),
    st.integers(-(10**12), 10**12),
    st.randoms(use_true_random=False),
)
def test_whole_numbers_of_any_step_in_any_order_are_identifiers(n, step, start, rng):
    numbers = [start + step * i for i in range(n)]
    rng.shuffle(numbers)
    assert identifier_kind(pd.Series(numbers)) is not None


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from([50, 500, 3000]))
def test_independent_integers_are_no_identifiers(seed, n):
    rng = np.random.RandomState(seed)
    values = (rng.normal(size=n) * 10 ** rng.randint(1, 7)).astype(int)
    assert identifier_kind(pd.Series(values)) is None


@pytest.mark.parametrize(
    "load", [load_iris, load_wine, load_breast_cancer, load_digits]
)
@pytest.mark.parametrize("order", ["given", "sorted"])
def test_no_column_of_a_real_table_is_left_out(load, order):
    data = load(as_frame=True)
    labels = data.target.astype(str).to_numpy()
    frame = data.data
    if order == "sorted":
        rows = np.argsort(labels, kind="stable")
        frame, labels = frame.iloc[rows].reset_index(drop=True), labels[rows]
    unused = choose_columns(frame, labels, Wishes()).unused
    assert {column.reason for column in unused} <= {"one value in all rows"}


@pytest.fixture
def sorted_labels():
    return np.sort(np.random.RandomState(0).choice(list("abcde"), N))


def leaks(labels):
    rng = np.random.RandomState(3)
    codes = np.unique(labels, return_inverse=True)[1]
    noise = rng.uniform(size=N)
    return {
        "running float": np.arange(N) * 0.1 + 0.2 * noise,
        "batch": np.arange(N) // 20,
        "running text": [f"the {i}th text" for i in range(N)],
        "folders": [f"{label} {x:.9f}" for label, x in zip(labels, noise, strict=True)],
        "copy": np.array(["v", "w", "x", "y", "z"])[codes],
        "one of the classes": codes == 2,
        "with holes": np.where(noise < 0.05, np.nan, codes),
    }


@pytest.mark.parametrize("name", leaks(np.array(["a"] * N)))
def test_what_gives_the_labels_away_is_found(name, sorted_labels):
    column = pd.Series(leaks(sorted_labels)[name])
    assert LeakCheck(sorted_labels).leak(column) is not None
    rows = np.random.RandomState(0).permutation(N)
    shuffled = LeakCheck(sorted_labels[rows]).leak(column.iloc[rows])
    assert (shuffled is None) == (name == "batch")


@pytest.mark.parametrize("order", ["sorted", "shuffled"])
def test_measurements_that_tell_the_classes_are_trained_on(order, sorted_labels):
    rng = np.random.RandomState(0)
    codes = np.unique(sorted_labels, return_inverse=True)[1]
    is_mixed_up = rng.uniform(size=N) < 0.02
    within = [np.sort(rng.normal(size=(codes == k).sum())) for k in range(5)]
    frame = pd.DataFrame(
        {
            "apart": codes + rng.uniform(-0.3, 0.3, N),
            "nearly": codes + rng.normal(0, 0.3, N),
            "sorted within": np.concatenate(within),
            "species": np.array(list("vwxyz"))[(codes + is_mixed_up) % 5],
        }
    )
    rows = rng.permutation(N) if order == "shuffled" else np.arange(N)
    frame, labels = frame.iloc[rows].reset_index(drop=True), sorted_labels[rows]
    assert choose_columns(frame, labels, Wishes()).unused == []


def test_words_of_several_alphabets_are_no_leak(sorted_labels):
    rng = np.random.RandomState(0)
    first = {"a": 0x61, "b": 0x431, "c": 0x915, "d": 0x3042, "e": 0x627}
    words = [
        "".join(chr(first[label] + k) for k in rng.randint(9, size=rng.randint(5, 12)))
        for label in sorted_labels
    ]
    assert LeakCheck(sorted_labels).leak(pd.Series(words)) is None
    assert identifier_kind(pd.Series(words)) is None
    texts = pd.Series([f"{word} said 3 words or more" for word in words])
    assert LeakCheck(sorted_labels).leak(texts) is None


def small_table():
    return pd.DataFrame(
        {
            "Unnamed: 0": range(60),
            "file": [f"{i:03}.jpg" for i in range(60)],
            "size": np.random.RandomState(0).normal(size=60),
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(60), "h"),
            "unit": "cm",
            "tags": [["a", "b"]] * 60,
            "raw": b"\xff",
            "nothing": None,
        }
    )


LABELS = np.random.RandomState(1).choice(["a", "b"], 60)


def test_reasons_are_told_by_column():
    columns = choose_columns(small_table(), LABELS, Wishes())
    assert list(columns.trained.columns) == ["size"]
    assert columns.names.tolist()[:2] == ["000.jpg", "001.jpg"]
    assert notes_about(columns) == [
        "Column 'file' is not trained on: identifier (file names). Pass --use COLUMN "
        "to train on it.",
        "Column 'Unnamed: 0' is not trained on: identifier (row numbers). Pass --use "
        "COLUMN to train on it.",
        "Column 'when' is not trained on: identifier (running timestamps). Pass --use "
        "COLUMN to train on it.",
        "Columns 'tags', 'raw' are not trained on: nested or binary values.",
        "Column 'nothing' is not trained on: no values.",
        "Column 'unit' is not trained on: one value in all rows.",
    ]


def test_times_that_may_be_measurements_are_trained_on_and_named():
    seconds = np.random.RandomState(0).randint(3 * 10**7, size=60)
    times = pd.Timestamp("2023-01-01") + pd.to_timedelta(seconds, unit="s")
    frame = pd.DataFrame({"bought at": times, "text": times.astype(str), "x": seconds})
    columns = choose_columns(frame, LABELS, Wishes(use=["text"]))
    assert list(columns.trained.columns) == list(frame.columns)
    (note,) = notes_about(columns)
    assert note.startswith("Column 'bought at' has another time in nearly every row")
    assert note.endswith("pass --id 'bought at'.")


def test_many_columns_make_one_note():
    frame = pd.DataFrame(np.zeros((60, 9))).add_prefix("p")
    (note,) = notes_about(choose_columns(frame, LABELS, Wishes()))
    assert note == (
        "Columns 'p0', 'p1', 'p2', 'p3', 'p4' and 4 more are not trained on: one "
        "value in all rows."
    )


def test_the_user_has_the_last_word():
    wishes = Wishes(ids=["size"], use=["file"], ignore=["when"])
    columns = choose_columns(small_table(), LABELS, wishes)
    assert list(columns.trained.columns) == ["file"]
    assert columns.names[0] == str(small_table()["size"][0])


@pytest.mark.parametrize(
    ("ignore", "name"),
    [(["file"], "000.jpg"), ([], "000.jpg")],
    ids=["ignored", "found"],
)
def test_an_identifier_names_the_rows_even_if_it_is_ignored(ignore, name):
    columns = choose_columns(small_table(), LABELS, Wishes(ignore=ignore))
    assert columns.names[0] == name


def test_row_numbers_name_nothing_new():
    frame = small_table()[["Unnamed: 0", "size"]]
    assert choose_columns(frame, LABELS, Wishes()).names is None
    frame["Unnamed: 0"] = 3.0 * frame["Unnamed: 0"]
    assert choose_columns(frame, LABELS, Wishes()).names.tolist()[:3] == ["0", "3", "6"]


def test_texts_that_are_no_dates_stay_texts():
    texts = pd.Series(["2024-01-01 or so"] * 30)
    assert as_dates(texts) is texts
