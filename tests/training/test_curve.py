"""The picture of a run has all that its record has, whatever a model measures."""

import pytest

from recursive_tf.training import draw_curve


def epochs(*names):
    line = {"loss": 1.0, "dev_loss": 2.0} | {f"dev_{name}": 0.5 for name in names}
    return [{"epoch": number + 1} | line for number in range(2)]


@pytest.fixture
def labels(monkeypatch):
    """Draws epochs; returns the names of the lines of each part of the picture."""
    axes = pytest.importorskip("matplotlib.axes").Axes
    seen = {}
    plot = axes.plot

    def noted(self, *args, label, **more):
        seen.setdefault(id(self), []).append(label)
        return plot(self, *args, label=label, **more)

    monkeypatch.setattr(axes, "plot", noted)

    def drawn(lines, path):
        draw_curve(lines, path)
        assert path.read_bytes().startswith(b"\x89PNG")
        return list(seen.values())

    return drawn


def test_of_a_model_without_metrics_it_has_the_losses_alone(labels, tmp_path):
    assert labels(epochs(), tmp_path / "curve.png") == [["training", "development"]]


def test_each_of_many_metrics_has_a_line(labels, tmp_path):
    names = [f"metric {number}" for number in range(9)]
    _, right = labels(epochs(*names), tmp_path / "curve.png")
    assert right == names
