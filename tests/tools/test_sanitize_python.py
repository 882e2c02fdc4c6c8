"""Reports that name the library fail the lane, and no other library is tested."""

import pytest

import sanitize_python

RACE = """\
==================
WARNING: ThreadSanitizer: data race (pid=7)
  Read of size 8 at 0x7b1000 by thread T6:
    #0 {frame}

SUMMARY: ThreadSanitizer: data race
==================
"""
OURS = "recursive_tf::ProgramRun::Call(int) cc/program_run.cc:9 (_recursive_tf.so+0x1c)"
THEIRS = "tensorflow::Run() <null> (libtensorflow_framework.so.2+0x5c6179e)"


def test_reports_are_told_apart():
    text = RACE.format(frame=OURS) + RACE.format(frame=THEIRS)
    first, second = sanitize_python.split_reports(text)
    assert sanitize_python.is_ours(first)
    assert not sanitize_python.is_ours(second)


def test_reports_of_all_processes_count(tmp_path, capsys):
    (tmp_path / "report.1").write_text(RACE.format(frame=OURS))
    (tmp_path / "report.2").write_text(
        "==2==ERROR: AddressSanitizer: heap-use-after-free\n    #0 " + OURS
    )
    (tmp_path / "report.3").write_text(RACE.format(frame=THEIRS))
    assert sanitize_python.show_reports(tmp_path) == 2
    printed = capsys.readouterr().out
    assert "ProgramRun::Call" in printed
    assert "sanitizer reports: 2 ours, 1 of others" in printed


def test_no_reports_are_no_failure(tmp_path):
    assert sanitize_python.show_reports(tmp_path) == 0


@pytest.mark.parametrize("name", sanitize_python.SANITIZERS)
def test_the_headers_do_not_notice_the_sanitizer(name):
    """They would lay classes out in another way than TensorFlow's library has them."""
    assert f"-U__SANITIZE_{name.upper()}__" in sanitize_python.SANITIZERS[name].flags


@pytest.mark.parametrize("name", sanitize_python.SANITIZERS)
def test_the_runtime_is_in_the_process_before_python(name, tmp_path):
    found = sanitize_python.environment(name, tmp_path)
    assert f"/lib{name[0]}san.so" in found["LD_PRELOAD"]
    assert found["PYTHONPATH"] == str(tmp_path)
    assert "log_path=" in found[sanitize_python.SANITIZERS[name].variable]


@pytest.mark.parametrize("arguments", [[], ["memory"]], ids=str)
def test_only_known_sanitizers_run(arguments, capsys):
    assert sanitize_python.main(arguments) == 2
    assert "Usage:" in capsys.readouterr().err
