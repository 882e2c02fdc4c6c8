"""Virtual environments in which the peers run.

Each peer has one of its own: none of them agrees with TensorFlow, or with another
peer, on the versions of what both need. This module neither imports TensorFlow nor
a peer; a measurement starts `python_of(name)` with `environment_variables(name)`.

    python -m benchmarks.peers.environments torch jax dynet dgl
"""

import argparse
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

FOLDER_VARIABLE = "RTF_PEERS"
# Of a compiler's or pip's output, what an error shows.
LAST_LINES = 12
# A file of DyNet takes 1.5 GB to compile.
JOBS = 2

# What MKL asks before it uses AVX-512. It says no of processors that have AVX-512 and
# are not Intel's, which halves the speed of their matrix products.
FULL_SPEED = "mkl_full_speed"
_FULL_SPEED_SOURCE = "int mkl_serv_intel_cpu_true(void) { return 1; }\n"
_EMPTY_GRAPHBOLT = '"""Left empty: its library is built for older PyTorch."""\n'

DYNET = "dynet==2.1.2"

Tell = Callable[[str], None]


class CouldNotInstallError(RuntimeError):
    """A command failed; the text says which, how it ended, and what it may need."""


class Run(Protocol):
    """Runs a command to its end; raises `CouldNotInstallError` if it fails."""

    def __call__(
        self, command: Sequence[str | os.PathLike[str]], log: pathlib.Path
    ) -> None:
        """Appends what the command prints to the file `log`."""


class Making(NamedTuple):
    """What a function that finishes an environment has at hand.

    Attributes:
        folder: The environment.
        command: Runs one command; its output goes to the environment's log.
        tell: Takes a line of progress.
    """

    folder: pathlib.Path
    command: Callable[..., None]
    tell: Tell


class Environment(NamedTuple):
    """How an environment is made.

    Attributes:
        packages: Installed by pip with all that they need.
        imports: What has to be importable in the end.
        alone: Installed by pip without what they ask for.
        built: Built from source by `finish`.
        finish: What pip does not do.
        debian: Debian's packages without which it cannot be made.
        is_lifted: Whether MKL is in it, to be run at full speed.
    """

    packages: tuple[str, ...]
    imports: str
    alone: tuple[str, ...] = ()
    built: tuple[str, ...] = ()
    finish: tuple[Callable[[Making], None], ...] = ()
    debian: str = "python3-venv"
    is_lifted: bool = False

    @property
    def recipe(self) -> str:
        """All that is installed, a line each, and what is done after that."""
        steps = [step.__name__ for step in self.finish]
        return "\n".join((*self.packages, *self.alone, *self.built, *steps))

    @property
    def stamp(self) -> str:
        """The name of the file that says that all of the recipe is there."""
        return f"made-{hashlib.sha256(self.recipe.encode()).hexdigest()[:12]}"


def lift_mkl(making: Making) -> None:
    """Builds the library that lets MKL use AVX-512 on every processor that has it.

    It is loaded before the program's libraries (`environment_variables`): MKL calls
    the function through the dynamic linker, which takes the first of its name.
    """
    making.tell("building the library that lifts MKL to full speed")
    source = making.folder / f"{FULL_SPEED}.c"
    source.write_text(_FULL_SPEED_SOURCE)
    library = source.with_suffix(".so")
    making.command(["cc", "-shared", "-fPIC", "-O2", "-o", library, source])


def empty_graphbolt(making: Making) -> None:
    """Empties DGL's module for sampling, which refuses newer versions of PyTorch.

    Nothing else of DGL needs it.
    """
    making.tell("emptying dgl.graphbolt")
    module = site_packages(making.folder) / "dgl" / "graphbolt" / "__init__.py"
    module.write_text(_EMPTY_GRAPHBOLT)


def build_dynet(making: Making) -> None:
    """Builds DyNet for this processor, from its source and Debian's Eigen."""
    _build_dynet(making, [])


def build_dynet_with_mkl(making: Making) -> None:
    """Builds DyNet as `build_dynet` does, with MKL for its matrix products."""
    libraries = making.folder / "lib"
    for name in ("mkl_rt", "mkl_core", "mkl_intel_lp64"):
        # The wheel has no names for a linker.
        link = libraries / f"lib{name}.so"
        link.unlink(missing_ok=True)
        link.symlink_to(f"lib{name}.so.2")
    # MKL's threads are in a library that nothing else of DyNet names.
    flags = "-DCMAKE_SHARED_LINKER_FLAGS=-Wl,--no-as-needed"
    _build_dynet(making, [f"-DMKL_ROOT={making.folder}", flags])


