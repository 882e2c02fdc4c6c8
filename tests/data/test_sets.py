"""`rtf.data.load` finds data sets in folders, and in tensorflow-datasets."""

import gzip
import importlib.machinery
import sys
import types

import numpy as np
import pytest

import recursive_tf as rtf
from tests.data.examples import assert_same

SST = "(3 (2 A) (4 film))\n(1 Dull)\n"
CONLLU = (
    "# text = dogs sing\n"
    "1\tdogs\tdog\tNOUN\tNNS\tCase=Nom|Number=Plur\t2\tnsubj\t_\t_\n"
    "2-3\tsing\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "2\tsing\tsing\tVERB\t_\t_\t0\troot\t_\t_\n"
    "2.1\tx\tx\tVERB\t_\t_\t_\t_\t0:root\t_\n\n"
)
LATTICE = "1\n\n2\n0 1\n0\n1 0 62\n"
# The same sentence, as tensorflow-datasets 4.9 gives it.
SENTENCE = {
    "tokens": [b"dogs", b"sing", b"sing", b"x"],
    "lemmas": [b"dog", b"_", b"sing", b"x"],
    "upos": [0, 2, 1, 1],
    "xpos": [b"NNS", b"None", b"None", b"None"],
    "feats": [b"{'Case': 'Nom', 'Number': 'Plur'}", b"None", b"None", b"None"],
    "head": [b"2", b"None", b"0", b"None"],
    "deprel": [b"nsubj", b"_", b"root", b"_"],
    "text": b"dogs sing",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Returns a function that writes files; tensorflow-datasets is not there."""
    monkeypatch.delenv("RECURSIVE_TF_DATA", raising=False)
    monkeypatch.setenv("TFDS_DATA_DIR", str(tmp_path / "prepared"))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    def write(**files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return tmp_path

    return write


@pytest.fixture
def prepared(folder, monkeypatch):
    """Returns a function that prepares a data set as tensorflow-datasets does."""
    examples = {}

    def builder_from_directory(path):
        name = path.relative_to(folder() / "prepared").parts[0]
        tags = types.SimpleNamespace(names=["NOUN", "VERB", "_"])
        return types.SimpleNamespace(
            info=types.SimpleNamespace(
                name=name,
                splits=["train", "unsupervised"],
                features={"upos": types.SimpleNamespace(feature=tags)},
            ),
            as_dataset=lambda split: types.SimpleNamespace(
                as_numpy_iterator=lambda: iter(examples[path.name])
            ),
        )

    module = types.ModuleType("tensorflow_datasets")
    module.builder_from_directory = builder_from_directory
    spec = importlib.machinery.ModuleSpec("tensorflow_datasets", None)
    monkeypatch.setitem(sys.modules, "tensorflow_datasets", module)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: spec)

    def prepare(path, some):
        folder(**{f"prepared/{path}/dataset_info.json": "{}"})
        examples[path.rpartition("/")[2]] = some

    return prepare


@pytest.mark.parametrize("place", ["sst/trees/", "sst/", "trees/", ""])
def test_a_treebank_is_found_where_it_was_unpacked_and_in_a_folder_of_its_name(
    folder, place
):
    data = folder(**{f"{place}train.txt": SST, f"{place}dev.txt.gz": b""})
    (data / f"{place}dev.txt.gz").write_bytes(gzip.compress(b"(0 x)"))
    found = rtf.data.load("sst", data)
    assert {split: len(trees) for split, trees in found.items()} == {
        "train": 2,
        "dev": 1,
    }
    expected = rtf.data.read_sst(data / f"{place}train.txt").load()
    assert_same(rtf.data.load("sst", data, split="train"), expected)


def test_the_environment_says_where_if_the_call_does_not(folder, monkeypatch):
    monkeypatch.setenv("RECURSIVE_TF_DATA", str(folder(**{"lattice/dev.txt": LATTICE})))
    assert rtf.data.load("lattice", split="dev").tokens.numpy().tolist() == [-1, 62]


def test_a_folder_of_the_sets_name_comes_before_its_parent(folder):
    data = folder(**{"train.txt": "no tree", "sst/train.txt": SST})
    assert len(rtf.data.load("sst", data, split="train")) == 2


def test_choices_go_to_the_reader(folder):
    data = folder(**{"train.txt": f"(x\n{SST}"})
    assert len(rtf.data.load("sst", data, split="train", on_error="skip")) == 2
    with pytest.raises(rtf.data.ReadError):
        rtf.data.load("sst", data, split="train")


@pytest.mark.parametrize("place", ["", "UD_English-EWT/", "ud-treebanks-v2/UD_E/"])
@pytest.mark.parametrize("name", ["ud", "ud/en_ewt"])
def test_a_treebank_of_dependencies_is_found_by_its_name(folder, place, name):
    data = folder(**{f"{place}en_ewt-ud-test.conllu": CONLLU})
    assert rtf.data.load(name, data)["test"].tokens.numpy().tolist() == [
        b"dogs",
        b"sing",
    ]


def test_of_several_treebanks_the_name_says_which(folder):
    data = folder(
        **{
            "en_ewt-ud-test.conllu": CONLLU,
            "de_gsd-ud-test.conllu": CONLLU + CONLLU,
            "de_gsd-ud-train.conllu": CONLLU,
        }
    )
    assert len(rtf.data.load("ud/de_gsd", data)["test"]) == 2
    with pytest.raises(rtf.data.ForestError, match="there are de_gsd, en_ewt"):
        rtf.data.load("ud", data)


def test_reviews_are_files_in_folders_or_lines(folder):
    lines = folder(**{"a/train.tsv": "0\tDull.\n1\tA <br />lovely film\n"}) / "a"
    files = folder(
        **{
            "b/aclImdb/train/pos/0_9.txt": "A lovely film",
            "b/aclImdb/train/neg/7_1.txt": "Dull.",
        }
    )
    expected = rtf.data.load("imdb", lines, split="train")
    assert_same(rtf.data.load("imdb", files / "b", split="train"), expected)
    assert expected.replace(labels=None).to_nested() == [
        ["Dull", "."],
        ["A", ["lovely", "film"]],
    ]
    roots = expected.labels.numpy()[expected.roots.numpy()]
    assert roots.tolist() == [0, 1]
    assert np.count_nonzero(expected.labels.numpy() == -1) == len(expected.labels) - 2
    linear = rtf.data.load("imdb", lines, split="train", shape="linear")
    assert int(linear.num_nodes) == int(expected.num_nodes)


def test_a_review_that_is_none_is_shown_where_it_is(folder):
    data = folder(**{"train.tsv": "1\tGood\n2\tBad\n"})
    with pytest.raises(rtf.data.ReadError, match="line 2, column 1: '2' before a tab"):
        rtf.data.load("imdb", data)
    folder(**{"train.tsv": "1\t <br>\n"})
    with pytest.raises(rtf.data.ReadError, match="a review without words"):
        rtf.data.load("imdb", data)


def test_a_random_shape_of_a_review_follows_from_its_seed_and_text(folder):
    text = "1\t" + " ".join("abcdefghijkl") + "\n"
    data = folder(**{"1.tsv": text, "2.tsv": f"0\tx y z\n{text}"})

    def tree(file, seed):
        trees = rtf.data.read_reviews(data / file, "random", seed=seed).load()
        return trees[-1].to_nested()

    assert tree("1.tsv", 0) == tree("2.tsv", 0) != tree("1.tsv", 1)


def test_sections_of_the_penn_treebank_become_splits(folder):
    tree = "( (S (NP (DT the) (NN dog)) (VP (VBZ barks))) )\n"
    data = folder(
        **{f"ptb/wsj/{n:02}/wsj_{n:02}01.mrg": tree for n in (0, 1, 2, 21, 22, 23, 24)}
    )
    found = rtf.data.load("ptb", data)
    assert {split: len(trees) for split, trees in found.items()} == {
        "train": 2,
        "dev": 1,
        "test": 1,
    }


@pytest.mark.parametrize("name", ["sst", "imdb", "ud/en_ewt", "ptb", "lattice"])
def test_what_is_not_there_is_an_error_that_says_what_to_run(folder, name):
    data = folder()
    with pytest.raises(rtf.data.DataNotFoundError) as error:
        rtf.data.load(name, data)
    text = str(error.value)
    assert text.startswith(f"There is no data set '{name}' in {data}. Get ")
    assert f"{data}" in text.partition("run `")[2].partition("`")[0]
    assert f'pass data_dir="{data}"' in text
    assert ("tfds build" in text) == (name in ("imdb", "ud/en_ewt"))
    with pytest.raises(rtf.data.DataNotFoundError, match="RECURSIVE_TF_DATA are not"):
        rtf.data.load(name)


def test_a_split_that_is_not_there_is_an_error_that_lists_the_others(folder):
    data = folder(**{"train.txt": SST})
    with pytest.raises(rtf.data.DataNotFoundError, match=r"It has \['train'\]"):
        rtf.data.load("sst", data, split="test")


@pytest.mark.parametrize("name", ["mnist", "sst/fine"])
def test_an_unknown_name_is_refused(name):
    with pytest.raises(rtf.data.ForestError, match="Expected one of"):
        rtf.data.load(name)


def test_what_tensorflow_datasets_has_prepared_is_taken(prepared, folder):
    prepared("universal_dependencies/en_ewt/1.0.1", [SENTENCE] * 2)
    expected = rtf.data.read_conllu(folder(**{"a": CONLLU * 2}) / "a").load()
    for name in ("ud", "ud/en_ewt"):
        assert_same(rtf.data.load(name)["train"], expected)
    review = {"text": b"Very\nlovely", "label": 1}
    prepared("imdb_reviews/plain_text/1.0.0", [review])
    found = rtf.data.load("imdb")
    assert list(found) == ["train"]
    assert found["train"][0].replace(labels=None).to_nested() == ["Very", "lovely"]


def test_the_newest_version_is_taken_and_a_folder_comes_first(prepared, folder):
    prepared("imdb_reviews/plain_text/1.9.0", [{"text": b"old", "label": 1}])
    prepared("imdb_reviews/plain_text/1.10.0", [{"text": b"new", "label": 1}])
    assert rtf.data.load("imdb")["train"].tokens.numpy().tolist() == [b"new"]
    data = folder(**{"a/train.tsv": "0\tmine\n"}) / "a"
    assert rtf.data.load("imdb", data)["train"].tokens.numpy().tolist() == [b"mine"]


def test_of_several_prepared_treebanks_the_name_says_which(prepared):
    prepared("universal_dependencies/en_ewt/1.0.1", [SENTENCE])
    prepared("universal_dependencies/de_gsd/1.0.1", [SENTENCE])
    with pytest.raises(rtf.data.ForestError, match="there are de_gsd, en_ewt"):
        rtf.data.load("ud")


def test_installed_without_the_set_is_the_error_that_says_what_to_run(prepared):
    with pytest.raises(rtf.data.DataNotFoundError, match="tfds build imdb_reviews"):
        rtf.data.load("imdb")
