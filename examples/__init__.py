"""Short recursive programs, one idea a file: `python -m examples.takeuchi`."""
