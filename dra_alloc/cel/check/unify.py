"""
Assignability and type variables.

`dyn` and `any` match everything; a type variable takes the first type it
meets and the more general one after that. Bindings made by a failed attempt
are taken back.

Spec: CEL-11
"""

from __future__ import annotations

from collections.abc import Sequence

from dra_alloc.cel.check.types import DYN, CelType

_SCALARS = frozenset(("bool", "bytes", "double", "int", "string", "uint", "any", "duration", "timestamp", "struct"))
_NULLABLE = frozenset(("opaque", "struct", "any", "duration", "timestamp", "null"))
_PARAMETRIC = frozenset(("opaque", "list", "map"))


def is_dyn_or_error(kind: CelType) -> bool:
    """Whether `kind` takes part in no check: dyn, any, or the type of something broken."""
    return kind.kind in ("dyn", "any", "error")


class Unifier:
    """The type variables of one check and what is known about them."""

    __slots__ = ("_bound", "_told", "_trail", "count")

    def __init__(self, *, told: bool = False) -> None:
        #: Whether types of types are looked into where a variable may stand in them.
        self._told = told
        self._bound: dict[str, CelType] = {}
        self._trail: list[tuple[str, CelType | None]] = []
        self.count = 0

    def fresh(self) -> CelType:
        """A type variable not seen before."""
        name = f"_var{self.count}"
        self.count += 1
        return CelType("param", name)

    def assignable(self, left: CelType, right: CelType) -> bool:
        """Whether `left` can be used where `right` is wanted; binds variables if so."""
        if left is right and left.ground:
            return True
        mark = len(self._trail)
        if self._assign(left, right):
            return True
        self._undo(mark)
        return False

    def all_assignable(self, lefts: Sequence[CelType], rights: tuple[CelType, ...]) -> bool:
        """:meth:`assignable` for two lists of the same length, all or nothing."""
        mark = len(self._trail)
        if len(lefts) == len(rights) and self._assign_all(lefts, rights):
            return True
        self._undo(mark)
        return False

    def substitute(self, kind: CelType, *, free_to_dyn: bool = False) -> CelType:
        """`kind` with bound variables replaced, unbound ones by dyn if `free_to_dyn`."""
        while kind.kind == "param":
            bound = self._bound.get(kind.name)
            if bound is None:
                return DYN if free_to_dyn else kind
            kind = bound
        if kind.ground:
            return kind
        params = tuple([self.substitute(each, free_to_dyn=free_to_dyn) for each in kind.params])
        if all(new is old for new, old in zip(params, kind.params, strict=True)):
            return kind
        return CelType(kind.kind, kind.name, params)

    def instantiate(self, params: tuple[CelType, ...], result: CelType) -> tuple[tuple[CelType, ...], CelType]:
        """A signature with its type parameters replaced by fresh variables, the same for the same name."""
        names: dict[str, CelType] = {}
        renamed = tuple([self._rename(kind, names) for kind in params])
        return renamed, self._rename(result, names)

    def _rename(self, kind: CelType, names: dict[str, CelType]) -> CelType:
        if kind.kind == "param":
            known = names.get(kind.name)
            if known is None:
                known = names[kind.name] = self.fresh()
            return known
        if kind.ground:
            return kind
        return CelType(kind.kind, kind.name, tuple([self._rename(each, names) for each in kind.params]))

    def _bind(self, name: str, kind: CelType) -> None:
        self._trail.append((name, self._bound.get(name)))
        self._bound[name] = kind

    def _undo(self, mark: int) -> None:
        while len(self._trail) > mark:
            name, old = self._trail.pop()
            if old is None:
                del self._bound[name]
            else:
                self._bound[name] = old

    def _assign_all(self, lefts: Sequence[CelType], rights: tuple[CelType, ...]) -> bool:
        # A generator would put another frame on the stack for every level of nesting.
        for left, right in zip(lefts, rights, strict=True):  # noqa: SIM110
            if not self._assign(left, right):
                return False
        return True

    def _assign(self, left: CelType, right: CelType) -> bool:
        if left is right and not left.params and left.kind != "param":
            return True
        if right.kind == "param":
            valid, known = self._substitutable(left, right)
            if valid or known:
                return valid
        if left.kind == "param":
            return self._substitutable(right, left)[0]
        if is_dyn_or_error(left) or is_dyn_or_error(right):
            return True
        if left.kind == "null":
            return right.nullable or right.kind in _NULLABLE
        if right.kind == "null":
            return left.nullable or left.kind in _NULLABLE
        if left.kind in _SCALARS:
            return left.kind == right.kind and left.name == right.name
        if left.kind == "type":
            return right.kind == "type" and (not self._told or self._assign_types(left, right))
        return (
            left.kind in _PARAMETRIC
            and left.kind == right.kind
            and left.name == right.name
            and len(left.params) == len(right.params)
            and self._assign_all(left.params, right.params)
        )

    def _assign_types(self, left: CelType, right: CelType) -> bool:
        """Whether one type of a type may be used for another: any two, unless a variable stands in one."""
        if not left.params or not right.params:
            return not right.params
        inner, other = left.params[0], right.params[0]
        return not (_has_variable(inner) or _has_variable(other)) or self._assign(inner, other)

    def _substitutable(self, kind: CelType, variable: CelType) -> tuple[bool, bool]:
        """Whether `kind` may stand for `variable`, and whether something already did."""
        if kind == variable:
            return True, True
        bound = self._bound.get(variable.name)
        if bound is not None:
            if kind == bound or kind.plain == bound.plain:
                return True, True
            if self._assign(kind, bound):
                general = kind if self.less_specific(kind, bound) else bound
                if self._absent(variable, general):
                    self._bind(variable.name, general)
                return True, True
            return False, True
        if self._absent(variable, kind):
            self._bind(variable.name, kind)
            return True, False
        return False, False

    def _absent(self, variable: CelType, within: CelType) -> bool:
        """Whether `variable` does not occur in `within`."""
        while within.kind == "param":
            if within.name == variable.name:
                return False
            bound = self._bound.get(within.name)
            if bound is None:
                return True
            within = bound
        for each in within.params:  # noqa: SIM110
            if not self._absent(variable, each):
                return False
        return True

    def less_specific(self, left: CelType, right: CelType) -> bool:
        """Whether `left` is equal to `right` or more general."""
        if left.is_dyn or left.kind == "param":
            return True
        if right.is_dyn or right.kind == "param" or left.kind != right.kind:
            return False
        if left.kind == "type":
            if not self._told or not left.params:
                return True
            return bool(right.params) and self.less_specific(left.params[0], right.params[0])
        if left.kind in _PARAMETRIC:
            if left.name != right.name or len(left.params) != len(right.params):
                return False
            for each, other in zip(left.params, right.params, strict=True):  # noqa: SIM110
                if not self.less_specific(each, other):
                    return False
            return True
        return left.plain == right.plain


def _has_variable(kind: CelType) -> bool:
    return kind.kind == "param" or any(_has_variable(each) for each in kind.params)
