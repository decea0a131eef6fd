"""Embeddings with labels in another file, beside them, or as folders of images."""

import re

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from skpresto.audit._sources import Wishes, read_table, read_with_labels
from skpresto.audit._sources.base import scaled
from skpresto.audit._sources.probabilities import ProbabilitySource
from skpresto.cli import main

N = 60


@pytest.fixture(autouse=True)
def in_own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def made(tmp_path):
    """Embeddings of two groups, one label per row, and ids in no order."""
    rng = np.random.RandomState(0)
    y = rng.randint(2, size=N)
    embeddings = (rng.normal(size=(N, 8)) + 3 * y[:, None]).astype(np.float32)
    table = pd.DataFrame(
        {
            "id": [f"im-{i}" for i in rng.permutation(N)],
            "caption": [f"a photo of number {i}, taken at {i % 7}" for i in range(N)],
            "kind": np.array(["cat", "dog"])[y],
        }
    )
    table.to_csv("y.csv", index=False)
    return embeddings, table


def read(path="e.npy", labels="y.csv", label="kind", **wishes):
    from pathlib import Path

    wanted = Wishes(**wishes)
    return read_with_labels(Path(path), Path(labels), label=label, wishes=wanted)


def write(ending, embeddings, table, order=None):
    order = np.arange(N) if order is None else order
    if ending == "npy":
        np.save("e.npy", embeddings[order])
    elif ending == "npz":
        ids = table["id"].to_numpy().astype(str)[order]
        np.savez("e.npz", embeddings=embeddings[order], ids=ids)
    elif ending == "parquet":
        frame = pd.DataFrame({"id": table["id"], "vector": list(embeddings)})
        frame.iloc[order].to_parquet("e.parquet")
    else:
        pd.DataFrame(embeddings[order]).add_prefix("d").to_csv("e.csv", index=False)


@pytest.mark.parametrize("ending", ["npy", "npz", "parquet", "csv"])
def test_files_of_embeddings_are_read(ending, made):
    embeddings, table = made
    write(ending, embeddings, table)
    source = read(f"e.{ending}", text="caption")
    np.testing.assert_allclose(source.embeddings, embeddings, rtol=1e-5)
    assert source.labels.tolist() == table["kind"].tolist()
    assert source.row_names()[3] == f"{table['id'][3]} · row 3"
    assert (source.kind, source.label_name) == ("table", "kind")
    assert source.view().text_name == "caption"
    assert source.features(0).var(axis=0).mean() == pytest.approx(1, rel=1e-3)


@pytest.mark.parametrize("ending", ["npz", "parquet"])
def test_ids_match_embeddings_and_labels_in_any_order(ending, made):
    embeddings, table = made
    order = np.random.RandomState(1).permutation(N)
    write(ending, embeddings, table, order)
    np.testing.assert_array_equal(read(f"e.{ending}").embeddings, embeddings)
    table.iloc[::2].to_csv("y.csv", index=False)
    np.testing.assert_array_equal(read(f"e.{ending}").embeddings, embeddings[::2])
    declared = read(f"e.{ending}", ids=["id"])
    np.testing.assert_array_equal(declared.embeddings, embeddings[::2])


def test_ids_may_be_numbers(made):
    embeddings, table = made
    np.savez("e.npz", features=embeddings[::-1], ids=np.arange(N)[::-1])
    table["id"] = np.arange(N, dtype=float)
    table.to_csv("y.csv", index=False)
    np.testing.assert_array_equal(read("e.npz").embeddings, embeddings)


