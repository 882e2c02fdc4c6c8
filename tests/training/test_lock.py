"""One process at a time has a run: also if another one was killed."""

import fcntl
import os
import resource
import threading

import pytest

from recursive_tf.training.files import RunError
from recursive_tf.training.lock import locked
from tests.helpers.programs import SERVER


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run" / "lock"


@pytest.fixture
def holder(path):
    """A process that holds the lock until its end, or until it is sent something."""
    ours, its = SERVER.Pipe()
    process = SERVER.Process(target=hold, args=(path, its), daemon=True)
    process.start()
    assert ours.recv() == "held"
    process.let_go = lambda: ours.send("let go")
    yield process
    process.kill()
    process.join()


def hold(path, pipe):
    with locked(path):
        pipe.send("held")
        pipe.recv()


def test_who_holds_it_is_named_in_one_line(path, holder):
    with pytest.raises(RunError) as error, locked(path, 0.1):
        pass
    text = str(error.value)
    assert f"{path.parent} is still going on, by process {holder.pid} on " in text
    assert "Wait for its end or stop it, or choose another folder." in text
    assert "\n" not in text


def test_a_killed_process_holds_nothing(path, holder):
    holder.kill()
    holder.join()
    assert path.exists()
    with locked(path, 0.0):
        assert path.read_text().startswith(f"process {os.getpid()} on ")


def test_who_is_about_to_end_is_waited_for(path, holder):
    threading.Timer(0.5, holder.let_go).start()
    with locked(path, 30.0):
        pass


def test_nothing_is_left_of_it(path):
    for _ in range(2):
        with locked(path, 0.0):
            pass
    assert list(path.parent.iterdir()) == []


def test_an_error_frees_it(path):
    with pytest.raises(KeyError), locked(path, 0.0):
        raise KeyError
    with locked(path, 0.0):
        pass


def test_of_many_at_once_one_has_it(path):
    holders, most, refused = [], [], []
    begin = threading.Barrier(8)

    def take():
        begin.wait()
        for _ in range(50):
            try:
                with locked(path, 10.0):
                    holders.append(1)
                    most.append(len(holders))
                    holders.pop()
            except RunError as error:
                refused.append(error)

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (max(most), len(most), refused) == (1, 400, [])


def test_a_file_system_without_locks_is_said(path, monkeypatch, caplog):
    def no_locks(*_):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with locked(path, 0.0):
        pass
    assert "lock is no lock: Function not implemented" in caplog.text


def test_on_a_full_disk_it_holds_but_does_not_say_by_whom(path):
    path.parent.mkdir()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    try:
        with locked(path, 0.0):
            assert path.read_bytes() == b""
            with pytest.raises(RunError, match="another process"), locked(path, 0.0):
                pass
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_folder_that_is_a_file_is_named(tmp_path):
    (tmp_path / "file").touch()
    message = r"file cannot be written: (File exists|Not a directory)\."
    with pytest.raises(RunError, match=message), locked(tmp_path / "file" / "lock"):
        pass
