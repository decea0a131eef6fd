"""One class in several spellings: letter case, blanks, Unicode forms, typing errors.

Forms that nobody means as two classes are one class, however frequent they are. Other
spellings are taken for a class only if they are rare beside it and differ as typing
errors do; and an error of typing is believed only if the column has several.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

#: A spelling is rare beside another that is so many times as frequent, if it occurs
#: at most twice, or in at most so large a fraction.
_TIMES, _RARELY, _RARE_FRACTION = 10, 2, 0.02
#: Letters that a name needs, for case to be no part of it, and to be mistyped.
_LETTERS_OF_NAME, _LETTERS_OF_WORD, _LETTERS_OF_TYPO = 3, 4, 5
#: Spellings one letter from a class that show that labels were typed, and the fraction
#: of the rare spellings that they need to be; the others are rare classes.
_FEWEST_TYPOS, _TYPOS_OF_RARE = 3, 0.5
#: Typing errors from which on those at the ends of words are believed, too.
_MANY_TYPOS = 10
_BLOCK = 1000
#: Characters between and around words that may be another in the same name, and the
#: Unicode categories of those that nobody sees.
_BETWEEN = r"[\s_\-./'\u2019,]+"
_AROUND = "\"'`\u201c\u201d\u2018\u2019.,;:!?()[] "
_UNSEEN = ("Cf", "Cc")


class Variant(NamedTuple):
    """A spelling that is taken for a class, and the number of its labels."""

    spelling: str
    label: str
    n_labels: int


def common_spellings(labels: NDArray[np.str_]) -> list[Variant]:
    """Return the spellings that are taken for another one, by class.

    Parameters
    ----------
    labels : array of shape (n_samples,)
        Given labels.

    Examples
    --------
    >>> labels = ["Return"] * 9 + ["return "] * 2 + ["shipping"] * 9 + ["1"] * 9
    >>> common_spellings(np.array([*labels, "10"]))
    [Variant(spelling='return ', label='Return', n_labels=2)]
    """
    spellings, numbers = np.unique(labels, return_counts=True)
    counts = dict(zip(spellings.tolist(), numbers.tolist(), strict=True))
    classes = {label: label for label in counts}
    _merge_same(classes, counts)
    _merge_similar(classes, counts)
    _merge_typos(classes, counts)
    found = [Variant(s, k, counts[s]) for s, k in classes.items() if s != k]
    return sorted(found, key=lambda v: (v.label, -v.n_labels, v.spelling))


def with_classes(
    labels: NDArray[np.str_], variants: Sequence[Variant]
) -> NDArray[np.str_]:
    """Return labels with each spelling replaced by its class."""
    label_of = {variant.spelling: variant.label for variant in variants}
    spellings, codes = np.unique(labels, return_inverse=True)
    return np.array([label_of.get(s, s) for s in spellings.tolist()])[codes]


def note_about(variants: Sequence[Variant]) -> str:
    """Return a sentence about the spellings that are taken for classes."""
    n_labels = sum(variant.n_labels for variant in variants)
    classes = {variant.label for variant in variants}
    most = max(variants, key=lambda variant: variant.n_labels)
    shown = [visible(spelling, most[:2]) for spelling in most[:2]]
    return (
        f"{_number(n_labels, 'label')} in {_number(len(variants), 'spelling')} of "
        f"{_number(len(classes), 'class')} that differ from the usual one, such as "
        f"'{shown[0]}' for '{shown[1]}', are trained on as these classes. Pass "
        "--labels-as-given to keep them apart."
    )


def visible(text: str, among: Sequence[str] = ()) -> str:
    r"""Return a text whose blanks can be seen, and told from the other texts.

    Examples
    --------
    >>> visible("ice  cream "), visible("caf\u0065\u0301", ["caf\u00e9"])
    ('ice␣␣cream␣', 'cafe\\u0301')
    """
    shown = re.sub(r"^ +| +$| {2,}", lambda blanks: "␣" * len(blanks[0]), text)
    shown = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in shown)
    composed = unicodedata.normalize("NFKC", text)
    is_alike = any(
        other != text and unicodedata.normalize("NFKC", other) == composed
        for other in among
    )
    if is_alike and composed != text:
        return shown.encode("ascii", "backslashreplace").decode()
    return shown


def _number(n: int, noun: str) -> str:
    plural = f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{n:,} {noun if n == 1 else plural}"


def _same_form(label: str) -> str:
    """Return what is equal for forms of a label that nobody means as two classes."""
    text = unicodedata.normalize("NFKC", label)
    text = "".join(
        c for c in text if c.isspace() or unicodedata.category(c) not in _UNSEEN
    )
    text = re.sub(rf"(?<=[^\W_]){_BETWEEN}(?=[^\W\d_])", " ", text)
    text = re.sub(rf"(?<=[^\W\d_]){_BETWEEN}(?=[^\W_])", " ", text)
    text = " ".join(text.split())
    if re.fullmatch(r"[+-]?\d+\.0+", text):
        text = text.partition(".")[0]
    is_name = len(_letters(text)) >= _LETTERS_OF_NAME
    return unicodedata.normalize("NFKC", text.casefold()) if is_name else text


def _similar_form(label: str) -> str:
    """Return what is equal for forms of a label that may be classes if frequent."""
    decomposed = unicodedata.normalize("NFKD", _same_form(label).casefold())
    text = "".join(c for c in decomposed if not unicodedata.combining(c))
    text = text.strip(_AROUND) or text
    if len(_letters(text)) < _LETTERS_OF_NAME:
        return text
    return re.sub(r"(?<=[^\W\d_]) (?=\w)|(?<=\w) (?=[^\W\d_])", "", text)


def _letters(text: str) -> str:
    return re.sub(r"[\W\d_]", "", text)


def _is_rare(n_labels: int, beside: int) -> bool:
    most = max(_RARELY, _RARE_FRACTION * beside)
    return n_labels <= most and beside >= _TIMES * n_labels


def _merge_same(classes: dict[str, str], counts: dict[str, int]) -> None:
    """Take spellings of one form for the most frequent of them."""
    for group in _groups(_totals(classes, counts), _same_form):
        # Of equally frequent spellings, one without blanks around it.
        best = max(group, key=lambda s: (counts[s], s == s.strip(), s))
        _move(classes, dict.fromkeys(group, best))


def _merge_similar(classes: dict[str, str], counts: dict[str, int]) -> None:
    """Take rare spellings for a frequent one of a similar form.

    Unless classes differ by no more than that: if two frequent ones do. Names of one or
    two letters stay, too, if most of those that are rare are like no frequent one.
    """
    totals = _totals(classes, counts)
    most = max(totals.values(), default=0)
    target: dict[str, str] = {}
    for group in _groups(totals, _similar_form):
        best, *others = sorted(group, key=lambda s: (-totals[s], s))
        if not all(_is_rare(totals[label], totals[best]) for label in others):
            return
        target |= dict.fromkeys(others, best)
    short = {label for label in totals if len(_letters(label)) < _LETTERS_OF_NAME}
    n_rare = sum(_is_rare(totals[label], most) for label in short)
    if len(short & target.keys()) < _TYPOS_OF_RARE * n_rare:
        target = {label: name for label, name in target.items() if label not in short}
    _move(classes, target)


def _groups(labels: Iterable[str], form: Any) -> list[list[str]]:
    """Return the labels of each form that several have."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for label in labels:
        groups[form(label)].append(label)
    return [group for group in groups.values() if len(group) > 1]


