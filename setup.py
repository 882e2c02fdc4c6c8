"""Builds recursive_tf/ops/_recursive_tf.so against the installed TensorFlow.

All that is not about C++ is in pyproject.toml. Environment: CXX, the compiler
(g++); CXXFLAGS, further flags, e.g. `-Werror`. For a second library, with other flags
and beside the first: `build_ext --build-temp=<objects> --build-lib=<package>`.
"""

import pathlib
import sys

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "tools"))

from cc_build import BuildError  # noqa: E402
from library_build import OBJECTS, build_library, library_sources  # noqa: E402
from package_copy import BUILD_INFO, LIBRARY, OPS, place_library  # noqa: E402
from run_requirements import run_requirements, tensorflow_minor  # noqa: E402


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
    """A wheel for one platform and any Python: the library does not call Python.

    It has the minor version of TensorFlow as its build number, so that a wheel for each
    can lie in one folder, and pip prefers that for the newest.
    """

    def finalize_options(self) -> None:
        """Takes the build number, unless it is told another one."""
        self.build_number = self.build_number or "".join(tensorflow_minor() or ("0",))
        super().finalize_options()

    def get_tag(self) -> tuple[str, str, str]:
        """Returns the tag, e.g. `py3-none-linux_x86_64`."""
        *_, platform = super().get_tag()
        return "py3", "none", platform


setup(
    # Says that there is a library to build; how, is said above.
    install_requires=run_requirements(),
    ext_modules=[Extension("recursive_tf.ops._recursive_tf", library_sources())],
    cmdclass={"build_ext": BuildLibrary, "bdist_wheel": PlatformWheel},
)
