"""Processes that fork, end, are interrupted, or import in odd orders: none hangs.

Each program runs in a process of its own, which must end as it says.
"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import textwrap

import pytest

from tests.helpers.figures import tell

pytestmark = pytest.mark.slow

ROOT = pathlib.Path(__file__).parents[2]
SECONDS = 300  # For a hang, not for a slow machine.

FIB = """
    import tensorflow as tf
    import recursive_tf as rtf

    def define(executor="auto"):
        with rtf.SubGraph("fib", executor=executor) as fib:
            n = fib.input(tf.int32)
            fib.output(tf.cond(n < 2, lambda: n, lambda: fib(n - 1) + fib(n - 2)))
        return fib
"""

# By what happens: the program, and how the process ends.
PROGRAMS = {
    "a fork before anything runs, a new process after": (
        FIB
        + """
    import multiprocessing, sys

    def work(n, results):
        results.put(int(define()(n)))

    def result_in(way):
        context = multiprocessing.get_context(way)
        results = context.Queue()
        process = context.Process(target=work, args=(10, results))
        process.start()
        found = results.get(timeout=200)
        process.join()
        assert process.exitcode == 0
        return found

    if __name__ == "__main__":
        assert result_in("fork") == 55
        assert int(define()(10)) == 55
        assert result_in("spawn") == 55
    """,
        0,
    ),
    "an exit with steps in flight": (
        FIB
        + """
    import sys, threading, time

    for executor in ("dataflow", "batched"):
        step = tf.function(define(executor))
        n = tf.constant(28)
        for _ in range(3):
            threading.Thread(target=lambda: step(n), daemon=True).start()
    time.sleep(1)
    sys.exit(7)
    """,
        7,
    ),
    "a signal that ends the process in a step": (
        FIB
        + """
    import os, signal, threading

    step = tf.function(define("dataflow"))
    step(tf.constant(3))
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGTERM)).start()
    while True:
        step(tf.constant(26))
    """,
        -signal.SIGTERM,
    ),
    "an import in a thread, before TensorFlow's": (
        """
    import threading

    def work():
        import recursive_tf as rtf
        import tensorflow as tf

        with rtf.SubGraph("fib") as fib:
            n = fib.input(tf.int32)
            fib.output(tf.cond(n < 2, lambda: n, lambda: fib(n - 1) + fib(n - 2)))
        results.append(int(fib(10)))

    results = []
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [55, 55, 55]
    """,
        0,
    ),
    "an import when TensorFlow runs, a second copy, a function that is dropped": (
        """
    import gc, pathlib, shutil, tempfile
    import tensorflow as tf

    assert int(tf.function(lambda: tf.constant(3) + 4)()) == 7
    import recursive_tf as rtf
    from recursive_tf.ops import gate

    def define(w):
        with rtf.SubGraph("power") as power:
            n = power.input(tf.int32)
            power.output(tf.cond(n < 1, lambda: 1.0, lambda: w * power(n - 1)))
        return power

    # Another copy of the library has the same ops: an error, or the same library.
    folder = pathlib.Path(tempfile.mkdtemp())
    for file in (gate.LIBRARY_NAME, gate.BUILD_INFO_NAME):
        shutil.copy(pathlib.Path(gate.__file__).parent / file, folder)
    try:
        gate.load(folder)
        raise SystemExit("two copies")
    except ImportError as error:
        assert "already loaded" in str(error), error

    # A function and its SubGraph go while a tape has the handle of a call.
    w = tf.Variable(2.0)
    for executor in ("dataflow", "batched"):
        power = define(w)
        with tf.GradientTape(persistent=True) as tape:
            y = power(5)
        del power
        gc.collect()
        for _ in range(2):
            assert float(tape.gradient(y, w)) == 80.0
            gc.collect()
        del tape, y
    """,
        0,
    ),
    "interrupts of a script that goes on": (
        FIB
        + """
    import os, random, signal, threading, time

    # What a shell starts in the background ignores it, and Python leaves that so.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    rng = random.Random(0)
    step = tf.function(define("dataflow"))
    assert int(step(tf.constant(15))) == 610
    longest = 0.0
    for _ in range(TIMES):
        sent, ended = [], threading.Event()

        def interrupt():
            # Once more where Python lost one, e.g. in a destructor: plain TensorFlow
            # loses some, too.
            while not ended.is_set():
                sent.append(time.monotonic())
                os.kill(os.getpid(), signal.SIGINT)
                ended.wait(2)

        timer = threading.Timer(rng.uniform(0, 0.05), interrupt)
        try:
            timer.start()
            while True:
                step(tf.constant(15))
        except KeyboardInterrupt:
            ended.set()
            longest = max(longest, time.monotonic() - sent[-1])
        timer.join()
        assert int(step(tf.constant(15))) == 610
    assert longest < 20, longest
    print(f"figure: longest time to end an interrupted script {1000 * longest:.0f} ms")
    """,
        0,
    ),
}


def run(program, times=1):
    """Returns what a program did; fails if it hangs."""
    program = textwrap.dedent(program).replace("TIMES", str(times))
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", program],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=SECONDS + times,
        check=False,
    )


@pytest.mark.parametrize("name", [n for n in PROGRAMS if n[:6] != "a fork"])
def test_a_process_ends_well_after(name, times):
    program, expected = PROGRAMS[name]
    done = run(program, times(40))
    assert done.returncode == expected, done.stderr[-3000:]
    for figure in re.findall("figure: (.*)", done.stdout):
        tell(figure)


def test_a_process_ends_well_after_a_fork(tmp_path):
    program, expected = PROGRAMS["a fork before anything runs, a new process after"]
    script = tmp_path / "script.py"  # Which a new process imports.
    script.write_text(textwrap.dedent(program))
    done = run(f"import runpy; runpy.run_path({str(script)!r}, run_name='__main__')")
    assert done.returncode == expected, done.stderr[-3000:]
