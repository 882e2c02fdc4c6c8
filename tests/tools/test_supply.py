"""What the project installs and is licensed by; and that it opens no network."""

import os
import pathlib
import re
import subprocess
import sys
import textwrap

import pytest
from packaging.requirements import Requirement
from setuptools.config.pyprojecttoml import load_file

from recursive_tf.ops.gate import LIBRARY_NAME
from run_requirements import run_requirements

ROOT = pathlib.Path(__file__).parents[2]
LOCKED = re.compile(r"^([a-z0-9][a-z0-9._-]*)==([^ ;\\]+)(.*)$", re.MULTILINE)


def requirements():
    """Returns all that the project and its extras ask for."""
    project = load_file(ROOT / "pyproject.toml")["project"]
    lists = [run_requirements(), *project["optional-dependencies"].values()]
    asked = [Requirement(text) for texts in lists for text in texts]
    return [each for each in asked if each.name != project["name"]]


def locked():
    """Returns the versions of each package in the lock."""
    versions = {}
    for name, version, _ in LOCKED.findall((ROOT / "requirements-dev.txt").read_text()):
        versions.setdefault(name, []).append(version)
    return versions


def test_the_lock_has_what_the_project_asks_for():
    versions = locked()
    for requirement in requirements():
        name = requirement.name.lower().replace("_", "-")
        found = versions[name]
        assert any(requirement.specifier.contains(v) for v in found), requirement


def test_all_that_is_locked_has_hashes():
    text = (ROOT / "requirements-dev.txt").read_text()
    blocks = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]
    assert len(blocks) > 80
    assert all("--hash=sha256:" in block for block in blocks)


def test_the_page_of_licenses_names_what_is_installed_and_what_is_compiled_in():
    page = (ROOT / "docs" / "licenses.md").read_text()
    for requirement in requirements():
        assert f"| {requirement.name.lower()} |" in page, requirement.name
    assert "Eigen" in page
    assert "Abseil" in page


NO_NETWORK = """
    import sys

    opened = []
    events = "socket.connect", "socket.bind", "socket.getaddrinfo", "urllib.Request"

    def look(event, arguments):
        # A package that TensorFlow imports asks whether this machine has IPv6.
        asks = event == "socket.bind" and arguments[1][0] == "::1"
        if event in events and not asks:
            opened.append((event, *arguments))

    sys.addaudithook(look)
    import os
    import keras
    import tensorflow as tf
    import recursive_tf as rtf

    trees = rtf.data.from_nested([[1, [2, 3]], [4, 5]])
    words = keras.layers.Embedding(10, 3)
    encoder = rtf.layers.TreeEncoder(rtf.layers.TreeLSTMCell(4), words)
    model = keras.Sequential([rtf.layers.ForestInput(), encoder])
    model.compile("sgd", "mse")
    data = tf.data.Dataset.from_tensors((trees, tf.zeros([2, 4])))
    model.fit(data, verbose=0, shuffle=False)
    links = [os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")
             if os.path.lexists(f"/proc/self/fd/{fd}")]
    assert not opened, opened
    assert not [link for link in links if link.startswith("socket:")], links
"""


@pytest.mark.slow
def test_a_training_opens_no_network():
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(NO_NETWORK)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_the_library_calls_no_function_of_the_network():
    import recursive_tf.ops

    path = pathlib.Path(recursive_tf.ops.__file__).parent / LIBRARY_NAME
    done = subprocess.run(
        ["nm", "--dynamic", "--undefined-only", str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    called = {line.split()[-1].split("@")[0] for line in done.stdout.splitlines()}
    assert "memcpy" in called
    of_network = {"socket", "connect", "bind", "listen", "getaddrinfo", "sendto"}
    assert not called & of_network
