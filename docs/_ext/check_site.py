"""Check the built site: no dead link, no page out of reach, and a search that finds."""

import json
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
    found = {word: search(site, word) for word in WORDS}
    problems += [f"the search does not find {w!r}" for w, p in found.items() if not p]
    print("\n".join(problems))
    print(
        f"{len(pages_of(site))} pages, at most {max(away.values())} clicks away; "
        f"{len(found)} words found on {min(map(len, found.values()))} pages or more; "
        f"{len(problems)} problems"
    )
    return min(len(problems), 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
