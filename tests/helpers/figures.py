"""What a test measured, for who runs the soak: no test asks more of it than an end."""

import sys


def tell(figure):
    """Prints a figure; `tools/soak.py` collects these lines."""
    # On a line of its own, behind what pytest has printed there.
    sys.stdout.write(f"\nfigure: {figure}\n")
    sys.stdout.flush()
