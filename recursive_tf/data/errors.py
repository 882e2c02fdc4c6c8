"""What is wrong with data."""


class ForestError(ValueError):
    """Arrays that are no forest, or a use that a forest does not allow."""
