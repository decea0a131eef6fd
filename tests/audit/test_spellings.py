"""Spellings of a class are recognized, and no two classes are taken for one."""

import calendar
import unicodedata

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from skpresto.audit._sources import read_table
from skpresto.audit._sources.spellings import (
    common_spellings,
    grouped,
    is_typo,
    note_about,
    visible,
    with_classes,
)


def names(text, separator=" "):
    return text.split(separator)


CIFAR100 = names(
    "apple aquarium_fish baby bear beaver bed bee beetle bicycle bottle bowl boy "
    "bridge bus butterfly camel can castle caterpillar cattle chair chimpanzee "
    "clock cloud cockroach couch crab crocodile cup dinosaur dolphin elephant "
    "flatfish forest fox girl hamster house kangaroo keyboard lamp lawn_mower "
    "leopard lion lizard lobster man maple_tree motorcycle mountain mouse "
    "mushroom oak_tree orange orchid otter palm_tree pear pickup_truck pine_tree "
    "plain plate poppy porcupine possum rabbit raccoon ray road rocket rose sea "
    "seal shark shrew skunk skyscraper snail snake spider squirrel streetcar "
    "sunflower sweet_pepper table tank telephone television tiger tractor train "
    "trout tulip turtle wardrobe whale willow_tree wolf woman worm"
)
NEWSGROUPS = names(
    "alt.atheism comp.graphics comp.os.ms-windows.misc comp.sys.ibm.pc.hardware "
    "comp.sys.mac.hardware comp.windows.x misc.forsale rec.autos rec.motorcycles "
    "rec.sport.baseball rec.sport.hockey sci.crypt sci.electronics sci.med "
    "sci.space soc.religion.christian talk.politics.guns talk.politics.mideast "
    "talk.politics.misc talk.religion.misc"
)
COUNTRIES = names(
    "Austria, Australia, Iran, Iraq, Ireland, Iceland, Mali, Malawi, Niger, "
    "Nigeria, Gambia, Zambia, Slovakia, Slovenia, North Korea, South Korea, "
    "Guinea, Guyana, Dominica, Dominican Republic, Mauritania, Mauritius, India, "
    "Indonesia, Paraguay, Uruguay, Latvia, Lithuania, Oman, Jordan, Chad, Chile, "
    "China, Congo, Guinea-Bissau, Sweden, Switzerland",
    ", ",
)
STATES = names(
    "Alabama, Alaska, Arkansas, Kansas, North Carolina, South Carolina, North "
    "Dakota, South Dakota, Virginia, West Virginia, Missouri, Mississippi, "
    "Indiana, Montana, Maine, New Mexico, New York, New Jersey, Nevada, Nebraska, "
    "Ohio, Iowa, Idaho, Oregon, Texas, Utah",
    ", ",
)
GENRES = names(
    "rock, folk, funk, punk, pop, hip-hop, trip hop, techno, trance, dance, "
    "house, grime, metal, nu metal, jazz, blues, soul, r&b, k-pop, j-pop, reggae, "
    "reggaeton, classical, baroque, disco",
    ", ",
)
SIMILAR = {
    "iris": load_iris().target_names.tolist(),
    "wine": load_wine().target_names.tolist(),
    "breast cancer": load_breast_cancer().target_names.tolist(),
    "digits": list("0123456789") + ["10", "11", "100", "01"],
    "letters": [*"abcdefghijklmnopqrstuvwxyz", *"ABCDEFGHIJKLMNOPQRSTUVWXYZ"],
    "newsgroups": NEWSGROUPS,
    "CIFAR-100": CIFAR100,
    "months": [*calendar.month_name[1:], *calendar.day_name],
    "short months": [*calendar.month_abbr[1:], *calendar.day_abbr],
    "countries": COUNTRIES,
    "states": STATES,
    "genres": GENRES,
    "codes": [f"{letter}{i}" for letter in "AB" for i in range(1, 31)],
    "products": [f"XK-{i}" for i in range(1200, 1240)] + [f"XK-{i}B" for i in (1, 2)],
    "versions": ["1", "10", "1.5", "15", "2", "2.1", "21", "-1", "+5", "5", "<5", ">5"],
    "words": ["car", "cart", "cat", "coat", "coast", "boat", "plan", "plane", "planet"],
    "languages": ["C", "C++", "C#", "F#", "R", "Java", "JavaScript", "TypeScript"],
    "genotypes": ["AA", "Aa", "aa"],
    "types": ["type I", "type II", "type III", "type IV", "type VI", "typeA", "typeB"],
    "hepatitis": ["hepatitis A", "hepatitis B", "hepatitis C", "no hepatitis"],
    "blood": ["A+", "A-", "B+", "B-", "AB+", "AB-", "0+", "0-"],
    "grades": ["A", "A+", "A-", "B", "B+", "B-", "B/C", "BC"],
    "near words": [
        "desert",
        "dessert",
        "county",
        "country",
        "causal",
        "casual",
        "diary",
        "dairy",
    ],
}


