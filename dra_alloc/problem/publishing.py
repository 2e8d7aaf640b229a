"""
Members that are made when they are first asked for, and are the same for every thread from then on.
"""

from __future__ import annotations

from threading import Lock
from typing import Any, Final, TypeVar

T = TypeVar("T", bound=tuple[Any, ...])

_PUBLISHING: Final = Lock()


def published(owner: Any, member: str, made: T) -> T:
    """
    Return what the member is from now on: what was just made, or the tuple that another thread published before.

    Two threads may both make it; the lock is held for the assignment alone, so that what is made may be slow.
    """
    with _PUBLISHING:
        present: T | None = getattr(owner, member)
        if isinstance(present, tuple):
            return present
        setattr(owner, member, made)
        return made
