"""The benchmark of optimizers runs; how fast is for a quiet machine to say."""

from benchmarks import optimizers


def test_it_prints_a_table(capsys, monkeypatch):
    # The other tests of this process keep their processors.
    monkeypatch.setattr(optimizers, "use_two_cores", lambda: None)
    optimizers.main(["--vocabulary", "50", "--repeats", "1"])
    printed = capsys.readouterr().out
    assert "| AdaGrad, 50 rows, Keras | ms |" in printed
    assert "| Adam, 50 rows, times faster | ratio |" in printed
