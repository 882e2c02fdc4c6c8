"""Models written with `recursive_tf`, each a script with its data and training loop."""
