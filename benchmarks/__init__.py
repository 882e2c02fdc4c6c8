"""Figures, each from a command; never a test."""
