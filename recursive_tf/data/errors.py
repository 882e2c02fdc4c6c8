"""What is wrong with data."""


class ForestError(ValueError):
    """Arrays are not a valid forest, or a forest is used in a wrong way."""
