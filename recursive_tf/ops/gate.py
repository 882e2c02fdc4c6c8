"""Checks that the C++ library fits the running TensorFlow, and loads it.

TensorFlow's C++ ABI changes at every minor version. A library that was built on
another one fails while loading with a screenful of mangled names, or loads and
corrupts memory: so the versions are compared first.
"""

import ctypes
import pathlib
import runpy
import types

import tensorflow as tf

LIBRARY_NAME = "_recursive_tf.so"
BUILD_INFO_NAME = "_build_info.py"


def load(folder: pathlib.Path) -> types.ModuleType:
    """Returns the ops of the library in `folder` as functions of a module.

    Args:
        folder: Where setup.py put the library and its build info, e.g.
            `site-packages/recursive_tf/ops`.

    Returns:
        What `tf.load_op_library` makes of the library.

    Raises:
        ImportError: If the library was not built, or was built against a
            TensorFlow of another minor version than the running one. Or if another
            copy of it is loaded.
        ValueError: If `RTF_INSTRUCTION_SET` names an instruction set that the
            processor lacks, or that there is not.
    """
    build_version = read_build_version(folder)
    check_versions(build_version, tf.__version__)
    check_no_other_copy(folder / LIBRARY_NAME)
    library: types.ModuleType = tf.load_op_library(str(folder / LIBRARY_NAME))
    check_instruction_set(folder / LIBRARY_NAME)
    return library


def check_no_other_copy(path: pathlib.Path) -> None:
    """Raises ImportError if the process has loaded the library from elsewhere.

    TensorFlow has one registry of ops a process. A second copy that registers the same
    types for its handles would end the process.

    Args:
        path: The library that is to be loaded.
    """
    maps = pathlib.Path("/proc/self/maps")
    if not maps.exists():
        return
    for line in maps.read_text().splitlines():
        # Five columns, and the path; of a file that was replaced, "path (deleted)".
        other = line.split(maxsplit=5)[5:]
        if not other or pathlib.Path(other[0]).name.split(" ")[0] != LIBRARY_NAME:
            continue
        if other[0] != str(path.resolve()):
            raise ImportError(
                f"Another copy of recursive_tf is already loaded in this process, from "
                f"{other[0]}, so {path} cannot be loaded too. Import one of them, in a "
                "new process; after a build, restart Python."
            )


def check_instruction_set(path: pathlib.Path) -> None:
    """Raises ValueError if `RTF_INSTRUCTION_SET` names none that the processor has.

    An op could say so as well, but to run one would start TensorFlow's runtime, whose
    threads and devices can then not be configured any more.

    Args:
        path: The library, which is loaded.
    """
    ask = ctypes.CDLL(str(path)).recursive_tf_wrong_instruction_set
    ask.restype = ctypes.c_char_p
    wrong = ask()
    if wrong is not None:
        raise ValueError(wrong.decode())


def read_build_version(folder: pathlib.Path) -> str:
    """Returns the version of TensorFlow that the library in `folder` was built on.

    Raises:
        ImportError: If the library or its build info is not there.
    """
    for name in (LIBRARY_NAME, BUILD_INFO_NAME):
        if not (folder / name).is_file():
            raise ImportError(
                f"The C++ library of recursive_tf is not built: {folder} has no "
                f"{name}. If this is a source folder, build it with `pip install "
                "-e .` or `make build` in the folder that holds setup.py; to use "
                "an installed recursive_tf instead, start Python elsewhere."
            )
    version: str = runpy.run_path(str(folder / BUILD_INFO_NAME))["TENSORFLOW_VERSION"]
    return version


def check_versions(build_version: str, running_version: str) -> None:
    """Raises ImportError if the two versions of TensorFlow differ in their ABI.

    >>> check_versions("2.21.0", "2.21.1")

    Args:
        build_version: The TensorFlow that the library was built on, e.g. `2.21.0`.
        running_version: The TensorFlow that is imported, e.g. `2.21.1`.
    """
    if minor(build_version) != minor(running_version):
        needed = minor(build_version)
        raise ImportError(
            f"recursive_tf was built against TensorFlow {build_version}, but "
            f"TensorFlow {running_version} is running, and the C++ ABI changes at "
            f"every minor version. Install TensorFlow {needed} with "
            f'`pip install "tensorflow=={needed}.*"`, or rebuild recursive_tf with '
            "`pip install --force-reinstall --no-cache-dir recursive_tf` (in its "
            "source folder: `make clean build`)."
        )


def minor(version: str) -> str:
    """Returns the part of a version that names the ABI.

    >>> minor("2.21.0-rc1")
    '2.21'
    """
    return ".".join(version.split(".")[:2])