def test_columns_of_lists_are_embeddings(made, tmp_path):
    embeddings, table = made
    table = table.assign(vector=list(embeddings), more=list(embeddings[:, :2]))
    table["tags"] = [["a"], ["b"]] * (N // 2)
    table.to_parquet("t.parquet")
    source = read_table(tmp_path / "t.parquet", "kind")
    assert source.embeddings.shape == (N, 10)
    assert list(source.frame.columns) == ["caption"]
    assert source.names[0] == table["id"][0]
    assert source.notes == [
        "Trained on the embeddings of columns 'vector', 'more'; other columns are only "
        "shown."
    ]
    some = read_table(tmp_path / "t.parquet", "kind", wishes=Wishes(ignore=["more"]))
    assert some.embeddings.shape == (N, 8)


@pytest.mark.parametrize("comma", [", ", " "])
def test_lists_that_are_written_as_text_are_embeddings(comma, made, tmp_path):
    embeddings, table = made
    texts = [f"[{comma.join(map(str, row.tolist()))}]" for row in embeddings]
    table.assign(vector=texts, tags=["[1, 2]"] * N).to_csv("t.csv", index=False)
    source = read_table(tmp_path / "t.csv", "kind")
    np.testing.assert_allclose(source.embeddings, embeddings, rtol=1e-6)


def test_lists_of_tags_are_no_embeddings(made, tmp_path):
    _, table = made
    table = table.assign(tags=[[i, 2, 3][: 1 + i % 3] for i in range(N)])
    table.assign(x=np.random.RandomState(0).normal(size=N)).to_parquet("t.parquet")
    source = read_table(tmp_path / "t.parquet", "kind")
    assert source.embeddings is None
    assert "Column 'tags' is not trained on: nested or binary values." in source.notes


def test_rows_without_label_or_embedding_are_left_out(made):
    embeddings, table = made
    embeddings[4], embeddings[9] = np.nan, np.inf
    table.loc[2, "kind"] = None
    table.to_csv("y.csv", index=False)
    np.save("e.npy", embeddings)
    source = read()
    assert source.rows.tolist() == [i for i in range(N) if i not in (2, 4, 9)]
    assert len(source.embeddings) == len(source.names) == len(source.frame) == N - 3
    reason = "its embedding is missing, or has NaN or infinity"
    assert source.left_out == [
        ("row 2", "no label"),
        (f"{table['id'][4]} · row 4", reason),
        (f"{table['id'][9]} · row 9", reason),
    ]
    vectors = list(embeddings)
    vectors[7] = None
    table.assign(v=vectors).to_parquet("t.parquet")
    from pathlib import Path

    assert 7 not in read_table(Path("t.parquet"), "kind").rows


def test_what_numbers_are_is_told_by_their_sums_and_names(made):
    embeddings, _ = made
    probabilities = np.tile([0.3, 0.7], (N, 1))
    np.save("e.npy", probabilities)
    assert isinstance(read(), ProbabilitySource)
    np.savez("e.npz", embeddings=probabilities)
    assert read("e.npz").embeddings.shape == (N, 2)
    np.savez("e.npz", pred_proba=probabilities, more=embeddings)
    assert isinstance(read("e.npz"), ProbabilitySource)


def image_folder(root):
    for i in range(12):
        folder = root / "photos" / ("day" if i % 2 else "night")
        folder.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (9, 9), (200 * (i % 2), i, 9)).save(folder / f"{i}.png")
    return [f"{'day' if i % 2 else 'night'}/{i}.png" for i in range(12)]


def test_embeddings_of_a_folder_of_images(tmp_path):
    names = image_folder(tmp_path)
    embeddings = np.random.RandomState(0).normal(size=(12, 5))
    np.savez("e.npz", embeddings=embeddings, ids=names)
    source = read("e.npz", "photos", None)
    assert source.kind == "images"
    order = [names.index(name) for name in source.row_names()]
    np.testing.assert_array_equal(source.embeddings, embeddings[order].astype("f4"))
    np.save("e.npy", embeddings)  # in the order of the names
    np.testing.assert_array_equal(
        read("e.npy", "photos", None).embeddings, embeddings.astype("f4")
    )


