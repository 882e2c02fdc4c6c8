"""What a test measured, for who runs the soak: no test asks more of it than an end."""

import sys


def tell(figure):
    """Prints a figure; `tools/soak.py` collects these lines."""
    sys.stdout.write(f"figure: {figure}\n")
    sys.stdout.flush()
