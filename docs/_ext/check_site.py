"""Check the built site: no dead link, no page out of reach, and a search that finds."""

import json
import re
import shutil
import subprocess
import sys
from collections import deque
from pathlib import Path

from check_links import addresses_of, dead_links, pages_of
from snowballstemmer import stemmer

#: What users look for, and must find on a page of the guide.
WORDS = [
    *("sparse", "sample_weight", "joblib", "skops", "ONNX", "mlflow", "TensorBoard"),
    *("collate", "pretrained", "freeze", "interrupt", "polars", "calibration"),
]
#: What users ask, and the page that the search is to show first.
QUESTIONS = {
    "custom module": "your-own-network",
    "own network": "your-own-network",
    "which classifier": "choosing",
    "choose a method": "choosing",
    "cite": "cite",
    "bibtex": "cite",
    "find wrong labels": "audit",
    "label audit": "audit",
    "save a model": "persistence",
    "resume a fit": "scale",
    "early stopping": "stop-rules",
    "stop rules": "stop-rules",
    "class_weight": "imbalance",
    "rare class": "imbalance",
    "inject label noise": "noise",
    "cleanlab": "comparison",
    "random_state": "reproducibility",
    "pitfalls": "pitfalls",
    "benchmarks": "benchmarks",
    "PrestoppingClassifier": "reference/skpresto.PrestoppingClassifier",
}
#: From the first page to any other one.
MOST_CLICKS = 3


def search(site: Path, word: str) -> list[str]:
    """Return the pages that the search of the site finds for a word."""
    script = (site / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(script[script.index("{") : script.rindex("}") + 1])
    stem = stemmer("english").stemWord(word.lower())
    numbers: set[int] = set()
    for terms in (index["terms"], index["titleterms"]):
        for term in {stem, word.lower()} & terms.keys():
            found = terms[term]
            numbers |= {found} if isinstance(found, int) else set(found)
    return sorted(index["docnames"][number] for number in numbers)


def shown_first(site: Path, queries: list[str]) -> list[str]:
    """Return the page that the search of the site shows first for each query."""
    script = Path(__file__).with_name("search.js")
    command = ["node", str(script), str(site), *queries]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    return ended.stdout.splitlines()


def wrong_statements(site: Path) -> list[str]:
    """Return what the first page says of the live report that is not on the report."""
    said = json.loads((site / "digits-audit.json").read_text(encoding="utf-8"))
    page = (site / "digits-audit.html").read_text(encoding="utf-8")
    body = page[page.index("<body") :]
    shown = set(re.findall(r"[\d,]*\d", re.sub(r"<[^>]+>", " ", body)[:4000]))
    stated = [said["n_labels"], said["n_suspects"], *said["n_expected"].split()[:1]]
    return [number for number in stated if number not in shown]


def clicks(site: Path) -> dict[Path, int]:
    """Return how many clicks each page is away from the first one."""
    first = site / "index.html"
    away = {first: 0}
    queue = deque([first])
    while queue:
        page = queue.popleft()
        for target in addresses_of(page):
            if target not in away and target.suffix == ".html" and target.exists():
                away[target] = away[page] + 1
                queue.append(target)
    return away


def main(arguments: list[str]) -> int:
    """Print what is wrong with a site; return 1 if anything is."""
    site = Path(arguments[0]).resolve()
    problems = [f"{path}: {where} does not exist" for path, where in dead_links(site)]
    away = clicks(site)
    problems += [
        f"{page.relative_to(site)}: more than {MOST_CLICKS} clicks"
        for page in pages_of(site)
        if away.get(page, MOST_CLICKS + 1) > MOST_CLICKS
    ]
    problems += [f"the live report does not say {n}" for n in wrong_statements(site)]
    found = {word: search(site, word) for word in WORDS}
    problems += [f"the search does not find {w!r}" for w, p in found.items() if not p]
    if shutil.which("node"):
        first = dict(zip(QUESTIONS, shown_first(site, list(QUESTIONS)), strict=True))
        problems += [
            f"the search shows {first[query]!r} first for {query!r}, not {page!r}"
            for query, page in QUESTIONS.items()
            if first[query] != page
        ]
    else:
        print("node is not installed: not tried what the search shows first")
    print("\n".join(problems))
    print(
        f"{len(pages_of(site))} pages, at most {max(away.values())} clicks away; "
        f"{len(found)} words found on {min(map(len, found.values()))} pages or more; "
        f"{len(problems)} problems"
    )
    return min(len(problems), 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
