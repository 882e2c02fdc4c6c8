"""Gradients."""


def register() -> None:
    """Registers gradients."""
