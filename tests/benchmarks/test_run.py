import json

import pytest


@pytest.fixture
def fake(accuracy, monkeypatch):
    """Replace fits by a list of the cells that would have been run."""
    ran = []

    def measure(cell, setting):
        if cell.method in measure.broken:
            raise RuntimeError("failed on purpose")
        ran.append(cell)
        return {**vars(cell), **setting.fingerprint, "error_last": 0.5}

    measure.broken, measure.ran = set(), ran
    monkeypatch.setitem(accuracy.run.MEASURES, "accuracy", measure)
    return measure


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results" / "smoke.jsonl"


@pytest.fixture
def run(accuracy, path):
    def run(*arguments):
        options = ["--preset", "smoke", "--jobs", "1", "--results", str(path)]
        return accuracy.run.main([*options, *arguments])

    return run


#: Methods that would take several seconds; they are tested with fewer rows.
SLOW = ("HistGradientBoosting", "CleanLearning of HistGradientBoosting")


#: Stop rules that are given the true noise rate.
USE_RATE = ("noise rate", "memorized fraction")


def test_smoke_preset_runs_end_to_end(accuracy, run, path):
    known = accuracy.contenders.METHODS.items()
    methods = [n for n, m in known if m.is_available and n not in SLOW]
    assert run("--methods", *methods) == 0
    found = accuracy.results.read(path)
    wanted = [c for c in accuracy.presets.smoke().cells if c.method in methods]
    assert set(found) == set(wanted)
    for result in found.values():
        method = accuracy.contenders.METHODS[result["method"]]
        has_epochs = method.is_network and method.has_curve and method.n_members == 1
        check_errors(result, has_epochs)
        assert result["seconds"] > 0
        assert result["cpu_seconds"] > 0
        assert result["versions"]["torch"]
        is_limit = result["method"] == "clean subset"
        has_safe_set = method.is_network and not is_limit
        assert (result["safe_precision"] is not None) == has_safe_set
        has_quality = has_safe_set and result["noise"] != "clean"
        for metric in accuracy.ranking.METRICS:
            assert (result[metric] is not None) == has_quality
        with_rule = *accuracy.rivals.PRICES, "MORPH"
        has_rule = method.takes_rule or result["method"] in with_rule
        is_stopping = has_rule and method.n_members == 1
        assert (result["stop_epoch"] is not None) == is_stopping
        is_given = "noise_rate" in str(result["params"])
        assert is_given == (method.takes_rate or result["rule"] in USE_RATE)
    fits = accuracy.fits.read_fits(path)
    for part in accuracy.tables.PARTS:
        assert list(part(fits))


def check_errors(result, has_epochs):
    assert 0 <= result["error_last"] <= 1
    if has_epochs:
        assert result["error_best_test"] <= result["error_last"]
        assert result["error_best_test"] <= result["error_best_validation"]
    else:
        assert result["error_best_test"] is None
        assert result["error_best_validation"] is None


def test_further_scores_are_those_of_the_same_fit(accuracy, run, path):
    names = ["Default", "CleanLearning"]
    missing = [n for n in names if not accuracy.contenders.METHODS[n].is_available]
    if missing:
        pytest.skip("needs cleanlab")
    run("--only", "digits", "pair", "--methods", *names)
    default, cleaned = accuracy.results.read(path).values()
    assert set(default["scores"]) == {"aum", "log_margin"}
    assert set(cleaned["scores"]) == set(accuracy.out_of_fold.CLEANLAB_SCORES)
    own = {name: cleaned[name] for name in accuracy.ranking.METRICS}
    assert cleaned["scores"]["self_confidence"] == own
    assert cleaned["scores"]["normalized_margin"] != own


def test_finished_cells_are_not_run_again(fake, run):
    assert run() == 0
    n_ran = len(fake.ran)
    assert run() == 0
    assert len(fake.ran) == n_ran > 20


def test_an_incomplete_line_is_dropped_and_its_cell_repeated(fake, run, path):
    run()
    content = path.read_bytes()
    path.write_bytes(content[:-30])
    fake.ran.clear()
    assert run() == 0
    assert len(fake.ran) == 1
    assert path.read_bytes() == content
    assert all(json.loads(line) for line in path.read_text().splitlines())


