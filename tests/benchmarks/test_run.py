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
    monkeypatch.setattr(accuracy.run, "measure", measure)
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


def test_smoke_preset_runs_end_to_end(accuracy, methods, run, path, capsys):
    assert run("--methods", *methods) == 0
    found = accuracy.results.read(path)
    wanted = [c for c in accuracy.presets.smoke().cells if c.method in methods]
    assert set(found) == set(wanted)
    for result in found.values():
        assert result["error_best_test"] <= result["error_last"] <= 1
        assert result["error_best_test"] <= result["error_best_validation"]
        assert result["seconds"] > 0
        assert result["versions"]["torch"]
        is_limit = result["method"] == "clean subset"
        assert (result["safe_precision"] is None) == is_limit
        is_stopping = accuracy.contenders.METHODS[result["method"]].takes_rule
        assert (result["stop_epoch"] is not None) == is_stopping
    summary = accuracy.summary.Summary(found.values())
    for part in accuracy.tables.PARTS:
        assert list(part(summary))


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


def test_an_interrupt_keeps_finished_cells(accuracy, fake, run, path, monkeypatch):
    def interrupt(cell, setting):
        if len(fake.ran) == 3:
            raise KeyboardInterrupt
        return fake(cell, setting)

    monkeypatch.setattr(accuracy.run, "measure", interrupt)
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
