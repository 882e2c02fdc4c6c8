"""What all tests share: a quiet TensorFlow with two threads on any machine."""

import os

import hypothesis
import pytest

EXECUTORS = ("dataflow", "auto")

# Read by TensorFlow when it is imported. Two threads, so that what runs at once does,
# and what must not is found out.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_NUM_INTEROP_THREADS", "2")
os.environ.setdefault("TF_NUM_INTRAOP_THREADS", "2")

# How long an example takes says nothing on a machine that does other things, too.
hypothesis.settings.register_profile("recursive_tf", deadline=None)
hypothesis.settings.load_profile("recursive_tf")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options of folders whose own conftest is read too late."""
    parser.addoption(
        "--damaged",
        type=int,
        default=300,
        help="how many damaged programs to load and run",
    )
    parser.addoption(
        "--programs",
        type=int,
        default=40,
        help="how many random recursive programs to run, each on 25 forests",
    )
    parser.addoption(
        "--programs-seed",
        default="0",
        help="a number that random programs depend on, or `random`",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs a test once for each executor that it is marked for."""
    if metafunc.definition.get_closest_marker("every_executor"):
        metafunc.parametrize("executor", EXECUTORS, indirect=True)


@pytest.fixture(autouse=True)
def executor(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that a SubGraph gets if it does not say which."""
    marker = request.node.get_closest_marker("executor")
    name = marker.args[0] if marker else getattr(request, "param", None)
    if name is not None:
        import recursive_tf as rtf

        monkeypatch.setitem(rtf.SubGraph.__init__.__kwdefaults__, "executor", name)
