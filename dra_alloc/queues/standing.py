"""
What a queue system says of a workload, whichever system it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Generic, Protocol, TypeAlias, TypeVar

from dra_alloc.pods.gangs.trees import GroupTree, has_enough


class Standing(StrEnum):
    """What a queue system says of a workload; undecided is one of which it is not known."""

    ADMITTED = "admitted"
    WAITING = "waiting"
    NEVER = "never"
    INADMISSIBLE = "inadmissible"
    UNDECIDED = "undecided"


#: Why something is not tried, by a code that stays and in words; no code where it is tried.
KeptOut: TypeAlias = tuple[str, str]
TRIED: Final[KeptOut] = ("", "")
#: The code of what is asked for and not modelled: whether it is let in, or placed, is not known.
NOT_MODELLED: Final = "not-modelled"
#: Codes of what comes by itself, all others but what is not modelled being for somebody to mend.
_STANDINGS: Final = {
    NOT_MODELLED: Standing.UNDECIDED,
    "no-prebuilt-workload": Standing.WAITING,
    "pod-group-incomplete": Standing.WAITING,
}


def kept_out(code: str) -> Standing:
    """Return where something stands that is not tried, by the code of the reason."""
    return _STANDINGS.get(code, Standing.INADMISSIBLE)


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


class _Gang(Protocol):
    """Pods that are placed together, in a queue."""

    @property
    def queue(self) -> str: ...

    @property
    def group(self) -> GroupTree: ...


Gang = TypeVar("Gang", bound=_Gang)


@dataclass(frozen=True, slots=True)
class GangStanding(Generic[Gang]):
    """
    What becomes of a gang: `placed` are its pods with a place, those that had one before included.

    One that is admitted and has no place for what it needs lacks nodes or devices. `order` counts who is let in, or
    gets places.
    """

    job: Gang
    standing: Standing
    code: str = ""
    reasons: tuple[str, ...] = ()
    order: int = 0
    placed: frozenset[int] = frozenset()

    @property
    def queue(self) -> str:
        """Its queue."""
        return self.job.queue

    @property
    def has_enough(self) -> bool:
        """Whether its gang has what it needs."""
        return has_enough(self.job.group, self.placed)
