"""What is wrong with data."""


class ForestError(ValueError):
    """Arrays are not a valid forest, or a forest is used in a wrong way."""


class DataNotFoundError(ForestError):
    """A data set is not on this machine; the message says where to get it."""
