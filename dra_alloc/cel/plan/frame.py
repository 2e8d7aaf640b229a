"""
What compiled code runs on: one flat list of slots per evaluation, the device in slot 0, work that loops did in slot 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from dra_alloc.cel.errors import CelError

Frame = list[Any]
Run = Callable[[Frame], Any]
UNSET: Final = object()
#: The slot in which loops count the parts of the expression that they went through, and the first that is free.
WORK: Final = 1
FIRST_SLOT: Final = 2


class Failed:
    """An error kept in a slot, raised whenever the slot is read."""

    __slots__ = ("error",)

    def __init__(self, error: CelError) -> None:
        self.error = error


class Code(NamedTuple):
    """Compiled code; `value` is what it always gives if `constant`; `domains` names the map of the device it gives."""

    run: Run
    constant: bool = False
    value: Any = None
    domains: str = ""


def constant(value: Any) -> Code:
    """Code that always gives `value`."""
    return Code(lambda frame: value, True, value)


def read_value(slot: int) -> Run:
    """Read `slot`, which may hold an error: the value of a broken attribute."""

    def run(frame: Frame) -> Any:
        value = frame[slot]
        if type(value) is Failed:
            raise CelError(value.error.text)
        return value

    return run


def lazy(slot: int, init: Run) -> Run:
    """Read `slot`, filling it by `init` the first time; an error is kept like a value."""

    def run(frame: Frame) -> Any:
        value = frame[slot]
        if value is UNSET:
            try:
                value = frame[slot] = init(frame)
            except CelError as error:
                frame[slot] = Failed(error)
                raise
        elif type(value) is Failed:
            raise CelError(value.error.text)
        return value

    return run
