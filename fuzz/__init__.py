"""Differential fuzzing against upstream, and the client of its oracle."""
