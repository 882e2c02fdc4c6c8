"""Flags at their edges, and data and inputs that are none: one line, never a trace."""

import dataclasses
import time

import pytest
from absl import flags

from models import td_tree_lstm, tree_lstm
from models.running import settings
from recursive_tf.training import RunFolder
from tests.models.scripts import SMALL, figures, one_line, result_of, run, train

pytestmark = pytest.mark.slow

TREES = "(3 (2 A) (4 (3 lovely) (2 film)))\n(2 (2 so) (2 so))\n"
REVIEWS = "1\ta good film\n0\ta bad film\n"


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "trained"
    train(tree_lstm.TASK, folder, epochs=1)
    return folder


@pytest.mark.large
@pytest.mark.parametrize("task", [tree_lstm.TASK, td_tree_lstm.TASK])
def test_a_rate_of_zero_leaves_weights_as_they_are(task, tmp_path):
    chosen = {"learning_rate": 0.0, "epochs": 2}
    if task is tree_lstm.TASK:
        chosen["embedding_rate"] = 0.0
        train(task, tmp_path, **chosen)
    else:
        small = {name: SMALL[name] for name in ("limit_trees", "batch_size", "hidden")}
        run(task, checkpoint_dir=str(tmp_path), **small, **chosen)
    first, second = figures(tmp_path)
    assert first["dev_loss"] == pytest.approx(second["dev_loss"])


def test_a_rate_of_zero_is_not_that_of_words_vectors(tmp_path):
    model = tree_lstm.TASK.make_model(
        settings_with(learning_rate=0.0, embedding_rate=0.1), 3, 10
    )
    factors = dict(
        zip(
            (v.path for v in model.trainable_variables),
            model.optimizer._factors,
            strict=True,
        )
    )
    assert {factor for path, factor in factors.items() if "embedding" in path} == {1.0}
    assert {f for path, f in factors.items() if "embedding" not in path} == {0.0}
    assert float(model.optimizer.learning_rate) == pytest.approx(0.1)


def settings_with(**chosen):
    return dataclasses.replace(
        tree_lstm.GENERATED, **(chosen | {"hidden": 4, "embedding": 4})
    )


@pytest.mark.parametrize(
    "flag",
    [
        "learning_rate=-0.1",
        "learning_rate=nan",
        "learning_rate=inf",
        "dropout=1.5",
        "batch_size=0",
        "epochs=0",
        "hidden=0",
        "limit_trees=-1",
        "seed=4294967296",
        "num_workers=0",
        "executor=none",
    ],
)
def test_a_flag_out_of_its_range_is_refused(flag):
    settings.define_flags(tree_lstm.TASK.generated, tree_lstm.TASK.given)
    with pytest.raises(flags.IllegalFlagValueError, match=f"--{flag}"):
        flags.FLAGS(["script", f"--{flag}"])
    flags.FLAGS[flag.partition("=")[0]].value = None


def test_training_that_diverges_keeps_a_model(tmp_path, capsys):
    rates = {"learning_rate": 1e38, "embedding_rate": 1e38}
    train(tree_lstm.TASK, tmp_path, best_by="nodes", **rates)
    assert RunFolder(tmp_path).best.exists()
    assert result_of(capsys)["epoch"] == 1


def folder_with(path, **contents):
    for name, content in contents.items():
        data = content.encode() if isinstance(content, str) else content
        (path / name.replace("_", ".")).write_bytes(data)
    return str(path)


@pytest.mark.parametrize(
    ("contents", "complaint"),
    [
        ({"train_txt": TREES}, r"--data: .*dev\.txt: there is no such file"),
        ({"train_txt": ""}, r"train\.txt: there is no tree"),
        ({"train_txt": "film"}, r"train\.txt, line 1, column 1: 'film' outside"),
        ({"train_txt": TREES, "dev_txt": "(7 a)"}, "dev trees have the label 7"),
        ({"train_tsv": ""}, r"train\.tsv: there is no review"),
        ({"train_tsv": b"1\t\xe9"}, r"train\.tsv, line 1: it is no UTF-8"),
        ({"train_tsv": "1\t<br>"}, r"train\.tsv: there is no review"),
    ],
)
def test_data_that_cannot_be_used_are_named(tmp_path, contents, complaint):
    folder = folder_with(tmp_path, **contents)
    with pytest.raises(SystemExit, match=complaint) as error:
        train(tree_lstm.TASK, tmp_path / "run", data=folder)
    one_line(error)