def _build_dynet(making: Making, options: Sequence[str]) -> None:
    eigen = pathlib.Path(os.environ.get("EIGEN3_INCLUDE_DIR", "/usr/include/eigen3"))
    if not (eigen / "Eigen" / "Core").exists():
        raise CouldNotInstallError(
            f"there is no Eigen in {eigen} (EIGEN3_INCLUDE_DIR names another folder)"
        )
    python = _interpreter(making.folder)
    work = making.folder / "building"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    making.tell("fetching DyNet's source")
    without = ("--no-deps", "--no-binary", ":all:", "--no-build-isolation")
    making.command([*_pip(python), "download", *without, "-d", work, DYNET])
    for archive in work.glob("*.tar.gz"):
        making.command(["tar", "-xzf", archive, "--strip-components=1", "-C", work])
    making.tell("compiling DyNet: about 10 minutes on 2 cores")
    build = work / "build"
    making.command(["cmake", *_cmake_flags(making.folder, eigen), *options])
    making.command(["make", "-C", build, f"-j{JOBS}"])
    making.command(["make", "-C", build, "install"])
    for file in (build / "python").glob("*dynet*"):
        if file.suffix in (".py", ".so"):
            shutil.copy(file, site_packages(making.folder))
    shutil.rmtree(work)


def _cmake_flags(folder: pathlib.Path, eigen: pathlib.Path) -> list[str]:
    """Returns the arguments; DyNet adds `-Ofast -march=native` by itself."""
    work = folder / "building"
    settings = {
        "CMAKE_INSTALL_PREFIX": folder,
        "CMAKE_INSTALL_RPATH": folder / "lib",
        "CMAKE_CXX_FLAGS": "-w",
        # CMake 4 refuses what DyNet asks for, 2.8.
        "CMAKE_POLICY_VERSION_MINIMUM": "3.5",
        "EIGEN3_INCLUDE_DIR": eigen,
        "PYTHON": _interpreter(folder),
    }
    flags = [f"-D{name}={value}" for name, value in settings.items()]
    return ["-S", str(work), "-B", str(work / "build"), *flags]


_TORCH = "torch==2.13.0"
# DyNet's build asks for what newer versions no longer have.
_DYNET = ("setuptools==69.5.1", "wheel", "cython==0.29.37", "numpy==1.26.4")
# What DGL imports; more is what only the emptied module needs.
_DGL_NEEDS = ("scipy", "networkx", "pandas", "psutil", "requests", "tqdm")
_DYNET_DEBIAN = "python3-dev python3-venv g++ make cmake libeigen3-dev"

ENVIRONMENTS: Mapping[str, Environment] = {
    "torch": Environment(
        packages=(_TORCH, "numpy==2.4.6"),
        imports="torch",
        finish=(lift_mkl,),
        debian="python3-venv gcc",
        is_lifted=True,
    ),
    "jax": Environment(packages=("jax==0.10.2",), imports="jax"),
    "dynet": Environment(
        packages=_DYNET,
        imports="_dynet",
        built=(DYNET,),
        finish=(build_dynet,),
        debian=_DYNET_DEBIAN,
    ),
    "dynet_mkl": Environment(
        packages=(*_DYNET, "mkl==2024.2.2", "mkl-include==2024.2.2"),
        imports="_dynet",
        built=(DYNET,),
        finish=(lift_mkl, build_dynet_with_mkl),
        debian=_DYNET_DEBIAN,
        is_lifted=True,
    ),
    "dgl": Environment(
        packages=(_TORCH, "numpy==2.4.6", *_DGL_NEEDS),
        # DGL imports a part of setuptools that is gone from newer ones.
        alone=("dgl==2.1.0", "setuptools==69.5.1"),
        imports="dgl",
        finish=(empty_graphbolt, lift_mkl),
        debian="python3-venv gcc",
        is_lifted=True,
    ),
}


def folder_of(name: str) -> pathlib.Path:
    """Returns the environment's default folder, whether it is made or not.

    Args:
        name: A key of `ENVIRONMENTS`.
    """
    _known(name)
    default = pathlib.Path.home() / ".cache" / "recursive_tf" / "peers"
    return pathlib.Path(os.environ.get(FOLDER_VARIABLE) or default).absolute() / name


def python_of(name: str, folder: pathlib.Path | None = None) -> pathlib.Path:
    """Returns the path of the environment's interpreter, whether it is made or not."""
    return _interpreter(folder or folder_of(name))