@pytest.mark.parametrize("name", SIMILAR)
def test_no_two_classes_are_taken_for_one(name):
    """Neither if all are frequent nor if any one of them is rare."""
    classes = SIMILAR[name]
    counts = dict.fromkeys(classes, 300)
    for rare in [None, *classes]:
        for n in (1, 2, 6):
            numbers = counts if rare is None else counts | {rare: n}
            labels = np.repeat(classes, [numbers[label] for label in classes])
            assert common_spellings(labels) == [], (rare, n)


@pytest.mark.parametrize("name", SIMILAR)
def test_classes_of_falling_frequency_stay_apart(name):
    rng = np.random.RandomState(0)
    classes = rng.permutation(SIMILAR[name])
    counts = np.maximum(2000 // np.arange(1, len(classes) + 1) ** 2, 1)
    assert common_spellings(np.repeat(classes, counts)) == []


def typed(text, rng):
    """Return a text with one random error of typing."""
    i, letter = rng.randint(len(text)), chr(97 + rng.randint(26))
    kind = rng.randint(4)
    if kind == 3 and i + 1 < len(text):
        return text[:i] + text[i + 1] + text[i] + text[i + 2 :]
    return text[:i] + (letter if kind else "") + text[i + (kind < 2) :]


def misspelled(true, rate, rng):
    labels = true.astype(object)
    for i in np.flatnonzero(rng.uniform(size=len(true)) < rate):
        text = labels[i]
        forms = [text.title(), text.upper(), f"{text} ", f" {text}", typed(text, rng)]
        forms += [unicodedata.normalize("NFD", text), text.replace(" ", "_")]
        labels[i] = forms[rng.randint(len(forms))]
    return labels.astype(str)


def test_misspelled_labels_are_of_their_class():
    rng = np.random.RandomState(0)
    names = ["shipping", "billing", "returns", "technical support", "économie"]
    true = rng.choice(names, 3400)
    labels = misspelled(true, 0.05, rng)
    variants = common_spellings(labels)
    assert len(np.unique(labels)) > 35
    np.testing.assert_array_equal(with_classes(labels, variants), true)
    n = (labels != true).sum()
    assert f"{n} labels in {len(variants)} spellings of 5 classes" in note_about(
        variants
    )


def test_typing_errors_in_a_hundred_classes():
    rng = np.random.RandomState(0)
    true = np.repeat(CIFAR100, 80)
    labels = true.astype(object)
    for i in np.flatnonzero(rng.uniform(size=len(true)) < 0.03):
        labels[i] = typed(labels[i], rng)
    labels = labels.astype(str)
    found = with_classes(labels, common_spellings(labels))
    changed = found != labels
    np.testing.assert_array_equal(found[changed], true[changed])
    is_long = np.array([len(name) >= 6 for name in true])
    is_wrong = (labels != true) & ~np.isin(labels, CIFAR100)
    assert changed[is_long & is_wrong].mean() > 0.9
    assert changed[is_wrong].mean() > 0.6


def test_a_single_odd_spelling_may_be_a_class():
    labels = ["versicolor"] * 50 + ["setosa"] * 50
    assert common_spellings(np.array([*labels, "versicolr"])) == []
    odd = ["versicolr", "versicolorr", "setsa"]
    found = common_spellings(np.array(labels + odd))
    assert {(v.spelling, v.label) for v in found} == {
        ("versicolr", "versicolor"),
        ("versicolorr", "versicolor"),
        ("setsa", "setosa"),
    }


@pytest.mark.parametrize(
    ("spelling", "label"),
    [
        ("Ice Cream", "ice cream"),
        ("ice_cream", "ice cream"),
        ("ice-cream ", "ice cream"),
        ("ice\u00a0cream", "ice cream"),
        ("ice\u200b cream", "ice cream"),
        ("\uff49ce cream", "ice cream"),
        ("cafe\u0301s", "caf\u00e9s"),
        ("STRASSE", "Straße"),
        ("1.0", "1"),
        ("\uff11", "1"),
        (" 7", "7"),
    ],
)
def test_forms_that_nobody_means_as_two_are_one_class_however_frequent(spelling, label):
    labels = np.repeat([spelling, label, "other"], [100, 120, 100])
    (found,) = common_spellings(labels)
    assert (found.spelling, found.label, found.n_labels) == (spelling, label, 100)


@pytest.mark.parametrize(
    ("rare", "label"),
    [
        ("y", "Y"),
        ("no.", "no"),
        ("icecream", "ice cream"),
        ("cafe", "café"),
        ("aa", "AA"),
    ],
)
def test_forms_that_may_be_classes_are_one_if_they_are_rare(rare, label):
    assert common_spellings(np.repeat([rare, label], [2, 100]))[0].spelling == rare
    assert common_spellings(np.repeat([rare, label], [60, 100])) == []


@given(st.lists(st.text(max_size=8), min_size=1, max_size=40))
@settings(max_examples=60)
def test_classes_are_spellings_that_are_no_variant_of_others(texts):
    labels = np.array(texts + texts[:3] * 9)
    variants = common_spellings(labels)
    found = with_classes(labels, variants)
    assert set(found) <= set(labels.tolist())
    assert {v.label for v in variants}.isdisjoint(v.spelling for v in variants)
    assert sum(v.n_labels for v in variants) == (found != labels).sum()
    assert common_spellings(found[:0]) == []


@pytest.mark.parametrize(
    ("label", "name", "at_ends", "expected"),
    [
        ("shpping", "shipping", False, True),
        ("hipping", "shipping", False, False),
        ("hipping", "shipping", True, True),
        ("shippinh", "shipping", False, False),
        ("plane", "plan", True, False),
        ("model 31", "model 32", True, False),
        ("phase III", "phase II", True, False),
        ("lawnxmower", "lawn_mower", False, True),
        ("aquarium_fsh", "aquarium_fish", False, True),
    ],
)
def test_what_may_be_a_typing_error(label, name, at_ends, expected):
    assert is_typo(label, name, at_ends) is expected


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (" a b  c ", "␣a b␣␣c␣"),
        ("a\tb\u00a0c", "a\\u0009b\\u00a0c"),
        ("a\u200bb", "a\\u200bb"),
        ("naïve", "naïve"),
    ],
)
def test_blanks_can_be_seen(text, shown):
    assert visible(text) == shown