def test_training_trees_that_have_changed_are_named(tmp_path):
    folder = folder_with(tmp_path, train_txt=TREES, dev_txt=TREES)
    train(tree_lstm.TASK, tmp_path / "run", data=folder, epochs=1)
    folder_with(tmp_path, train_txt=TREES + "(1 (2 new) (2 words))\n")
    with pytest.raises(SystemExit, match="ckpt-1 does not fit the model") as error:
        train(tree_lstm.TASK, tmp_path / "run", data=folder, resume=True)
    one_line(error)


@pytest.mark.parametrize("labels", ["all", "binary"])
def test_trees_with_one_label_are_learnt(tmp_path, labels):
    folder = folder_with(tmp_path, train_txt="(2 a)\n", dev_txt="(2 a)\n")
    if labels == "all":
        folder = folder_with(tmp_path, train_txt="(0 a)\n", dev_txt="(0 a)\n")
    train(tree_lstm.TASK, tmp_path / "run", data=folder, labels=labels)


def test_reviews_may_hold_what_ends_lines_of_text(tmp_path):
    text = "1\ta\u2028good\x85film\r\n" + REVIEWS
    folder = folder_with(tmp_path, train_tsv=text, dev_tsv=REVIEWS)
    train(tree_lstm.TASK, tmp_path / "run", data=folder)


def test_words_that_occur_once_alone_are_named(tmp_path):
    word = "1\tAh\t_\tX\t_\t_\t0\troot\t_\t_\n"
    folder = folder_with(tmp_path, train_conllu=word, dev_conllu=word)
    with pytest.raises(SystemExit, match="There is no word for a vocabulary") as error:
        run(td_tree_lstm.TASK, data=folder, checkpoint_dir=str(tmp_path / "run"))
    one_line(error)


@pytest.mark.parametrize(
    ("typed", "complaint"),
    [
        (
            "(2 true",
            r"input, line 2, column 8: the end of the tree .* line 2, column 1",
        ),
        ("\udcff", r"input, line 2, column 1: the sentence is no text"),
        ("(2 \udcff)", r"input, line 2, column 4: byte 0xff is not utf-8"),
    ],
)
def test_what_is_typed_is_named_by_its_line(trained, typed, complaint):
    with pytest.raises(SystemExit, match=complaint):
        run(
            tree_lstm.TASK,
            "(2 true)",
            typed,
            mode="predict",
            checkpoint_dir=str(trained),
        )


def test_a_picture_that_cannot_be_written_is_named(trained, tmp_path):
    with pytest.raises(SystemExit, match=r"tree\.svg cannot be written: No such file"):
        run(
            tree_lstm.TASK,
            "true",
            mode="predict",
            checkpoint_dir=str(trained),
            svg=str(tmp_path / "nowhere" / "tree.svg"),
        )


def test_a_cluster_that_is_no_json_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("TF_CONFIG", "worker:0")
    with pytest.raises(SystemExit, match="TF_CONFIG is not JSON: "):
        train(tree_lstm.TASK, tmp_path / "run", strategy="multi_worker")


def test_runs_of_one_second_have_folders_of_their_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    strftime = time.strftime

    def at_one_time(form, *when):
        return "runs/model" if form.startswith("runs/") else strftime(form, *when)

    monkeypatch.setattr("time.strftime", at_one_time)
    (tmp_path / "runs" / "model").mkdir(parents=True)
    run(tree_lstm.TASK, **(SMALL | {"epochs": 1}))
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == [
        "model",
        "model_2",
    ]
