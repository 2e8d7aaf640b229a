"""
What reading a variable does to an optional in it.

The trap: upstream takes the content of an optional apart and puts it together
again. A version, quantity, address or URL does not survive that, an inner
optional is lost, and a type becomes its name. So
``cel.bind(v, device.attributes["d"].?version, v.value().major())`` fails where
the same without ``cel.bind`` works.

Spec: CEL-65
"""

from __future__ import annotations

from typing import Any, ClassVar

from dra_alloc.cel.check.types import ERROR, CelType
from dra_alloc.cel.errors import CelError
from dra_alloc.cel.plan.frame import Frame, Run
from dra_alloc.cel.values.runtime import Optional


class _Unconvertible:
    """An error where a value should be; `go_native` is what upstream names if it is reread in turn."""

    __slots__ = ("cel_error",)
    cel_type: ClassVar[CelType] = ERROR
    go_native = "*errors.errorString"

    def __init__(self, text: str) -> None:
        self.cel_error = text

    def __str__(self) -> str:
        return self.cel_error

    def cel_equal(self, other: Any) -> bool:
        """Raises CelError: nothing is equal to an error."""
        raise CelError(self.cel_error)


def reread(value: Any) -> Any:
    """`value` as reading a variable gives it."""
    if type(value) is not Optional or not value.present:
        return value
    inner = value.value
    while type(inner) is Optional:
        inner = inner.value if inner.present else None
    if type(inner) is CelType:
        inner = inner.name
    native = getattr(inner, "go_native", None)
    if native is not None:
        inner = _Unconvertible(f"unsupported conversion to ref.Val: ({native}){inner}")
    return value if inner is value.value else Optional(inner)


def whole(read: Run) -> Run:
    """A variable read without further steps."""

    def run_read(frame: Frame) -> Any:
        value = read(frame)
        return reread(value) if type(value) is Optional else value

    return run_read