def test_cells_are_repeated_with_other_settings(accuracy, fake, run, path):
    run()
    lines = path.read_text().splitlines()
    first = json.loads(lines[0])
    path.write_text("\n".join([json.dumps(first | {"epochs": 99}), *lines[1:], ""]))
    fake.ran.clear()
    run()
    assert [c.method for c in fake.ran] == [first["method"]]
    repeated = accuracy.results.read(path)[fake.ran[0]]
    assert repeated["epochs"] == first["epochs"]


def test_a_failing_cell_does_not_stop_others_and_is_retried(fake, run, capsys):
    fake.broken.add("SELFIE")
    assert run() == 1
    error = capsys.readouterr().err
    assert "FAILED method=SELFIE | data=digits" in error
    assert "failed on purpose" in error
    assert "2 cells failed; run the same command" in error
    n_ran = len(fake.ran)
    fake.broken.clear()
    assert run() == 0
    assert [c.method for c in fake.ran[n_ran:]] == ["SELFIE", "SELFIE"]


def test_a_method_that_is_not_installed_fails_alone(accuracy, run, path, monkeypatch):
    methods = accuracy.contenders.METHODS
    missing = methods["ELR"]._replace(classifier="skpresto.baselines:NoSuchClassifier")
    monkeypatch.setitem(methods, "ELR", missing)
    assert not missing.is_available
    assert run("--only", "pair", "--methods", "ELR", "Default") == 1
    assert [c.method for c in accuracy.results.read(path)] == ["Default"]


@pytest.fixture
def run_on_digits(accuracy, path, monkeypatch):
    """Return a function that runs cells on digits, and returns their results."""

    def run(measures, *cells):
        preset = accuracy.grids.preset_of(accuracy.settings.SMOKE, cells, measures)
        monkeypatch.setitem(accuracy.run.PRESETS, measures, lambda: preset)
        options = ["--preset", measures, "--jobs", "1", "--results", str(path)]
        assert accuracy.run.main(options) == 0
        return accuracy.results.read(path).values()

    return run


DIGITS = "digits", ("pair", 0.4)


def test_the_preset_cost_measures_times_only(accuracy, run_on_digits):
    cell = accuracy.grids.cell_of("Prestopping", DIGITS, 0)
    (result,) = run_on_digits("cost", cell)
    assert len(result["cpu_seconds"]) == len(result["default_cpu_seconds"]) == 2
    ratio = min(result["cpu_seconds"]) / min(result["default_cpu_seconds"])
    assert result["cost"] == ratio > 0
    assert "error_last" not in result


def test_the_preset_quality_measures_scores_of_labels(
    accuracy, run_on_digits, path, capsys
):
    expected = {
        "Default": {"label_agreement_", "label_quality_", "aum", "log_margin"},
        "Prestopping": {"label_agreement_", "label_quality_"},
    }
    if accuracy.contenders.METHODS["CleanLearning"].is_available:
        expected["CleanLearning"] = set(accuracy.out_of_fold.CLEANLAB_SCORES)
    cells = [accuracy.grids.cell_of(method, DIGITS, 0) for method in expected]
    found = run_on_digits("quality", *cells)
    assert {r["method"]: set(r["scores"]) for r in found} == expected
    for result in found:
        for score in result["scores"].values():
            assert result["noise_rate"] < score["average_precision"] <= 1
            assert 0.5 < score["auroc"] <= 1
    capsys.readouterr()
    assert accuracy.quality_table.main([str(path)]) == 0
    shown = capsys.readouterr().out
    assert "| Prestopping: `label_quality_` |" in shown
    assert shown.count("| digits, pair 40 % | ") == len(accuracy.ranking.METRICS)


def test_an_interrupt_keeps_finished_cells(accuracy, fake, run, path, monkeypatch):
    def interrupt(cell, setting):
        if len(fake.ran) == 3:
            raise KeyboardInterrupt
        return fake(cell, setting)

    monkeypatch.setitem(accuracy.run.MEASURES, "accuracy", interrupt)
    assert run() == 130
    assert len(accuracy.results.read(path)) == 3


def test_data_noise_method_and_seed_can_be_chosen(fake, run, capsys):
    run("--only", "digits", "clean", "--methods", "Default", "Prestopping")
    assert {c.noise for c in fake.ran} == {"clean"}
    assert {c.method for c in fake.ran} == {"Default", "Prestopping"}
    run("--seeds", "0")
    assert "0 of 0 cells" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="--only must be names among .*; got lettre"):
        run("--only", "lettre")
