import pytest


def test_a_line_of_the_table_has_paired_differences(accuracy):
    line = accuracy.reduced_precision.line("set", [(0.20, 0.21), (0.30, 0.33)])
    assert line == "| set | 25.00 | 27.00 | +2.00 ± 1.00 | 2 |"


@pytest.mark.filterwarnings("error")
def test_both_precisions_get_the_same_rows_and_seeds(accuracy, monkeypatch):
    script, calls = accuracy.reduced_precision, []
    measure = script.measure

    def watched(*call):
        calls.append(call)
        return measure(*call)

    monkeypatch.setattr(script, "measure", watched)
    monkeypatch.setattr(script, "DATA", {"digits": ("pair", 0.4)})
    setting = {"epochs": 1, "rows": 300, "test_rows": 60}
    lines = list(script.table(["digits"], script.METHODS, [3, 4], setting))
    assert len(lines) == 2 + len(script.METHODS)
    assert [call[2] for call in calls] == [None, "bfloat16"] * 4
    assert [c[:2] for c in calls[::2]] == [c[:2] for c in calls[1::2]]
    assert {cell.seed for cell, *_ in calls} == {3, 4}
