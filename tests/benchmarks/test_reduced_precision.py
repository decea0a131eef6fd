from sklearn.utils import Bunch


def test_a_line_of_the_table_has_paired_differences(accuracy):
    script = accuracy.reduced_precision
    pairs = [script.Pair(0.20, 0.21), script.Pair(0.30, 0.33)]
    assert script.row("set", pairs) == "| set | 25.00 | 27.00 | +2.00 ± 1.00 | 2 |"


def test_both_precisions_get_the_same_rows_and_seeds(accuracy, monkeypatch):
    script, calls = accuracy.reduced_precision, []

    def measure(cell, setting, autocast):
        calls.append((cell, setting, autocast))
        return 0.5

    monkeypatch.setattr(script, "measure", measure)
    lines = list(
        script.table(script.DATA, script.METHODS, [3, 4], {"epochs": 1, "rows": 10})
    )
    assert len(lines) == 2 + len(script.DATA) * len(script.METHODS)
    assert [call[2] for call in calls] == [None, "bfloat16"] * (len(calls) // 2)
    assert [c[:2] for c in calls[::2]] == [c[:2] for c in calls[1::2]]
    assert {cell.seed for cell, *_ in calls} == {3, 4}


def test_a_fit_is_measured_in_reduced_precision(accuracy, monkeypatch):
    script, made = accuracy.reduced_precision, []
    split = Bunch(X="X", y="y", X_test="T", y_test="t", noise_rate=0.4)

    class Classifier:
        def set_params(self, **params):
            made.append(params)

        def fit(self, X, y):
            made.append((X, y))

        def score(self, X, y):
            return 0.75

    monkeypatch.setattr(script, "split_of", lambda cell, setting: split)
    monkeypatch.setattr(script, "classifier_of", lambda *args: Classifier())
    assert script.measure("cell", "setting", "bfloat16") == 0.25
    assert made == [{"autocast": "bfloat16"}, ("X", "y")]
