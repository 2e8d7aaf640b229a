"""
What a queue system says of a workload, whichever system it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

__all__ = ["QueueAdmission", "Standing"]


class Standing(StrEnum):
    """What a queue system says of a workload; undecided is one whose charge took more work than there was."""

    ADMITTED = "admitted"
    WAITING = "waiting"
    NEVER = "never"
    INADMISSIBLE = "inadmissible"
    UNDECIDED = "undecided"


class QueueAdmission(Protocol):
    """What becomes of a workload in its queue, with a stable code and the reasons; `order` counts the admitted."""

    @property
    def standing(self) -> Standing:
        """What the system says."""

    @property
    def queue(self) -> str:
        """The queue that it is charged to; nothing where there is none."""

    @property
    def code(self) -> str:
        """Why it is not admitted, by a name that stays."""

    @property
    def reasons(self) -> Sequence[str]:
        """The same in words."""

    @property
    def order(self) -> int:
        """Who came how manyth, 0 for who did not."""
