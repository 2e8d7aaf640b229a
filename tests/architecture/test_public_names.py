"""
The public list changes on purpose only.
"""

from __future__ import annotations

from tests.architecture.public_names import RECORD, current


def test_the_public_names_are_those_recorded():
    """A new name: run `python -m tests.architecture.public_names` and add a line to the changelog."""
    recorded, now = set(RECORD.read_text(encoding="utf-8").splitlines()), set(current())
    assert (sorted(recorded - now), sorted(now - recorded)) == ([], []), "gone, new"
