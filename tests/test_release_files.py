"""Files for releases and contributors agree with each other and with the package."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

import skpresto

ROOT = Path(__file__).parents[1]
YAML = sorted([*ROOT.glob(".github/**/*.yml"), ROOT / ".pre-commit-config.yaml"])
WORKFLOWS = sorted(ROOT.glob(".github/workflows/*.yml"))


def read(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", YAML, ids=lambda path: path.name)
def test_yaml_can_be_read(path):
    assert isinstance(read(path), dict)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_have_jobs_with_steps(path):
    workflow = read(path)
    assert {"name", "jobs", "permissions"} <= set(workflow)
    assert workflow[True]  # "on" is a boolean in YAML 1.1
    for job in workflow["jobs"].values():
        assert job["runs-on"]
        assert all(("uses" in step) != ("run" in step) for step in job["steps"])


def test_workflows_cover_systems_versions_and_lowest_versions():
    jobs = read(ROOT / ".github/workflows/tests.yml")["jobs"]
    matrix = jobs["tests"]["strategy"]["matrix"]
    systems = {name.partition("-")[0] for name in matrix["os"]}
    assert systems == {"ubuntu", "macos", "windows"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    classifiers = " ".join(project["project"]["classifiers"])
    assert set(re.findall(r"3\.\d+", classifiers)) <= set(matrix["python"])
    assert any(
        "tox -e oldest" in step.get("run", "") for step in jobs["oldest"]["steps"]
    )


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_hash(path):
    jobs = read(path)["jobs"].values()
    used = [step["uses"] for job in jobs for step in job["steps"] if "uses" in step]
    assert used
    assert all(re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}", action) for action in used)


def test_a_release_needs_no_password():
    jobs = read(ROOT / ".github/workflows/release.yml")["jobs"]
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert jobs["publish"]["needs"] == "build"
    assert {"run": "make dist"} in jobs["build"]["steps"]
    text = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    assert "secrets." not in text


def test_targets_that_workflows_make_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    made = set()
    for path in WORKFLOWS:
        for line in re.findall(r"run: make (.+)", path.read_text(encoding="utf-8")):
            made |= set(line.split())
    assert {"docs", "dist", "lint"} <= made <= targets


def test_the_version_to_cite_is_that_of_the_package():
    citation = read(ROOT / "CITATION.cff")
    assert citation["version"] == skpresto.__version__


def test_the_page_on_citing_names_the_authors_to_cite():
    paper = read(ROOT / "CITATION.cff")["preferred-citation"]
    page = (ROOT / "docs" / "cite.md").read_text(encoding="utf-8")
    assert paper["title"] in page
    authors = [f"{a['family-names']}, {a['given-names']}" for a in paper["authors"]]
    assert " and ".join(authors) in page


def test_hooks_use_the_tools_of_the_environment():
    (local,) = read(ROOT / ".pre-commit-config.yaml")["repos"]
    assert local["repo"] == "local"
    commands = [hook["entry"].split()[:2] for hook in local["hooks"]]
    assert commands == [["ruff", "check"], ["ruff", "format"]]


def test_every_package_is_pinned_once():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()[1:]
    names = [line.partition("==")[0] for line in lines]
    assert len(names) == len(set(names))


def test_issue_forms_ask_for_what_is_needed():
    for path in ROOT.glob(".github/ISSUE_TEMPLATE/[!c]*.yml"):
        form = read(path)
        assert form["name"]
        assert form["description"]
        ids = [part["id"] for part in form["body"]]
        assert len(ids) == len(set(ids))


def test_the_oldest_versions_that_are_tested_are_those_declared():
    """torch is left out: its oldest version is tried by hand, since it is large."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    names = ("audit", "plot", "images", "parquet", "test")
    declared = [*project["dependencies"], *(r for name in names for r in extras[name])]
    pins = re.findall(r"^    ([\w-]+)==([\d.]+)$", (ROOT / "tox.ini").read_text(), re.M)
    tested = {name: Version(version) for name, version in pins}
    for requirement in map(Requirement, declared):
        if requirement.name not in ("torch", "mypy", "ruff"):
            [bound] = requirement.specifier
            assert bound.operator == ">="
            assert tested[requirement.name] == Version(bound.version), requirement


def test_what_is_installed_without_torch_is_what_is_documented():
    """The audit needs all of its extra but what Parquet files and images need."""
    tox = (ROOT / "tox.ini").read_text().partition("[testenv:light]")[2]
    names = re.findall(r"^    (\w[\w-]*)$", tox.partition("commands")[0], re.MULTILINE)
    page = (ROOT / "docs" / "audit.md").read_text(encoding="utf-8")
    assert f"pip install {' '.join(names)} " in page
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extra = {Requirement(r).name for r in project["optional-dependencies"]["audit"]}
    assert {*names} == extra - {"pyarrow", "pillow"} | {"scikit-learn"}
