"""What users type to find a page, beside the words of its title."""

from sphinx import addnodes

#: Entries of the index, which the search of the site ranks before words of the text.
PHRASES = {
    "choosing": ("which classifier", "which method", "how to choose"),
    "your-own-network": (
        "custom module",
        "own network",
        "own module",
        "nn.Module",
        "callbacks",
    ),
    "cite": ("citation", "how to cite", "bibtex"),
    "audit": (
        "label audit",
        "find wrong labels",
        "find label errors",
        "command line",
        "review page",
        "Label Studio",
        "Argilla",
        "FiftyOne",
        "without torch",
    ),
    "label-quality": ("label_quality_", "safe_mask_"),
    "data": ("input data", "DataFrame", "sparse matrix", "images"),
    "imbalance": ("class_weight", "sample_weight", "rare class", "imbalanced classes"),
    "scale": ("resume a fit", "several processes", "large data", "out of memory"),
    "persistence": ("save a model", "load a model", "export to ONNX", "pickle"),
    "stop-rules": ("early stopping", "stop rule", "stop point"),
    "noise": ("inject label noise", "add label noise", "synthetic noise"),
    "speed": ("how fast", "training time"),
    "reproducibility": ("random_state", "same results", "seed"),
    "comparison": ("cleanlab", "skorch", "alternatives"),
    "datasets": ("CIFAR-10N", "load data sets", "benchmark data"),
    "plots": ("draw figures", "transition matrix plot"),
    "recipes": ("how to", "grid search", "calibrate"),
}


def add_phrases(app, document):
    """Enter the phrases of a page into the index."""
    entries = [
        # "main" entries come before other results
        ("single", phrase, "", "main", None)
        for phrase in PHRASES.get(app.env.docname, ())
    ]
    if entries and len(document.children):
        document.children[0].insert(0, addnodes.index(entries=entries, inline=False))
