"""A build runs what has changed, all of it, and nothing else."""

import os
import pathlib

import pytest

import cc_build
from cc_build import BuildError, Job, build, is_stale, read_depfile, run


@pytest.fixture
def root(tmp_path, monkeypatch) -> pathlib.Path:
    """A project of one file that includes one header."""
    monkeypatch.setattr(cc_build, "ROOT", tmp_path)
    (tmp_path / "answer.h").write_text("inline int Answer() { return 42; }\n")
    (tmp_path / "answer.cc").write_text('#include "answer.h"\nint a = Answer();\n')
    return tmp_path


def job(*flags: str, stamp: str = "") -> Job:
    source = pathlib.Path("answer.cc")
    command = (cc_build.compiler(), *flags, "-c", str(source))
    return Job((source,), pathlib.Path("build/answer.o"), command, stamp)


def edit(path: pathlib.Path, text: str) -> None:
    """Writes a file as if a second after now: clocks of file systems are coarse."""
    path.write_text(text)
    later = path.stat().st_mtime_ns + 10**9
    os.utime(path, ns=(later, later))


def test_a_job_that_never_ran_is_stale(root):
    assert is_stale(job())


def test_a_job_that_ran_is_fresh(root):
    run(job())
    assert (root / "build/answer.o").exists()
    assert not is_stale(job())


def test_an_edited_source_is_compiled_again(root):
    run(job())
    edit(root / "answer.cc", "int a = 1;\n")
    assert is_stale(job())


def test_an_edited_header_is_noticed_though_no_job_names_it(root):
    run(job())
    edit(root / "answer.h", "inline int Answer() { return 43; }\n")
    assert is_stale(job())


def test_where_ccache_is_there_it_runs_the_compiler(root, monkeypatch):
    run(job("-fPIC"))
    expected = (root / "build/answer.o").read_bytes()
    bin_folder = root / "bin"
    bin_folder.mkdir()
    fake = bin_folder / "ccache"
    fake.write_text(f'#!/bin/sh\necho "$1" >> {root}/ran\nexec "$@"\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{bin_folder}{os.pathsep}{os.environ['PATH']}")
    assert not is_stale(job("-fPIC"))  # It changes nothing of what is built.
    run(job("-fPIC"))
    assert (root / "ran").read_text() == f"{cc_build.compiler()}\n"
    assert (root / "build/answer.o").read_bytes() == expected
    link = (cc_build.compiler(), "-shared", "build/answer.o")
    run(Job((pathlib.Path("build/answer.o"),), pathlib.Path("build/a.so"), link))
    assert (root / "ran").read_text() == f"{cc_build.compiler()}\n"


def test_a_header_that_went_away_is_noticed(root):
    run(job())
    (root / "answer.h").unlink()
    assert is_stale(job())


def test_other_flags_are_other_work(root):
    run(job())
    assert is_stale(job("-O2"))


def test_another_stamp_is_other_work(root):
    run(job(stamp="2.21.0"))
    assert not is_stale(job(stamp="2.21.0"))
    assert is_stale(job(stamp="2.21.1"))


def test_a_failed_job_keeps_the_old_output_and_stays_stale(root):
    run(job())
    edit(root / "answer.cc", "no C++\n")
    with pytest.raises(BuildError, match=r"answer\.cc:1"):
        run(job())
    assert (root / "build/answer.o").exists()
    assert is_stale(job())


def test_build_runs_only_what_is_stale(root):
    assert build([job()]) == 1
    assert build([job()]) == 0


def test_build_reports_every_failure_before_it_stops(root, capsys):
    jobs = []
    for name in ("first.cc", "second.cc"):
        (root / name).write_text("no C++\n")
        source = pathlib.Path(name)
        command = (cc_build.compiler(), "-c", name)
        jobs.append(Job((source,), source.with_suffix(".o"), command))
    with pytest.raises(BuildError, match="2 of 2 did not compile"):
        build(jobs)
    errors = capsys.readouterr().err
    assert "first.cc:1" in errors
    assert "second.cc:1" in errors


def test_a_missing_compiler_is_named_with_the_cure(monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(BuildError, match=r"no-such-compiler.*apt-get install g\+\+"):
        cc_build.compiler()


def test_a_depfile_may_break_lines_and_hold_spaces(tmp_path):
    depfile = tmp_path / "a.d"
    depfile.write_text("a.o: a.cc \\\n with\\ space.h b.h\n")
    names = [str(path) for path in read_depfile(depfile)]
    assert names == ["a.cc", "with space.h", "b.h"]


def test_a_build_always_has_a_worker(monkeypatch):
    monkeypatch.setattr(cc_build, "BYTES_A_WORKER", 2**60)
    assert cc_build.num_workers() == 1


@pytest.mark.parametrize(
    ("version", "flags"),
    [
        ("g++ 12.2.0\nCopyright Free Software Foundation, Inc.", cc_build.COLLECT_LATE),
        ("Debian clang version 14.0.6", ()),
    ],
)
def test_only_gcc_gets_flags_that_only_gcc_knows(root, version, flags):
    compiler = root / "c++"
    compiler.write_text(
        f"#!/bin/sh\n[ $1 = --version ] && echo '{version}' && exit\n"
        'echo "$@" > given; touch build/answer.o.partial\n'
    )
    compiler.chmod(0o755)
    run(Job((), pathlib.Path("build/answer.o"), (str(compiler), "-c", "answer.cc")))
    given = (root / "given").read_text()
    assert given.startswith(" ".join(["-c answer.cc", *flags, "-o"]))
