"""Systems beside ours, one file each; each runs in an environment of its own."""
