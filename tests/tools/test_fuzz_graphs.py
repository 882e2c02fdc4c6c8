"""The fuzzer of graphs sees which code of a library runs."""

import ctypes
import re
import subprocess

import fuzz_graphs
from cc_build import ROOT, compiler
from tests.hostile import marks

BRANCHES = """
extern "C" int Sign(int x) {
  if (x > 0) return 1;
  return x < 0 ? -1 : 0;
}
"""


def test_each_branch_that_runs_is_another_mark(tmp_path):
    source, library = tmp_path / "branches.cc", tmp_path / "branches.so"
    source.write_text(BRANCHES)
    command = [compiler(), "-std=c++17", "-O1", "-fPIC", "-shared", *fuzz_graphs.MARKS]
    subprocess.run([*command, source, "-o", library], cwd=ROOT, check=True)
    loaded = ctypes.CDLL(str(library))
    seen = marks.Marks.of(loaded)
    found = []
    for x in (1, 1, -1):
        loaded.Sign(x)
        found.append(seen.num_new())
    first, again, other = found
    assert (first > 0, again, other > 0) == (True, 0, True)


def test_both_know_how_many_marks_there_are():
    text = (ROOT / "tools" / "coverage_marks.h").read_text()
    (power,) = re.findall(r"recursive_tf_marks\[1 << (\d+)\]", text)
    assert 1 << int(power) == marks.NUM_MARKS
