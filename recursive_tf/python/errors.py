"""What the front end raises while a program is traced."""


class SubGraphError(ValueError):
    """A SubGraph is defined or called wrongly; the message says how to mend it."""

    # AutoGraph raises an error again as its own type only where it sees that a message
    # is enough to make one.
    __init__ = Exception.__init__


class UnknownOutputsError(SubGraphError):
    """A SubGraph is called whose outputs are not known yet.

    Raised inside a branch that is traced on trial, and caught there: the call's
    outputs may be known from another branch.
    """
