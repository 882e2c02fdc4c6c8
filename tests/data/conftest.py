"""What tests of data share."""

import pytest


@pytest.fixture
def written(tmp_path):
    """Returns a function that writes a file and returns its path."""

    def write(content, name="trees.txt"):
        path = tmp_path / name
        data = content.encode() if isinstance(content, str) else content
        path.write_bytes(data)
        return path

    return write
