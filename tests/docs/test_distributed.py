"""docs/distributed.md: its code runs, and schedulers get what the scripts take."""

import json
import os
import re
import subprocess
import textwrap

import pytest
from absl import flags

from models import tree_lstm
from models.running import settings
from tests.helpers.pages import DOCS, run_page

# In place of python: what it was given, a line each.
STUB = """#!/bin/sh
echo "TF_CONFIG=$TF_CONFIG"
for argument in "$@"; do echo "$argument"; done
"""


@pytest.mark.slow
def test_the_pages_code_runs(tmp_path):
    names = run_page("distributed.md", tmp_path).names
    assert len(names["model"].history.history["loss"]) == 1


@pytest.fixture
def started(tmp_path):
    """Returns a function: what a shell's text starts as python, line by line."""
    (tmp_path / "python").write_text(STUB)
    (tmp_path / "srun").write_text('#!/bin/sh\nshift\nexec "$@"\n')
    (tmp_path / "activate").touch()
    for name in ("python", "srun"):
        (tmp_path / name).chmod(0o755)

    def run(text, **variables):
        text = text.replace("/shared/recursive_tf/.venv/bin", ".")
        text = text.replace("cd /shared/recursive_tf", "")
        path = f"{tmp_path}:{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-ec", text],
            cwd=tmp_path,
            env={**os.environ, **variables, "PATH": path},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.splitlines()

    return run


def check_command(arguments):
    """Checks that a command is one of the TreeLSTM's script."""
    settings.define_flags(tree_lstm.TASK.generated, tree_lstm.TASK.given)
    module, name, *given = arguments
    assert (module, name) == ("-m", "models.tree_lstm")
    assert "--restartable" in given
    assert {one.lstrip("-").partition("=")[0] for one in given} <= set(flags.FLAGS)


def page():
    return (DOCS / "distributed.md").read_text()


def test_slurms_script_starts_training(started):
    script = re.search(r"```sh\n(#!/bin/bash\n.*?)```", page(), re.S)[1]
    _, *arguments = started(script, SLURM_JOB_NAME="trees")
    check_command(arguments)
    assert "--checkpoint_dir=/shared/runs/trees" in arguments


def test_a_pod_of_kubernetes_is_a_worker(started):
    text = re.search(r"args:\n *- \|\n(.*?)\n *volumeMounts", page(), re.S)[1]
    config, *arguments = started(textwrap.dedent(text), JOB_COMPLETION_INDEX="2")
    check_command(arguments)
    found = json.loads(config.removeprefix("TF_CONFIG="))
    assert found["task"] == {"type": "worker", "index": 2}
    pods = int(re.search(r"completions: (\d+)", page())[1])
    workers = [f"trees-{number}.trees:2222" for number in range(pods)]
    assert found["cluster"] == {"worker": workers}
