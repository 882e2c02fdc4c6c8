"""What all tests share: a quiet TensorFlow with two threads on any machine.

And that the executor which a test means is the one that ran: "auto" takes the dataflow
executor for what it cannot batch, and a test would not notice.
"""

import functools
import gc
import os
import random

import hypothesis
import pytest

from tests.helpers import batched_share
from tests.helpers.executors import Ran, check, observed
from tests.helpers.quick import changed_files, chosen

EXECUTORS = ("dataflow", "auto")
_OF_FIXTURES = pytest.StashKey[dict[str, Ran]]()

# Read by TensorFlow when it is imported. Two threads, so that what runs at once does,
# and what must not is found out.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_NUM_INTEROP_THREADS", "2")
os.environ.setdefault("TF_NUM_INTRAOP_THREADS", "2")

# There is little to find until the first test: what is imported, and collected, stays.
gc.disable()

# How long an example takes says nothing on a machine that does other things, too.
hypothesis.settings.register_profile("recursive_tf", deadline=None)
hypothesis.settings.load_profile("recursive_tf")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options of folders whose own conftest is read too late."""
    parser.addoption(
        "--damaged",
        type=int,
        default=120,
        help="how many damaged programs to load and run",
    )
    parser.addoption(
        "--times",
        type=int,
        help="how often tests repeat what is random; else each has a number of its own",
    )
    parser.addoption(
        "--large",
        action="store_true",
        help="the tests that are marked so, and the sizes of docs/reliability.md, "
        "which take minutes and gigabytes",
    )
    parser.addoption(
        "--quick",
        action="store_true",
        help="only the tests of what changed, and one of each other file",
    )
    parser.addoption(
        "--programs",
        type=int,
        default=16,
        help="how many random recursive programs to run, each on 25 forests; from 15 "
        "on with all policies and choices of rtf.Options",
    )
    parser.addoption(
        "--programs-as-drawn",
        action="store_true",
        help="shows what fails as it was drawn; making it small takes minutes",
    )
    parser.addoption(
        "--steps",
        type=int,
        default=400,
        help="how many steps the tests of races and of memory take",
    )
    parser.addoption(
        "--programs-seed",
        default="random",
        help="a number that random programs depend on, or `random`: another each run",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Draws the seed of the run, which its other processes are told."""
    if config.option.programs_seed == "random":
        config.option.programs_seed = str(random.SystemRandom().randrange(2**32))
    if not hasattr(config, "workerinput"):  # Of one process, or of all of them.
        config.pluginmanager.register(_Count(config))


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Leaves out what `--quick` does not run, and without `--large` what is large."""
    if config.option.quick:
        wanted = chosen(items, changed_files())
        config.hook.pytest_deselected(items=list(set(items).difference(wanted)))
        items[:] = wanted
    if not config.option.large:
        skip = pytest.mark.skip(reason="it takes long: make soak")
        for item in items:
            if item.get_closest_marker("large"):
                item.add_marker(skip)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """Lets the garbage collector pass over what was there before the first test.

    It stays to the end. Without this, each look at all objects is above all one at
    TensorFlow's, which takes a tenth of the time of all tests.
    """
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_report_header(config: pytest.Config) -> str:
    return f"random programs: --programs-seed={config.option.programs_seed}"


class _Count:
    """Counts the random programs that were batched, where reports come together."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        batched_share.collect(self.config, report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        _, is_low = batched_share.summary(self.config)
        if is_low and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter) -> None:
        line, is_low = batched_share.summary(self.config)
        if line is not None:
            terminalreporter.line(line, red=is_low)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs a test once for each executor that it is marked for."""
    names = "traces_only", "every_executor", "executor"
    marks = (m for m in metafunc.definition.iter_markers() if m.name in names)
    marker = next(marks, None)  # The one on the test, before that of its module.
    if marker is not None and marker.name != "traces_only":
        metafunc.parametrize("executor", marker.args or EXECUTORS, indirect=True)


@pytest.fixture(autouse=True, scope="module")
def executor(request: pytest.FixtureRequest):
    """The one that a SubGraph gets if it does not say which; None if it may be any.

    A fixture of a module that makes a SubGraph takes this one as its argument, so that
    there is one of it for each executor.
    """
    name = getattr(request, "param", None)
    with pytest.MonkeyPatch.context() as patch:
        if name is not None:
            import recursive_tf as rtf

            patch.setitem(rtf.SubGraph.__init__.__kwdefaults__, "executor", name)
        yield name


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch):
    """What the process knows of programs from now on: nothing at first."""
    from recursive_tf.python.program.known_programs import KnownPrograms
    from tests.helpers.known_programs import know_only

    return know_only(monkeypatch, KnownPrograms())


@pytest.fixture
def times(pytestconfig: pytest.Config):
    """Returns how often to repeat what is random, if nobody says it."""
    return lambda own: pytestconfig.option.times or own


@pytest.fixture
def w():
    """A variable that gradients are asked for."""
    import tensorflow as tf

    from tests.helpers.powers import W

    return tf.Variable(W)


@pytest.fixture
def x():
    """A tensor that gradients are asked for."""
    import tensorflow as tf

    from tests.helpers.powers import X

    return tf.constant(X)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef, request: pytest.FixtureRequest):
    """Takes note of what a fixture runs, for the tests that use it."""
    with observed() as ran:
        result = yield
    request.node.stash.setdefault(_OF_FIXTURES, {})[fixturedef.argname] = ran
    return result


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function):
    """Fails a test that passed, if it did not run in the executor that it means."""
    with observed() as ran:
        result = yield
    of_fixtures = {}
    for node in pyfuncitem.listchain():
        of_fixtures.update(node.stash.get(_OF_FIXTURES, {}))
    used = [of_fixtures[x] for x in pyfuncitem.fixturenames if x in of_fixtures]
    callspec = getattr(pyfuncitem, "callspec", None)
    values = [] if callspec is None else [*callspec.params.values()]
    check(
        functools.reduce(Ran.__add__, used, ran),
        meant=pyfuncitem.funcargs.get("executor"),
        marks={mark.name for mark in pyfuncitem.iter_markers() if _holds(mark, values)},
    )
    return result


def _holds(mark: pytest.Mark, values: list[object]) -> bool:
    """Says whether a marker, e.g. `falls_back("why", at="name")`, is for these."""
    return "at" not in mark.kwargs or mark.kwargs["at"] in values
