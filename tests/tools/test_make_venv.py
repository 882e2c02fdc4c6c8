"""The environment is made as this machine allows, or says what is missing."""

import pathlib

import pytest

from make_venv import (
    ROOT,
    SUPPORTED,
    VenvError,
    build_requirements,
    check_python,
    creation_commands,
)

VENV = pathlib.Path(".venv")


def test_ensurepip_is_all_it_takes():
    (command,) = creation_commands("python3", VENV, has_ensurepip=True, has_pip=False)
    assert command == ["python3", "-m", "venv", ".venv"]


def test_without_ensurepip_the_pip_outside_installs_one_inside():
    _, install = creation_commands("python3", VENV, has_ensurepip=False, has_pip=True)
    assert install[:5] == ["python3", "-m", "pip", "--python", ".venv/bin/python"]


def test_without_either_the_package_to_install_is_named():
    with pytest.raises(VenvError, match=r"apt-get install python3\.\d+-venv"):
        creation_commands("python3", VENV, has_ensurepip=False, has_pip=False)


@pytest.mark.parametrize("version", [(3, 9), (3, 14), (4, 0)])
def test_a_python_without_a_tensorflow_is_refused(version):
    with pytest.raises(VenvError, match=r"3\.10 to 3\.13"):
        check_python(version)


def test_the_supported_pythons_are_those_of_the_metadata():
    (low, high) = (".".join(map(str, bound)) for bound in SUPPORTED)
    metadata = (ROOT / "pyproject.toml").read_text()
    assert f'requires-python = ">={low},<{high}"' in metadata


def test_the_build_requirements_are_read_from_the_metadata():
    requirements = build_requirements((ROOT / "pyproject.toml").read_text())
    assert "tensorflow>=2.20,<2.22" in requirements
