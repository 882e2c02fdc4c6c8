"""The front end: from a `with` block to the ops of a closed program."""
