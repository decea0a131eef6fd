"""Good samples and labels, and samples and labels of every wrong kind."""

import datetime
from importlib.util import find_spec

import numpy as np
import pandas as pd
import sklearn
from packaging.version import Version
from scipy import sparse

from tests.hostile.outcomes import Refused, Works, case

N_ROWS, N_COLUMNS = 12, 3
GOOD_X = np.random.RandomState(0).standard_normal((N_ROWS, N_COLUMNS))
GOOD_X = GOOD_X.astype(np.float32)
GOOD_Y = np.arange(N_ROWS) % 2
GOOD_X.flags.writeable = GOOD_Y.flags.writeable = False


def with_value(value, dtype=np.float64):
    X = GOOD_X.astype(dtype)
    X[3, 1] = value
    return X


def same_as(X):
    """The result is that of the same numbers as a plain array."""
    return Works(lambda clf, fresh: _assert_equal_fits(clf, fresh.fit(X, GOOD_Y)))


def _assert_equal_fits(clf, reference):
    np.testing.assert_array_equal(
        clf.predict_proba(GOOD_X), reference.predict_proba(GOOD_X)
    )


def generator():
    return (row for row in GOOD_X)


class Wrapped:
    """Neither an array nor a sequence."""


def filled(value, dtype=None):
    return np.full((N_ROWS, N_COLUMNS), value, dtype)


def refused_since(release, message, before):
    """scikit-learn refuses it since a release; what comes of it in those before."""
    is_refused = Version(sklearn.__version__) >= Version(release)
    return Refused(message) if is_refused else before


structured = np.zeros(N_ROWS, dtype=[("a", "f4"), ("b", "i4")])
frame = pd.DataFrame(GOOD_X, columns=["a", "b", "c"])
masked = np.ma.masked_array(GOOD_X, mask=GOOD_X > 10)
SAME = same_as(GOOD_X)
ONES = same_as(np.ones((N_ROWS, N_COLUMNS), np.float32))
SIGNS = same_as((GOOD_X > 0).astype(np.float32))
DATES = "needs numbers in X, but got dates"
LENGTH = "inconsistent numbers of samples"
NUMBERS = "needs numbers in X"
CONTAINER = "Expected (a 2-dimensional container|2D array)"
DIMENSIONS = "Expected 2D array|Reshape your data"

