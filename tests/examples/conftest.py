"""The example that a test file is named after."""

import types

import pytest

from tests.examples.loading import executors_in_table, load


@pytest.fixture
def example(request: pytest.FixtureRequest) -> types.ModuleType:
    return load(_name_of(request))


@pytest.fixture
def executor_in_table(request: pytest.FixtureRequest) -> str:
    return executors_in_table()[_name_of(request)]


def _name_of(request: pytest.FixtureRequest) -> str:
    return request.path.stem.removeprefix("test_")
