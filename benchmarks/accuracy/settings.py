"""How networks are trained on each data set, by preset."""

from cells import Setting

SMOKE = {"digits": Setting("digits", epochs=4, rows=600, seconds=0.1)}


def _images(source: str, seconds: float) -> Setting:
    """Return a setting for images that two cores can train on."""
    module = "SmallCNN on halved images"
    return Setting(
        source, epochs=30, rows=1500, test_rows=1000, module=module, seconds=seconds
    )


LAPTOP = {
    "letter": Setting("letter", epochs=30, rows=8000, seconds=5),
    "satimage": Setting("satimage", epochs=40, seconds=4),
    "cifar10n_feat": Setting("cifar10n_feat", epochs=25, seconds=12),
    "music_genre": Setting("music_genre", epochs=60, seconds=2),
    "yoruba_news": Setting("yoruba_news", epochs=60, seconds=3),
    "youtube_weak": Setting("youtube_weak", epochs=60, seconds=3),
    "fashion_mnist": _images("fashion_mnist", seconds=9),
    "cifar10n": _images("cifar10n", seconds=12),
}

#: As many rows of letter as in the experiments of CTRL.
ALL_OF_LETTER = {"letter, all rows": Setting("letter", epochs=30, seconds=9)}


def _paper_setting(source: str, module: str) -> Setting:
    return Setting(source, epochs=120, module=module, device="cuda", seconds=3600)


PAPER = {
    f"{source} {module}": _paper_setting(source, module)
    for source in ("cifar10", "cifar100", "animal10n", "food101n")
    for module in ("DenseNet", "VGG19")
}