X_CASES = [
    case("None", "None|Expected 2D", X=None),
    case("string", DIMENSIONS + "|" + NUMBERS, X="samples"),
    case("bytes", DIMENSIONS + "|" + NUMBERS, X=b"samples"),
    case("int", "Expected 2D array, got scalar", X=3),
    case("float", "Expected 2D array, got scalar", X=2.5),
    case("bool", "Expected 2D array, got scalar", X=True),
    case("0-d array", "Expected 2D array, got scalar", X=np.array(1.0)),
    case("1-d array", DIMENSIONS, X=np.arange(12.0)),
    case("1-d list", DIMENSIONS, X=list(range(12))),
    case("Series", CONTAINER, X=frame["a"]),
    case("Series of text", CONTAINER, X=frame["a"].astype(str)),
    case("Series of nullable floats", CONTAINER, X=frame["a"].astype("Float32")),
    case("Series of categories", CONTAINER, X=frame["a"].astype("category")),
    case("Series of dates", DATES, X=pd.Series(pd.date_range("2020", periods=12))),
    case("Index", DIMENSIONS, X=pd.Index(frame["a"])),
    case("MultiIndex", NUMBERS, X=pd.MultiIndex.from_frame(frame)),
    case("empty list", "at least|minimum|2D|inconsistent", X=[]),
    case("no rows", r"0 sample\(s\).*minimum of 2 is required", X=GOOD_X[:0]),
    case("one sample", r"1 sample\(s\).*minimum of 2", X=GOOD_X[:1], y=GOOD_Y[:1]),
    case("no columns", r"0 feature\(s\)", X=GOOD_X[:, :0]),
    case("one row", "inconsistent numbers of samples|1 sample", X=GOOD_X[:1]),
    case("a row less", LENGTH + r": \[11, 12\]", X=GOOD_X[1:]),
    case("NaN", "Input X contains NaN", X=with_value(np.nan)),
    case("infinity", "Input X contains infinity", X=with_value(np.inf)),
    case("-infinity", "Input X contains infinity", X=with_value(-np.inf)),
    case("beyond float32", "infinity or a value too large", X=with_value(1e300)),
    case("None in objects", "NaN|missing|float", X=with_value(None, object)),
    case("complex", "Complex data not supported", X=GOOD_X.astype(complex)),
    case("strings", NUMBERS, X=filled("a")),
    case("a string in objects", NUMBERS, X=with_value("a", object)),
    case("a list in objects", NUMBERS + "|sequence", X=with_value([1], object)),
    case("a dict in objects", NUMBERS + "|dict", X=with_value({}, object)),
    case("digits as strings", ONES, X=filled("1")),
    case("bytes of digits", ONES, X=filled(b"1")),
    case("dates", DATES, X=filled("2020-01-01", "M8[D]")),
    case("durations", DATES, X=filled(5, "m8[s]")),
    case("Python dates", NUMBERS + "|date", X=filled(datetime.date(2020, 1, 1))),
    case("structured array", DIMENSIONS + "|field|void|dtype", X=structured),
    case("ragged rows", "inhomogeneous|different length", X=[[1.0, 2]] * 11 + [[1]]),
    case("objects of other classes", "Wrapped|float|scalar|2D", X=Wrapped()),
    case("list of objects", "Wrapped|float|2D|dtype", X=[Wrapped()] * 12),
    case("generator", "generator|2D|scalar", X=generator()),
    case("set", "set|2D|scalar", X={1, 2, 3}),
    case("function", "2D|scalar|function", X=len),
    case("class", "2D|scalar|type", X=Wrapped),
    case("frame with text", NUMBERS, X=frame.assign(b="x")),
    case("frame with dates", "dtype|date", X=frame.assign(b=pd.Timestamp("2020"))),
    case("frame with NA", "NaN|NA", X=frame.astype("Float32").mask(frame > 1)),
    case("mixed column names", "names|string", X=frame.rename(columns={"a": 0})),
    case(
        "equal column names",
        refused_since("1.9", "unique|same name", SAME),
        X=frame.rename(columns={"a": "b"}),
    ),
    case("frame", SAME, X=frame),
    case("frame of nullable floats", SAME, X=frame.astype("Float32")),
    case("frame of booleans", SIGNS, X=frame > 0),
    case("list of lists", SAME, X=GOOD_X.tolist()),
    case("list of arrays", SAME, X=list(GOOD_X)),
    case("tuple of rows", SAME, X=tuple(map(tuple, GOOD_X.tolist()))),
    case("float64", SAME, X=GOOD_X.astype(np.float64)),
    case("float16", same_as(GOOD_X.astype("f2").astype("f4")), X=GOOD_X.astype("f2")),
    case("long doubles", SAME, X=GOOD_X.astype(np.longdouble)),
    case("int8", same_as(GOOD_X.astype("i1").astype("f4")), X=GOOD_X.astype("i1")),
    case("uint64", ONES, X=filled(1, np.uint64)),
    case("booleans", SIGNS, X=GOOD_X > 0),
    case("objects that are numbers", SAME, X=GOOD_X.astype(object)),
    case("Fortran order", SAME, X=np.asfortranarray(GOOD_X)),
    case("negative strides", SAME, X=GOOD_X[::-1].copy()[::-1]),
    case("every second column", SAME, X=np.repeat(GOOD_X, 2, axis=1)[:, ::2]),
    case("other byte order", SAME, X=GOOD_X.astype(">f4")),
    case("read-only", SAME, X=GOOD_X),
    case("broadcast", ONES, X=np.broadcast_to(np.float32(1), (12, 3))),
    case("masked array without masked values", SAME, X=masked),
    case("masked values", "values in X", X=np.ma.masked_array(GOOD_X, GOOD_X > 1)),
    case("matrix class", "np.matrix is not supported", X=GOOD_X.view(np.matrix)),
    case("sparse csr", SAME, X=sparse.csr_array(GOOD_X)),
    case("sparse csc", SAME, X=sparse.csc_matrix(GOOD_X)),
    case("sparse coo", SAME, X=sparse.coo_array(GOOD_X)),
    case("sparse dok", SAME, X=sparse.dok_matrix(GOOD_X)),
    case("sparse lil", SAME, X=sparse.lil_array(GOOD_X)),
    case("sparse NaN", "X contains NaN", X=sparse.csr_array(with_value(np.nan))),
    case("sparse infinity", "X contains inf", X=sparse.csr_array(with_value(np.inf))),
    case("sparse 1e300", "value too large", X=sparse.csr_matrix(with_value(1e300))),
    case("sparse, a row less", LENGTH, X=sparse.csr_matrix(GOOD_X[1:])),
    case("sparse without rows", r"0 sample\(s\)", X=sparse.csr_matrix((0, 3))),
    case("sparse without columns", r"0 feature\(s\)", X=sparse.csr_matrix((12, 0))),
    case(  # SciPy 1.12 makes it a row
        "sparse 1-d",
        r"Expected 2D|2-D|1 dim|1 sample\(s\) \(shape=\(1, 12\)\)",
        X=sparse.coo_array(GOOD_X[:, 0]),
    ),
    case("sparse complex", "Complex data", X=sparse.csr_array(GOOD_X.astype(complex))),
    case("huge numbers of one sign", "Training diverged", X=np.full((12, 3), 3e38)),
    case("all zeros", Works(), X=np.zeros((12, 3))),
    case("5-d array", "module|shape|dimension", X=np.zeros((12, 1, 2, 3, 3))),
    case(
        "3-d array",
        r"for tables.*got samples of shape \(2, 3\)",
        X=np.zeros((12, 2, 3)),
    ),
]