def test_images_of_a_column_are_shown_beside_the_rest(tmp_path, made, capsys):
    names = image_folder(tmp_path)
    rng = np.random.RandomState(0)
    table = pd.DataFrame(
        {
            "file": [f"photos/{names[i % 12]}" for i in range(N)],
            "size": rng.normal(size=N),
            "kind": rng.choice(["a", "b"], N),
        }
    )
    table.to_csv("t.csv", index=False)
    arguments = ["audit", "t.csv", "--label", "kind", "--quick", "--image", "file"]
    assert main([*arguments, "--epochs", "3"]) == 0
    page = (tmp_path / "t-audit.html").read_text(encoding="utf-8")
    assert "data:image/png;base64," in page
    assert '"features":[[[' in page
    (tmp_path / "photos" / names[0]).write_bytes(b"no image")
    assert main([*arguments, "--epochs", "3", "--force"]) == 0
    table.loc[3, "file"] = "photos/none.png"
    table.to_csv("t.csv", index=False)
    assert main([*arguments, "--force"]) == 1
    assert "names 1 images that are not there, such as" in capsys.readouterr().err


def test_columns_keep_their_relative_variances_unless_one_is_huge():
    rng = np.random.RandomState(0)
    scale = np.array([1, 2, 0.5, 1, 1, 1e5, 0], dtype=np.float32)
    found = scaled(rng.normal(5, 1, (500, 7)).astype(np.float32) * scale)
    assert found[:, 1].std() / found[:, 0].std() == pytest.approx(2, rel=0.1)
    assert found[:, 5].std() / found[:, 0].std() == pytest.approx(30, rel=0.1)
    assert (found[:, 6] == 0).all()
    assert np.isfinite(scaled(np.ones((4, 2), dtype=np.float32))).all()


def save(**change):
    """Return a function that saves changed arrays."""

    def write(made):
        embeddings, table = made
        source = {"ids": table["id"].to_numpy(str)}
        arrays = {k: f(source.get(k, embeddings)) for k, f in change.items()}
        np.savez("e.npz", **arrays)

    return write


def same(values):
    return values


BAD = [
    ("one dimension", save(embeddings=lambda e: e[:, 0]), "array of shape .60,."),
    ("three dimensions", save(embeddings=lambda e: e[None]), "shape .1, 60, 8."),
    ("no columns", save(embeddings=lambda e: e[:, :0]), "shape .60, 0."),
    ("texts", save(embeddings=lambda e: e.astype(str)), "needs numbers, got"),
    ("two tables", save(a=same, b=same), "but has 2: 'a' of shape"),
    ("an empty archive", save(), "but has 0: it is empty"),
    (
        "fewer rows",
        save(embeddings=lambda e: e[1:]),
        "has 59 rows of embeddings, but y.csv has 60 labels. Both need one row per",
    ),
    ("only NaN", save(embeddings=lambda e: e * np.nan), "infinity in every"),
    ("few ids", save(embeddings=same, ids=lambda i: i[1:]), "needs one id per row"),
    (
        "other ids",
        save(embeddings=same, ids=lambda ids: np.char.add(ids, "x")),
        "no column of y.csv has only such ids. The columns are 'id', 'caption'. Pass",
    ),
    ("scores", save(a=lambda e: e[:, :2]), "sum to 1. Convert .* 'embeddings'"),
]


@pytest.mark.parametrize(
    ("write", "words"), [b[1:] for b in BAD], ids=[b[0] for b in BAD]
)
def test_embeddings_that_cannot_be_used_get_a_sentence(write, words, made, capsys):
    write(made)
    arguments = ["audit", "e.npz", "--labels", "y.csv", "--label", "kind"]
    assert main(arguments) == 1
    shown = capsys.readouterr().err
    assert re.search(words, shown), shown
    assert "Traceback" not in shown


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ("z", "1 of 60 ids of y.csv are not in e.npz, such as 'im-5'"),
        ("im-6", "e.npz has the id 'im-6' more than once"),
    ],
)
def test_declared_ids_have_to_be_there(other, words, made):
    save(embeddings=same, ids=lambda ids: np.where(ids == "im-5", other, ids))(made)
    with pytest.raises(ValueError, match=words):
        read("e.npz", ids=["id"])


