"""What is built asks pip for the TensorFlow that it was built on."""

import importlib.metadata

import pytest
from packaging.requirements import Requirement

import run_requirements
from make_venv import ROOT, build_requirements


def asked(requirements):
    """Returns the specifier of TensorFlow in a list of requirements."""
    (found,) = (r for r in map(Requirement, requirements) if r.name == "tensorflow")
    return found.specifier


def test_the_installed_minor_is_asked_for():
    specifier = asked(run_requirements.run_requirements())
    assert specifier.contains(importlib.metadata.version("tensorflow"))


@pytest.mark.parametrize("minor", [("2", "20"), ("2", "21")])
def test_a_minor_is_one_that_the_project_builds_on(minor):
    built_on = asked(build_requirements((ROOT / "pyproject.toml").read_text()))
    specifier = asked([run_requirements.tensorflow_requirement(minor)])
    version = ".".join(minor)
    assert specifier.contains(f"{version}.0")
    assert built_on.contains(f"{version}.0")
    assert not specifier.contains(f"2.{int(minor[1]) + 1}.0")
    assert not specifier.contains(f"2.{int(minor[1]) - 1}.9")


def test_without_a_tensorflow_all_that_the_project_builds_on_are_asked_for(monkeypatch):
    def version(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(run_requirements.importlib.metadata, "version", version)
    (tensorflow, *_) = run_requirements.run_requirements()
    assert tensorflow in build_requirements((ROOT / "pyproject.toml").read_text())