def _merge_typos(classes: dict[str, str], counts: dict[str, int]) -> None:
    """Take rare names for the frequent one from which they differ by a typing error."""
    totals = _totals(classes, counts)
    most = max(totals.values(), default=0)
    rare = [label for label in totals if _is_rare(totals[label], most)]
    frequent = [label for label in totals if totals[label] >= _TIMES]
    near = _one_edit_apart(rare, frequent)
    n_near = sum(bool(labels) for labels in near.values())
    pairs = {
        label: nearest[0]
        for label, nearest in near.items()
        if len(nearest) == 1 and _is_rare(totals[label], totals[nearest[0]])
    }
    target = {label: name for label, name in pairs.items() if is_typo(label, name)}
    if len(target) < _FEWEST_TYPOS or n_near < _TYPOS_OF_RARE * len(rare):
        return
    if len(target) >= _MANY_TYPOS:
        target = {s: name for s, name in pairs.items() if is_typo(s, name, True)}
    _move(classes, target)


def _one_edit_apart(rare: list[str], frequent: list[str]) -> dict[str, list[str]]:
    """Return the frequent labels that are one edit from each rare one."""
    from rapidfuzz.distance import OSA
    from rapidfuzz.process import cdist

    near: dict[str, list[str]] = {}
    forms = [_same_form(label).casefold() for label in frequent]
    for start in range(0, len(rare), _BLOCK):
        block = rare[start : start + _BLOCK]
        own = [_same_form(label).casefold() for label in block]
        edits = cdist(own, forms, scorer=OSA.distance, score_cutoff=1, dtype=np.uint8)
        for label, row in zip(block, edits, strict=True):
            others = [frequent[k] for k in np.flatnonzero(row <= 1)]
            near[label] = [other for other in others if other != label]
    return near


