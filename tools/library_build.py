"""Compiles the library against the installed TensorFlow, and links it.

What setup.py, which puts the library into the package, and library_tests.py, which
tests its parts, share. Environment: CXX, the compiler (g++); CXXFLAGS, further flags.
"""

import json
import os
import pathlib
import platform
import shlex
import subprocess
import sys
from typing import Any, NamedTuple

from cc_build import ROOT, BuildError, Job, build, compiler, tensorflow_folder
from cc_units import Unit, units
from package_copy import LIBRARY

OBJECTS = pathlib.Path("build/library")
TENSORFLOW = pathlib.Path("build/tensorflow")  # A link to the folder of the wheel.
ANSWER = pathlib.Path("build/tensorflow.json")  # What it says of itself.
ALONE = "recursive_tf/cc/blocks/"  # Its sources are compiled one by one.


def shared_list(name: str) -> list[str]:
    """Returns a list that Bazel reads too, e.g. `LIBRARY_SOURCES`."""
    found: list[str] = shared(name)
    return found


def shared(name: str) -> Any:
    """Returns what Bazel reads by that name, too."""
    names: dict[str, Any] = {}
    exec((ROOT / "recursive_tf/cc/sources.bzl").read_text(), names)
    return names[name]


def library_sources() -> list[str]:
    """Returns all that the library is compiled from."""
    return shared_list("CORE_SOURCES") + shared_list("LIBRARY_SOURCES")


class TensorFlow(NamedTuple):
    """What a build has to know of the installed TensorFlow."""

    version: str
    folder: str
    compile_flags: list[str]
    link_flags: list[str]


def ask_tensorflow() -> TensorFlow:
    """Returns what TensorFlow says of itself, with paths that lead through a link."""
    folder = tensorflow_folder()
    installed = (folder / "__init__.py").stat().st_mtime_ns
    key = [str(folder), installed, sys.executable]
    # Its import takes as long as a compilation, so its answer is kept.
    answer = ROOT / ANSWER
    kept = json.loads(answer.read_text()) if answer.exists() else {}
    if kept.get("key") != key:
        kept = {"key": key, "tensorflow": import_tensorflow()}
        answer.parent.mkdir(parents=True, exist_ok=True)
        answer.write_text(json.dumps(kept))
    tensorflow = TensorFlow(*kept["tensorflow"])
    link_to(tensorflow.folder)
    return tensorflow._replace(
        compile_flags=through_link(tensorflow.compile_flags, tensorflow.folder),
        link_flags=through_link(tensorflow.link_flags, tensorflow.folder),
    )


def import_tensorflow() -> list[Any]:
    """Returns what TensorFlow says of itself: the fields of a `TensorFlow`."""
    # Apart, and without its greetings on stderr.
    question = (
        "import json, tensorflow as tf; print(json.dumps([tf.__version__, "
        "tf.sysconfig.get_lib(), tf.sysconfig.get_compile_flags(), "
        "tf.sysconfig.get_link_flags()]))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", question], capture_output=True, text=True, check=False
    )
    if answer.returncode:
        raise BuildError(f"TensorFlow cannot be imported.\n{answer.stderr}")
    fields: list[Any] = json.loads(answer.stdout)
    return fields


def through_link(flags: list[str], folder: str) -> list[str]:
    """Returns `flags` with a path under build/ in place of `folder`.

    pip builds with a TensorFlow of its own, in a folder that is new each time. The
    same version is the same library, and need not be compiled again.
    """
    return [flag.replace(folder, str(TENSORFLOW)) for flag in flags]


def link_to(folder: str) -> None:
    """Makes the path that through_link() puts into flags lead to `folder`."""
    link = ROOT / TENSORFLOW
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(folder)


def compile_flags(tensorflow_flags: list[str]) -> list[str]:
    """Returns the flags to compile one file of the library with.

    Args:
        tensorflow_flags: From `tf.sysconfig`, e.g. `["-I/.../include", "-DX=1"]`.
    """
    flags = ["-O2", "-fPIC", *shared_list("WARNINGS"), "-I."]
    # Nobody replaces a function of the library: calls within a file may be inlined.
    flags.append("-fno-semantic-interposition")
    # As the wheel was built: Abseil's containers have another layout without it.
    flags.append("-DNDEBUG")
    for flag in tensorflow_flags:
        # As system headers: they would print thousands of warnings.
        flags += ["-isystem", flag[2:]] if flag.startswith("-I") else [flag]
    return flags + further_flags()


def further_flags() -> list[str]:
    """Returns the flags to compile and to link with that the environment adds."""
    return shlex.split(os.environ.get("CXXFLAGS", ""))


def flags_of(source: str) -> list[str]:
    """Returns the flags that one source of the library needs beside those of all."""
    flags: dict[str, list[str]] = shared("X86_FLAGS")
    return flags.get(source, []) if platform.machine() == "x86_64" else []


def object_jobs(
    sources: list[str], objects_folder: pathlib.Path, tensorflow: TensorFlow
) -> list[Job]:
    """Returns how to compile sources of the library, or of its tests.

    They are compiled in units, those that see TensorFlow apart from the core's. Those
    of blocks are compiled alone: what takes time is their own code, not what they
    include, and some have flags of their own.
    """
    flags = compile_flags(tensorflow.compile_flags)
    core = [source for source in sources if source in shared_list("CORE_SOURCES")]
    alone = [source for source in core if source.startswith(ALONE)]
    # Those that take longest begin first.
    compiled = units([source for source in sources if source not in core])
    compiled += [Unit((pathlib.Path(source),)) for source in alone]
    compiled += units([source for source in core if source not in alone])
    jobs = []
    for unit in compiled:
        source = unit.write(objects_folder)
        own_flags = flags_of(str(source))
        job = Job(
            inputs=(source,),
            output=objects_folder / unit.name.with_suffix(".o"),
            command=(compiler(), *flags, *own_flags, "-c", str(source)),
            stamp=tensorflow.version,
        )
        jobs.append(job)
    return jobs


def build_library(objects_folder: pathlib.Path) -> tuple[pathlib.Path, str]:
    """Compiles and links what has changed.

    Args:
        objects_folder: Where object files and the library go.

    Returns:
        The library, and the version of TensorFlow that it was built on.
    """
    tensorflow = ask_tensorflow()
    jobs = object_jobs(library_sources(), objects_folder, tensorflow)
    build(jobs)
    objects = [job.output for job in jobs]
    # No run path: the gate imports TensorFlow, and with it the library that this
    # one is linked to, before it loads this one.
    link = Job(
        inputs=tuple(objects),
        output=objects_folder / LIBRARY,
        command=(
            *(compiler(), "-shared", *further_flags(), *map(str, objects)),
            # Calls of its own functions are direct: a table of addresses, which
            # others could change, would be asked at each.
            "-Wl,-Bsymbolic-functions",
            *tensorflow.link_flags,
        ),
        stamp=tensorflow.version,
    )
    build([link])
    return ROOT / link.output, tensorflow.version
