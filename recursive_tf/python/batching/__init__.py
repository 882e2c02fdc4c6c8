"""Compiles a closed program for the batched executor.

Flattens it, cuts its procedures into stages, and says as a plan what each of them
runs and where its values come from.
"""
