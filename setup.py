"""Builds recursive_tf/ops/_recursive_tf.so against the installed TensorFlow.

All that is not about C++ is in pyproject.toml. Environment: CXX, the compiler
(g++); CXXFLAGS, further flags, e.g. `-Werror`. For a second library, with other flags
and beside the first: `build_ext --build-temp=<objects> --build-lib=<package>`.
"""

import json
import os
import pathlib
import shlex
import subprocess
import sys
from typing import NamedTuple

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "tools"))

from cc_build import (  # noqa: E402
    BuildError,
    Job,
    build,
    compiler,
    tensorflow_folder,
)
from package_copy import BUILD_INFO, LIBRARY, OPS, place_library  # noqa: E402

OBJECTS = pathlib.Path("build/library")
TENSORFLOW = pathlib.Path("build/tensorflow")  # A link to the folder of the wheel.


def shared_list(name: str) -> list[str]:
    """Returns a list that Bazel reads too, e.g. `LIBRARY_SOURCES`."""
    lists: dict[str, list[str]] = {}
    exec((ROOT / "recursive_tf/cc/sources.bzl").read_text(), lists)
    return lists[name]


class TensorFlow(NamedTuple):
    """What a build has to know of the installed TensorFlow."""

    version: str
    folder: str
    compile_flags: list[str]
    link_flags: list[str]


def ask_tensorflow() -> TensorFlow:
    """Returns what TensorFlow says of itself, without its greetings on stderr."""
    tensorflow_folder()  # For its message, if there is none.
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
    tensorflow = TensorFlow(*json.loads(answer.stdout))
    return tensorflow._replace(
        compile_flags=through_link(tensorflow.compile_flags, tensorflow.folder),
        link_flags=through_link(tensorflow.link_flags, tensorflow.folder),
    )


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
    # As the wheel was built: Abseil's containers have another layout without it.
    flags.append("-DNDEBUG")
    for flag in tensorflow_flags:
        # As system headers: they would print thousands of warnings.
        flags += ["-isystem", flag[2:]] if flag.startswith("-I") else [flag]
    return flags + further_flags()


def further_flags() -> list[str]:
    """Returns the flags to compile and to link with that the environment adds."""
    return shlex.split(os.environ.get("CXXFLAGS", ""))


def build_library(objects_folder: pathlib.Path) -> tuple[pathlib.Path, str]:
    """Compiles and links what has changed.

    Args:
        objects_folder: Where object files and the library go.

    Returns:
        The library, and the version of TensorFlow that it was built on.
    """
    tensorflow = ask_tensorflow()
    link_to(tensorflow.folder)
    flags = compile_flags(tensorflow.compile_flags)
    jobs = [
        Job(
            inputs=(pathlib.Path(source),),
            output=(objects_folder / source).with_suffix(".o"),
            command=(compiler(), *flags, "-c", source),
            stamp=tensorflow.version,
        )
        for source in shared_list("LIBRARY_SOURCES")
    ]
    build(jobs)
    objects = [job.output for job in jobs]
    # No run path: the gate imports TensorFlow, and with it the library that this
    # one is linked to, before it loads this one.
    link = Job(
        inputs=tuple(objects),
        output=objects_folder / LIBRARY,
        command=(
            *(compiler(), "-shared", *further_flags(), *map(str, objects)),
            *tensorflow.link_flags,
        ),
        stamp=tensorflow.version,
    )
    build([link])
    return ROOT / link.output, tensorflow.version


class BuildLibrary(build_ext):
    """Puts the library and its build info into the package."""

    def finalize_options(self) -> None:
        """Keeps objects where the next build finds them, unless it is told where."""
        self.build_temp = self.build_temp or str(OBJECTS)
        super().finalize_options()

    def run(self) -> None:
        """Builds into the source folder if `inplace`, else into `build_lib`."""
        try:
            library, version = build_library(pathlib.Path(self.build_temp))
        except BuildError as error:
            sys.exit(f"recursive_tf: {error}")
        place_library(library, self.target_folder(), version)

    def target_folder(self) -> pathlib.Path:
        """Returns the folder that the library goes to."""
        return (ROOT if self.inplace else pathlib.Path(self.build_lib)) / OPS

    def get_outputs(self) -> list[str]:
        """Returns what run() writes, for setuptools to install."""
        return [str(self.target_folder() / name) for name in (LIBRARY, BUILD_INFO)]

    def get_output_mapping(self) -> dict[str, str]:
        """Returns {}: an editable install finds the files where run() put them."""
        return {}


class PlatformWheel(bdist_wheel):
    """A wheel for one platform and any Python: the library does not call Python."""

    def get_tag(self) -> tuple[str, str, str]:
        """Returns the tag, e.g. `py3-none-linux_x86_64`."""
        *_, platform = super().get_tag()
        return "py3", "none", platform


setup(
    # Says that there is a library to build; how, is said above.
    ext_modules=[
        Extension("recursive_tf.ops._recursive_tf", shared_list("LIBRARY_SOURCES"))
    ],
    cmdclass={"build_ext": BuildLibrary, "bdist_wheel": PlatformWheel},
)
