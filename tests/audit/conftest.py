"""Reports to look at, a browser, and the closing of all figures after each test."""

import os
import shutil

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from skpresto import PrestoppingClassifier
from skpresto.audit import LabelReport
from tests.discovery import quick

mpl.use("Agg")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def animals(noisy_blobs):
    """Samples with an index, labels by name, and the true labels."""
    X, y, y_true = noisy_blobs
    names = np.array(["ant", "bee", "=cat", "<b>dog"])
    index = pd.Index(np.arange(len(y)) + 1000, name="animal")
    frame = pd.DataFrame(X, columns=["width", "height"], index=index)
    return frame, pd.Series(names[y], index=index), names[y_true]


@pytest.fixture
def fitted(animals):
    X, y, _ = animals
    return quick(PrestoppingClassifier).fit(X, y)


@pytest.fixture
def report(fitted, animals):
    X, y, _ = animals
    return LabelReport.from_estimator(fitted, X, y)


@pytest.fixture
def probabilities():
    """Out-of-fold probabilities of three classes, and labels of which some are odd."""
    rng = np.random.RandomState(0)
    y = rng.randint(3, size=120)
    scores = rng.normal(size=(120, 3)) + 3 * np.eye(3)[y]
    probability = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    y[:12] = (y[:12] + 1) % 3
    return probability, y


FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def chromium_of(playwright):
    """Return an installed Chromium, or the one that playwright has downloaded."""
    names = ("chromium", "chromium-browser", "google-chrome")
    installed = next(filter(None, map(shutil.which, names)), None)
    own = playwright.chromium.executable_path
    return installed or (own if os.path.exists(own) else None)


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: make test-browser"
    )
    with sync_api.sync_playwright() as playwright:
        path = chromium_of(playwright)
        if path is None:
            pytest.skip("no Chromium is installed: make test-browser")
        started = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def new_page(browser):
    """Opens pages in which any error, and any request beyond the file, is a failure."""
    contexts, problems = [], []

    def new(**options):
        contexts.append(browser.new_context(accept_downloads=True, **options))
        contexts[-1].set_default_timeout(120_000)  # on machines that are busy
        opened = contexts[-1].new_page()
        opened.on("pageerror", lambda error: problems.append(str(error)))
        opened.on("console", lambda message: problems.append(message.text))
        opened.on("request", lambda request: problems.extend(beyond_the_file(request)))
        return opened

    yield new
    for context in contexts:
        context.close()
    assert problems == []


def beyond_the_file(request):
    return [request.url] * (not request.url.startswith(("file:", "data:", "blob:")))


@pytest.fixture
def page(new_page):
    return new_page()