def is_typo(label: str, name: str, at_ends: bool = False) -> bool:
    """Return whether a label that is one edit from a name may be it, mistyped.

    The edit is in a word of at least five letters (four in a name of eight), and no
    digit differs. It is neither in the first letter nor in place of the last one, by
    which classes often differ; with ``at_ends`` it may be, in words one letter longer.

    Examples
    --------
    >>> is_typo("shiping", "shipping"), is_typo("cart", "car"), is_typo("A2", "A1")
    (True, False, False)
    >>> is_typo("class b", "class a"), is_typo("house", "mouse")
    (False, False)
    """
    mistyped, right = _words(label), _words(name)
    if len(mistyped) != len(right):  # an edit of the blank between two words
        return min(map(len, mistyped + right)) >= _LETTERS_OF_NAME
    differing = [(a, b) for a, b in zip(mistyped, right, strict=True) if a != b]
    if len(differing) != 1:
        return False
    ((wrong, word),) = differing
    if re.sub(r"\D", "", wrong) != re.sub(r"\D", "", word):
        return False
    is_last = len(wrong) == len(word) and wrong[:-1] == word[:-1]
    is_at_end = is_last or wrong[:1] != word[:1]
    if is_at_end and not at_ends:
        return False
    is_part = len(_letters(name)) >= 2 * _LETTERS_OF_WORD and not _is_roman(word)
    fewest = _LETTERS_OF_WORD if is_part else _LETTERS_OF_TYPO
    return len(_letters(word)) >= fewest + is_at_end


def _is_roman(word: str) -> bool:
    return bool(re.fullmatch("[ivxlcdm]+", word))


def _words(label: str) -> list[str]:
    """Return the words of a label, also those of "TypeA", in small letters."""
    text = unicodedata.normalize("NFKC", label)
    parted = re.sub(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])", " ", text)
    parted = re.sub(r"(?<=[a-zà-ÿ])(?=[A-ZÀ-Þ])", " ", parted)
    return re.split(r"[\W_]+", parted.casefold().strip())


def _totals(classes: dict[str, str], counts: dict[str, int]) -> dict[str, int]:
    totals: Counter[str] = Counter()
    for spelling, label in classes.items():
        totals[label] += counts[spelling]
    return dict(totals)


def _move(classes: dict[str, str], target: dict[str, str]) -> None:
    for spelling, label in classes.items():
        classes[spelling] = target.get(label, label)


def grouped(
    variants: Sequence[Variant],
) -> list[tuple[str, list[tuple[str, str, int]]]]:
    """Return the spellings of each class, the class with most of them first.

    Each spelling comes as it is given, with blanks that can be seen, and with the
    number of its labels.
    """
    groups: defaultdict[str, list[tuple[str, str, int]]] = defaultdict(list)
    for spelling, label, n_labels in variants:
        groups[label].append((spelling, visible(spelling, [label]), n_labels))
    return sorted(groups.items(), key=lambda pair: -sum(v[2] for v in pair[1]))