def polars_cases():
    """Return cases of polars frames, if polars is installed."""
    if find_spec("polars") is None:
        return []
    import polars as pl

    good = pl.from_numpy(GOOD_X)

    def with_column(*values):
        return good.with_columns(pl.Series("column_1", values * (12 // len(values))))

    numbers = "needs numbers in X"
    return [
        case("polars frame", SAME, X=good),
        case("polars frame with nulls", "NaN", X=with_column(1.0, None)),
        case("polars frame with text", numbers, X=with_column("a")),
        case("polars frame with dates", numbers, X=with_column(datetime.date.today())),
        case("polars Series", DIMENSIONS, X=pl.Series([1.0] * 12)),
    ]


X_CASES += polars_cases()


def labels(*values, dtype=None):
    return np.array([values[i % len(values)] for i in range(N_ROWS)], dtype=dtype)


def series(values, dtype):
    return pd.Series(values * (N_ROWS // len(values)), dtype=dtype)


def classes_are(*expected):
    return Works(lambda clf, fresh: _assert_classes(clf, expected))


def _assert_classes(clf, expected):
    assert clf.classes_.tolist() == list(expected)
    assert set(clf.predict(GOOD_X).tolist()) <= set(expected)


MISSING = "needs a label for every sample, but y contains missing values|y contains NaN"
ONE_D = r"1-D y|1d array"
CONTINUOUS = "Unknown label type"
ONE_TYPE = "needs labels of one type"

CATEGORIES = pd.CategoricalDtype(["c", "b", "a"])

Y_CASES = [
    case("None", "requires y to be passed", y=None),
    case("int", ONE_D + "|array", y=3),
    case("0-d array", ONE_D, y=np.array(1)),
    case("string", ONE_D, y="labels"),
    case("2-d", ONE_D, y=np.zeros((N_ROWS, 2))),
    case("one-hot", ONE_D, y=np.eye(2)[GOOD_Y]),
    case("3-d", ONE_D + "|dim 3", y=np.zeros((N_ROWS, 1, 1))),
    case("a frame of two columns", ONE_D, y=frame[["a", "b"]]),
    case("empty", LENGTH + "|empty|minimum", y=[]),
    case("a label less", LENGTH, y=GOOD_Y[1:]),
    case("a label more", LENGTH, y=labels(0, 1).tolist() + [0]),
    case("one class", r"at least 2 cl.*only one class: .*0\.0", y=np.zeros(N_ROWS)),
    case("one class of strings", "at least 2 classes", y=["a"] * N_ROWS),
    case("continuous", CONTINUOUS, y=labels(0.5, 1.5)),
    case("strings of numbers", classes_are("0.5", "1.5"), y=labels("0.5", "1.5")),
    case("NaN", MISSING, y=labels(0, 1, np.nan)),
    case("infinity", "infinity", y=labels(0, 1, np.inf)),
    case("None among numbers", MISSING, y=[0, 1, None] * 4),
    case("None among strings", MISSING, y=["a", "b", None] * 4),
    case("NaN among strings", MISSING, y=["a", "b", np.nan] * 4),
    case("NaN among objects", MISSING, y=labels("a", "b", np.nan, dtype=object)),
    case("pandas.NA", MISSING, y=labels("a", "b", pd.NA, dtype=object)),
    case("NaT", MISSING, y=labels("2020-01-01", "2020-01-02", "NaT", dtype="M8[D]")),
    case("Int64 with NA", MISSING, y=series([0, 1, None], "Int64")),
    case("string Series with NA", MISSING, y=series(["a", "b", None], "string")),
    case("object Series with None", MISSING, y=series(["a", "b", None], object)),
    case("categorical with NA", MISSING, y=series(["a", "b", None], "category")),
    case("boolean Series with NA", MISSING, y=series([True, False, None], "boolean")),
    case("masked", MISSING, y=np.ma.masked_array(GOOD_Y, GOOD_X[:, 0] > 1)),
    case("int and str", ONE_TYPE, y=[1, "a"] * 6),
    case("int and str as objects", ONE_TYPE, y=labels(1, "a", dtype=object)),
    case("str and bytes", ONE_TYPE + "|bytes", y=labels("a", b"a", dtype=object)),
    case("number and its name", ONE_TYPE, y=labels(1, "1", dtype=object)),
    case("str and float", ONE_TYPE, y=("a", 2.0) * 6),
    case("int and tuple", ONE_TYPE + "|sequence|1-D|inhomogen", y=[1, (2, 3)] * 6),
    case("tuples", ONE_D, y=[(1, 2), (3, 4)] * 6),
    case("lists of different length", "1-D|1d|inhomogeneous", y=[[1], [1, 2]] * 6),
    case(
        "bytes",
        refused_since("1.7", "bytes is not supported", classes_are(b"a", b"b")),
        y=labels(b"a", b"b"),
    ),
    case("complex", "Complex|complex|Unknown label", y=labels(1j, 2j)),
    case("objects of other classes", ONE_TYPE, y=labels(Wrapped(), dtype=object)),
    case("dicts", ONE_TYPE + "|Unknown label", y=[{"a": 1}, {"b": 2}] * 6),
    case("sets", ONE_TYPE + "|Unknown label", y=[{1}, {2}] * 6),
    case("generator", ONE_D + "|generator", y=(i % 2 for i in range(N_ROWS))),
    case("set", ONE_D + "|set", y={0, 1}),
    case("function", ONE_D + "|function", y=len),
    case("sparse", "sparse|1-D|1d", y=sparse.csr_array(GOOD_Y[:, None])),
    case("booleans", classes_are(False, True), y=GOOD_Y == 1),
    case("strings", classes_are("no", "yes"), y=labels("no", "yes")),
    case("objects", classes_are("no", "yes"), y=labels("no", "yes", dtype=object)),
    case("empty strings", classes_are("", "x"), y=labels("", "x")),
    case("missing by name", classes_are("None", "nan"), y=labels("None", "nan")),
    case(
        "foreign strings",
        classes_are("a" * 500, "\u00e9"),
        y=labels("\u00e9", "a" * 500),
    ),
    case("whole floats", classes_are(0.0, 1.0), y=GOOD_Y.astype(float)),
    case("negative", classes_are(-1, 1), y=labels(-1, 1)),
    case("gaps", classes_are(3, 10**6), y=labels(10**6, 3)),
    case("huge ints", classes_are(-(2**62), 2**62), y=labels(2**62, -(2**62))),
    case("uint64", classes_are(0, 2**64 - 1), y=labels(0, 2**64 - 1, dtype=np.uint64)),
    case("uint8", classes_are(0, 255), y=labels(0, 255, dtype=np.uint8)),
    case("other byte order", classes_are(0, 1), y=GOOD_Y.astype(">i4")),
    case("read-only", classes_are(0, 1), y=GOOD_Y),
    case("every second", classes_are(0, 1), y=np.repeat(GOOD_Y, 2)[::2]),
    case("list", classes_are(0, 1), y=GOOD_Y.tolist()),
    case("tuple", classes_are(0, 1), y=tuple(GOOD_Y.tolist())),
    case("Series", classes_are(0, 1), y=pd.Series(GOOD_Y, index=range(100, 112))),
    case("nullable Series", classes_are(0, 1), y=pd.Series(GOOD_Y, dtype="Int64")),
    case("unused categories", classes_are("a", "b"), y=series(["a", "b"], CATEGORIES)),
    case("a class of one row", Works(), y=[1] + [0] * (N_ROWS - 1)),
]

TOGETHER = "needs X_val and y_val together, but fit.. got only "
NOT_AMONG = "but y_val contains labels that are not among them: "


def validation(name, message, X_val=GOOD_X, y_val=GOOD_Y):
    return case(f"validation data: {name}", message, X_val=X_val, y_val=y_val)


def weights(name, message, given):
    message = "cannot use sample_weight: " + message
    return case(f"weights {name}", message, sample_weight=given)


FIT_CASES = [
    case("X_val alone", f"{TOGETHER}X_val. Pass y_val", X_val=GOOD_X),
    case("y_val alone", f"{TOGETHER}y_val. Pass X_val", y_val=GOOD_Y),
    validation(
        "other columns", r"X_val with samples of shape \(2,.*\(3,", GOOD_X[:, :2]
    ),
    validation("other dimensions", "X_val|2D|shape", GOOD_X[:, :, None]),
    validation("1-d", "2D", GOOD_X[0], GOOD_Y[:3]),
    validation("a string", "2D|X_val", "samples"),
    validation("NaN", "X_val contains NaN", with_value(np.nan)),
    validation("text", "X_val|convert string|numeric", filled("a")),
    validation("nothing", r"0 sample\(s\)|X_val", GOOD_X[:0], GOOD_Y[:0]),
    validation("other length", LENGTH + r": \[11, 12\]", GOOD_X[1:]),
    validation("other classes", "classes 0, 1, " + NOT_AMONG + "2", y_val=GOOD_Y + 1),
    validation("another type", NOT_AMONG, y_val=GOOD_Y.astype(str)),
    validation("None", "y_val contains missing", y_val=labels(0, None, dtype=object)),
    validation("2-d labels", "1-D y_val", y_val=np.eye(2)[GOOD_Y]),
    validation("a scalar", "1-D y_val", y_val=1),
    validation("fractions", "y_val contains fractional", y_val=GOOD_Y + 0.5),
    case("y_true of other length", LENGTH, y_true=GOOD_Y[1:]),
    case(
        "y_true of strings",
        "no label in y_true that y has.*'0', '1'",
        y_true=GOOD_Y.astype(str),
    ),
    case("y_true with NaN", "y_true contains missing", y_true=labels(0, 1, np.nan)),
    case("y_true 2-d", "1-D y_true", y_true=np.eye(2)[GOOD_Y]),
    case("y_true a string", "1-D y_true", y_true="labels"),
    case("y_true continuous", "y_true contains fractional", y_true=GOOD_Y + 0.5),
    weights("of other length", ".*11.*each of the 12 samples", np.ones(11)),
    weights("below zero", "Negative", -np.ones(12)),
    weights("of NaN", ".*NaN", labels(1.0, np.nan)),
    weights("infinite", ".*infinity", labels(1.0, np.inf)),
    weights("of zero", "Sample weights must contain .*not", np.zeros(12)),
    weights("2-d", "Sample weights must be 1D", np.ones((12, 1))),
    weights("as text", "could not convert", labels("a", "b")),
    case(
        "one class left",
        r"2 classes with a weight above 0, got \[1\]",
        sample_weight=GOOD_Y,
    ),
]

SHAPE = "features|shape|2D"
PREDICT_CASES = [
    case("None", "None|2D", X=None),
    case("string", SHAPE + "|" + NUMBERS, X="samples"),
    case("scalar", SHAPE, X=3.0),
    case("1-d", SHAPE, X=GOOD_X[0]),
    case("empty", r"0 sample\(s\)", X=GOOD_X[:0]),
    case("a column less", SHAPE, X=GOOD_X[:, 1:]),
    case("a column more", SHAPE, X=np.ones((4, 4))),
    case("no columns", r"0 feature\(s\)|features", X=GOOD_X[:, :0]),
    case("3-d", SHAPE, X=GOOD_X[:, :, None]),
    case("4-d", SHAPE, X=np.zeros((12, 3, 2, 2))),
    case("NaN", "X contains NaN", X=with_value(np.nan)),
    case("infinity", "X contains infinity", X=with_value(np.inf)),
    case("text", NUMBERS, X=filled("a")),
    case("complex", "Complex data", X=GOOD_X.astype(complex)),
    case("dates", "got dates", X=filled("2020-01-01", "M8[D]")),
    case("masked values", "masked values", X=np.ma.masked_array(GOOD_X, GOOD_X > 1)),
    case("objects", NUMBERS + "|float|dict", X=with_value({}, object)),
    case("ragged", "inhomogeneous|different|sequence", X=[[1.0, 2, 3], [1.0]]),
    case("dict", "parts|shape|dict", X={"a": GOOD_X}),
    case("generator", "2D|generator", X=generator()),
    case("function", "2D|function", X=len),
    case("sparse of other width", SHAPE, X=sparse.csr_array(GOOD_X[:, 1:])),
    case("list", Works(), X=GOOD_X.tolist()),
    case("float64", Works(), X=GOOD_X.astype(np.float64)),
    case("Fortran order", Works(), X=np.asfortranarray(GOOD_X)),
    case("other byte order", Works(), X=GOOD_X.astype(">f8")),
    case("negative strides", Works(), X=GOOD_X[::-1].copy()[::-1]),
    case("objects that are numbers", Works(), X=GOOD_X.astype(object)),
    case("sparse", Works(), X=sparse.csc_array(GOOD_X)),
]