def environment_variables(
    name: str, folder: pathlib.Path | None = None
) -> dict[str, str]:
    """Returns what is to be set for `python_of(name)`, beside what is set already."""
    if not _known(name).is_lifted:
        return {}
    return {"LD_PRELOAD": str((folder or folder_of(name)) / f"{FULL_SPEED}.so")}


def is_made(name: str, folder: pathlib.Path | None = None) -> bool:
    """Returns whether the environment is there, made as `ENVIRONMENTS` says now."""
    return ((folder or folder_of(name)) / _known(name).stamp).exists()


def run(command: Sequence[str | os.PathLike[str]], log: pathlib.Path) -> None:
    """Runs a command to its end, and appends what it prints to the file `log`.

    Raises:
        CouldNotInstallError: The program is not there, or did not end with 0. The
            text has the last lines that it printed.
    """
    words = [str(word) for word in command]
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise CouldNotInstallError(f"{words[0]} cannot be run: {error}") from error
    with log.open("a") as file:
        file.write(f"$ {' '.join(words)}\n{done.stdout}\n")
    if done.returncode:
        last = "\n  ".join(done.stdout.strip().splitlines()[-LAST_LINES:])
        raise CouldNotInstallError(
            f"`{' '.join(words)}` ended with {done.returncode}:\n  {last}\n"
            f"All that it printed is in {log}."
        )


def make(
    name: str,
    folder: pathlib.Path | None = None,
    run: Run = run,
    tell: Tell = print,
) -> pathlib.Path:
    """Makes an environment, unless it is there; returns its interpreter.

    Minutes, and for DyNet about ten. What an interrupted call has installed is used by
    the next; an environment that was made in another way is removed first.

    Args:
        name: A key of `ENVIRONMENTS`.
        folder: Where; by default `folder_of(name)`.
        run: What runs commands.
        tell: Takes the lines of progress.

    Raises:
        CouldNotInstallError: A command failed. The text says what Debian's packages
            the environment needs.
        ValueError: There is no environment of this name.
    """
    environment = _known(name)
    folder = folder or folder_of(name)
    if is_made(name, folder):
        tell(f"{name}: is there, {folder}")
        return _interpreter(folder)
    if any(folder.glob("made-*")):
        tell(f"{name}: removing what was made in another way")
        shutil.rmtree(folder)
    try:
        _make(environment, folder, run, lambda line: tell(f"{name}: {line}"))
    except CouldNotInstallError as error:
        raise CouldNotInstallError(
            f"{name} could not be installed: {error}\n"
            f"It needs `apt-get install {environment.debian}` and a package index."
        ) from error
    tell(f"{name}: ready, {folder}")
    return _interpreter(folder)


def _make(environment: Environment, folder: pathlib.Path, run: Run, tell: Tell) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    making = Making(folder, lambda words: run(words, folder / "output.txt"), tell)
    python = _interpreter(folder)
    tell(f"making a virtual environment in {folder}")
    making.command([sys.executable, "-m", "venv", folder])
    tell(f"installing {', '.join(environment.packages)}")
    making.command([*_pip(python), "install", *environment.packages])
    if environment.alone:
        tell(f"installing {', '.join(environment.alone)}")
        making.command([*_pip(python), "install", "--no-deps", *environment.alone])
    for step in environment.finish:
        step(making)
    making.command([python, "-c", f"import {environment.imports}"])
    (folder / environment.stamp).write_text(f"{environment.recipe}\n")


def site_packages(folder: pathlib.Path) -> pathlib.Path:
    """Returns where an environment's modules are."""
    places = {"base": str(folder), "platbase": str(folder)}
    return pathlib.Path(sysconfig.get_path("platlib", "posix_prefix", vars=places))


def _interpreter(folder: pathlib.Path) -> pathlib.Path:
    return folder / "bin" / "python"


def _pip(python: pathlib.Path) -> list[str]:
    quietly = ("--quiet", "--no-input", "--disable-pip-version-check")
    return [str(python), "-m", "pip", *quietly]


def _known(name: str) -> Environment:
    if name not in ENVIRONMENTS:
        raise ValueError(
            f"there is no environment {name!r}; there are {', '.join(ENVIRONMENTS)}"
        )
    return ENVIRONMENTS[name]


def main(arguments: Sequence[str] | None = None) -> int:
    """Makes the environments that are named; returns how many could not be made."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="+", choices=list(ENVIRONMENTS), metavar="NAME")
    failures = []
    for name in parser.parse_args(arguments).names:
        try:
            make(name)
        except CouldNotInstallError as error:
            failures.append(str(error))
    for failure in failures:
        print(failure, file=sys.stderr)
    return len(failures)


if __name__ == "__main__":
    sys.exit(main())