def test_spellings_are_listed_by_class():
    labels = np.repeat(["bee", "Bee", "bee ", "ant", " ant"], [50, 3, 4, 50, 9])
    assert grouped(common_spellings(labels)) == [
        ("ant", [(" ant", "␣ant", 9)]),
        ("bee", [("bee ", "bee␣", 4), ("Bee", "Bee", 3)]),
    ]


def test_labels_are_read_by_class_and_as_given(tmp_path):
    path = tmp_path / "t.csv"
    labels = ["yes"] * 30 + ["YES", "yes "] + ["no"] * 30
    numbers = np.random.RandomState(0).normal(size=62)
    pd.DataFrame({"x": numbers, "y": labels}).to_csv(path, index=False)
    source = read_table(path, "y")
    assert set(source.labels) == {"yes", "no"}
    assert source.spelled.tolist() == labels
    kept = read_table(path, "y", as_given=True)
    assert kept.labels.tolist() == labels
    assert kept.variants == []


def test_whether_labels_are_classes_is_judged_by_rows(tmp_path):
    path = tmp_path / "t.csv"
    labels = ["shipping", "billing"] * 100 + [f"odd {i} label" for i in range(60)]
    numbers = np.random.RandomState(0).normal(size=260)
    pd.DataFrame({"x": numbers, "y": labels}).to_csv(path, index=False)
    assert len(np.unique(read_table(path, "y").labels)) == 62
