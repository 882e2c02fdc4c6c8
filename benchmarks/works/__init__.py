"""What every system of the yardstick computes: trees, weights, batches. NumPy alone."""
