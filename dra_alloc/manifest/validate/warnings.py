"""
What the API server takes, and warns of.
"""

from __future__ import annotations

from collections.abc import Iterator

from dra_alloc.api import ResourceSlice
from dra_alloc.api.go_text import quote
from dra_alloc.errors import Problem, Where

__all__ = ["warnings_of"]


def warnings_of(item: ResourceSlice) -> Iterator[Problem]:
    """Yield what the API server says of a slice that it stores all the same. Spec: VAL-18."""
    if item.spec.driver != item.spec.driver.lower():
        text = f"driver names should be lowercase; {quote(item.spec.driver)} contains uppercase characters"
        yield Problem(text, Where(path="spec.driver"))
