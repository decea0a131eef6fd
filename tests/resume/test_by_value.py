"""Any value is told apart from others, and is the same in every process."""

import ast
import subprocess
import sys
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skpresto._resume.by_value import described
from skpresto._resume.description import digest
from tests.resume import values
from tests.resume.values import DIFFERENT, EQUAL, UNKNOWN, Net, with_attribute


def texts(value):
    found = described(value, "it")
    assert found.unknown == []
    return found.texts


@pytest.mark.parametrize("pair", DIFFERENT.values(), ids=DIFFERENT)
def test_values_are_told_apart_and_equal_ones_are_not(pair):
    first, second = pair
    assert texts(first()) == texts(first())
    assert texts(second()) == texts(second())
    assert texts(first()) != texts(second())


@pytest.mark.parametrize("pair", EQUAL.values(), ids=EQUAL)
def test_the_same_value_in_other_words_is_the_same(pair):
    first, second = pair
    assert texts(first()) == texts(second())


def test_globals_of_functions_count(monkeypatch):
    before = texts(values.with_global)
    monkeypatch.setattr(values, "FACTOR", 3)
    assert texts(values.with_global) != before


def test_defaults_of_functions_count(monkeypatch):
    before = texts(values.with_default)
    monkeypatch.setattr(values.with_default, "__defaults__", (3,))
    assert texts(values.with_default) != before


def test_values_that_contain_themselves_have_an_end():
    row = [1]
    row.append(row)
    module = with_attribute(Net(2, 2), rows={"row": row})
    module.hidden = [module]
    assert texts(module) == texts(module)


NESTED = st.recursive(
    st.none() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)


def strictly_equal(a, b):
    """Compare as ``==`` does, but with types and the order of dicts; naive."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return strictly_equal([*a.items()], [*b.items()])
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(strictly_equal, a, b))
    return repr(a) == repr(b)


@given(NESTED, NESTED)
def test_texts_are_equal_if_and_only_if_values_are(a, b):
    assert (texts(a) == texts(b)) == strictly_equal(a, b)
    assert texts(a) == texts(a)


def all_digests():
    """Return a digest of the texts of every value in the tables."""
    found = {}
    for name, (first, second) in {**DIFFERENT, **EQUAL}.items():
        pieces = [repr(texts(value())).encode() for value in (first, second)]
        found[name] = digest(pieces)
    return found


def test_texts_do_not_depend_on_the_process():
    program = """
        import sys
        sys.path.insert(0, sys.argv[1])
        from tests.resume.test_by_value import all_digests
        print(all_digests())
    """
    root = __file__.rpartition("/tests/")[0]
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(program), root]
    run = subprocess.run(command, capture_output=True, check=True, text=True)
    assert ast.literal_eval(run.stdout) == all_digests()


@pytest.mark.parametrize("make", UNKNOWN.values(), ids=UNKNOWN)
def test_what_has_no_value_is_named(make):
    found = described({"a": [make()]}, "it")
    assert found.unknown[0].startswith("it['a'][0]")
