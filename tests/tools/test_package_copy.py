"""A copy of the project runs alone, with the library that it was given."""

import ast
import pathlib
import subprocess
import sys

import pytest

import package_copy


@pytest.fixture
def project(tmp_path, monkeypatch) -> pathlib.Path:
    """A project whose package has a library and build info of its own."""
    root = tmp_path / "project"
    for name, text in {
        "recursive_tf/__init__.py": "",
        "recursive_tf/py.typed": "",
        "recursive_tf/ops/__init__.py": "",
        "recursive_tf/ops/_build_info.py": 'TENSORFLOW_VERSION = "1.0"\n',
        "recursive_tf/ops/_recursive_tf.so": "the project's own",
        "recursive_tf/cc/base.cc": "int a;\n",
        "tests/python/test_one.py": "",
        "tests/saving/fixtures/0.1/tree/saved_model.pb": "a model",
        "docs/design.md": "",
        "pyproject.toml": "",
        "README.md": "",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    monkeypatch.setattr(package_copy, "ROOT", root)
    return root


@pytest.fixture
def library(tmp_path) -> pathlib.Path:
    path = tmp_path / "lib_other.so"
    path.write_text("another")
    return path


@pytest.fixture
def copy(project, library, tmp_path) -> pathlib.Path:
    return package_copy.assemble(library, tmp_path / "copy")


def test_a_copy_has_the_library_that_it_was_given(copy):
    assert (copy / "recursive_tf/ops/_recursive_tf.so").read_text() == "another"


def test_a_copy_says_that_its_library_was_built_on_the_installed_tensorflow(copy):
    info = (copy / "recursive_tf/ops/_build_info.py").read_text()
    assert '\nTENSORFLOW_VERSION = "2.' in info


def test_a_copy_has_what_tests_need_and_no_sources_in_cpp(copy):
    files = {str(path.relative_to(copy)) for path in copy.rglob("*") if path.is_file()}
    assert files == {
        "README.md",
        "docs/design.md",
        "pyproject.toml",
        "recursive_tf/__init__.py",
        "recursive_tf/ops/__init__.py",
        "recursive_tf/ops/_build_info.py",
        "recursive_tf/ops/_recursive_tf.so",
        "recursive_tf/py.typed",
        "tests/python/test_one.py",
        "tests/saving/fixtures/0.1/tree/saved_model.pb",
    }


def test_the_projects_own_library_stays_as_it_is(copy, project):
    library = project / "recursive_tf/ops/_recursive_tf.so"
    assert library.read_text() == "the project's own"


def test_what_went_from_the_project_goes_from_the_copy(copy, project, library):
    (project / "tests/python/test_one.py").unlink()
    package_copy.assemble(library, copy)
    assert not (copy / "tests/python/test_one.py").exists()


def test_what_else_is_in_the_folder_stays(copy, library):
    (copy / "report.txt").touch()
    package_copy.assemble(library, copy)
    assert (copy / "report.txt").exists()


def test_python_imports_the_copy_and_not_the_installed_package(copy, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", "import recursive_tf as rtf; print(rtf.__file__)"],
        env=package_copy.environment(copy),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == str(copy / "recursive_tf/__init__.py")


def test_a_copy_has_every_folder_that_tests_import_from():
    root = pathlib.Path(__file__).resolve().parents[2]
    packages = {path.name for path in root.iterdir() if list(path.glob("*.py"))}
    imported = set()
    for path in (root / "tests").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                imported.add((node.module or "").partition(".")[0])
            elif isinstance(node, ast.Import):
                imported.update(name.name.partition(".")[0] for name in node.names)
    assert imported & packages - {"tests"} <= set(package_copy.FOLDERS)
