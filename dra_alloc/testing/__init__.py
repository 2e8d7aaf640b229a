"""
For people who hold an allocator against this one: random cases, Hypothesis strategies, a harness client; and for those
who write drivers: :func:`assert_publishable`, loaded when it is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dra_alloc.testing.publishable import assert_publishable

__all__ = ["assert_publishable"]


def __getattr__(name: str) -> object:
    """Load a public name on first use."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from dra_alloc.testing import publishable  # noqa: PLC0415 - lint is not loaded with the client

    return getattr(publishable, name)