def test_numbers_are_ids_only_if_they_are_called_so(made):
    embeddings, table = made
    frame = pd.DataFrame({"n": np.arange(N)[::-1], "v": list(embeddings), "w": 1})
    frame.to_parquet("e.parquet")
    table["rank"] = np.arange(N)
    table.to_csv("y.csv", index=False)
    np.testing.assert_array_equal(read("e.parquet").embeddings, embeddings)
    by_number = read("e.parquet", ids=["rank"]).embeddings
    np.testing.assert_array_equal(by_number, embeddings[::-1])


@pytest.mark.parametrize("wish", [{"ids": ["i"]}, {"text": "i"}, {"image": "i"}])
@pytest.mark.parametrize("labels", ["y.npy", "y.csv"])
def test_columns_have_to_be_there(wish, labels, made):
    np.save("e.npy", made[0])
    np.save("y.npy", made[1]["kind"].to_numpy(str))
    made[1][["kind"]].to_csv("y.csv", index=False)
    with pytest.raises(
        ValueError, match=f"{labels} has no column 'i'. It has no other"
    ):
        read(labels=labels, label=None, **wish)


def test_nothing_is_trained_on_beside_embeddings(made, tmp_path):
    np.save("e.npy", made[0])
    with pytest.raises(ValueError, match="e.npy has embeddings, which are trained on"):
        read(use=["caption"])
    made[1].assign(vector=list(made[0])).to_parquet("t.parquet")
    with pytest.raises(ValueError, match="so that --use has no meaning"):
        read_table(tmp_path / "t.parquet", "kind", wishes=Wishes(use=["caption"]))


def test_ids_are_needed_in_both_files(made):
    np.save("e.npy", made[0])
    with pytest.raises(ValueError, match="y.csv has ids, but e.npy has none"):
        read(ids=["id"])


def test_lists_of_different_lengths_are_refused(made, tmp_path):
    vectors = list(made[0])
    vectors[6] = vectors[6][:3]
    pd.DataFrame({"v": vectors, "kind": made[1]["kind"]}).to_parquet("t.parquet")
    with pytest.raises(ValueError, match="row 6 has 3 numbers, most have 8"):
        read_table(tmp_path / "t.parquet", "kind")


def test_labels_of_a_folder_have_no_columns(tmp_path, capsys):
    image_folder(tmp_path)
    np.save("e.npy", np.ones((12, 3)))
    arguments = ["audit", "e.npy", "--labels", "photos", "--text", "x"]
    assert main(arguments) == 1
    assert "photos is a folder of images" in capsys.readouterr().err


def test_embeddings_give_a_page(made, tmp_path, capsys):
    embeddings, table = made
    table.loc[:4, "kind"] = np.where(table["kind"][:5] == "cat", "dog", "cat")
    table.to_csv("y.csv", index=False)
    write("npz", embeddings, table)
    arguments = ["--labels", "y.csv", "--label", "kind", "--quick", "--table", "t.csv"]
    assert main(["audit", "e.npz", *arguments]) == 0
    quality = pd.read_csv("t.csv")["quality"].to_numpy()
    assert np.mean(np.argsort(quality)[:5] < 5) >= 0.8
    page = (tmp_path / "e-audit.html").read_text(encoding="utf-8")
    assert "a photo of number" in page
    assert "im-" in page


@pytest.mark.parametrize("labels", ["photos", "y.csv"])
def test_quick_audits_of_embeddings_train_no_network(labels, tmp_path, monkeypatch):
    names = image_folder(tmp_path)
    rng = np.random.RandomState(0)
    y = np.array([name.split("/")[0] for name in names])
    embeddings = rng.normal(size=(12, 5)) + 3 * (y == "day")[:, None]
    np.savez("e.npz", embeddings=embeddings, ids=names)
    pd.DataFrame({"id": names, "kind": y}).to_csv("y.csv", index=False)
    monkeypatch.setattr("skpresto.cli._audit.audit_estimator", None)
    label = ["--label", "kind"] if labels == "y.csv" else []
    assert main(["audit", "e.npz", "--labels", labels, *label, "--quick"]) == 0
