"""Whether a revision is slower than another one, beyond what the machine's noise is."""
