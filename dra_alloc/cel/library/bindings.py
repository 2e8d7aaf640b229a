"""
``cel.bind(name, init, body)``; `init` is evaluated when first needed, if at all.

Spec: CEL-17
"""

from __future__ import annotations

from typing import Final

from dra_alloc.cel.check.declarations import Library, Macro, Window
from dra_alloc.cel.syntax.ast import Ident, Node
from dra_alloc.cel.syntax.macros import MacroError, MacroExpansion, in_namespace


def _bind(make: MacroExpansion, target: Node | None, args: tuple[Node, ...]) -> Node | None:
    if not in_namespace(target, "cel"):
        return None
    name, init, body = args
    if not isinstance(name, Ident):
        raise MacroError(name, "cel.bind() variable names must be simple identifiers")
    return make.bind(name.name, init, body)


BINDINGS_LIBRARY: Final = Library("cel.bindings", macros=(Macro("bind", 3, _bind),), window=Window(since=31))
