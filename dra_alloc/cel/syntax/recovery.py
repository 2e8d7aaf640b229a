"""
What upstream's parser says at a token that does not fit, and whether it goes on.

One token too many is passed over, one that is missing is imagined; anything
else ends parsing here, where upstream would look for a place to go on.

Spec: CEL-1, CEL-3
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dra_alloc.cel.syntax.lexer import Token

#: Tokens that an operand starts with.
STARTERS: Final = frozenset(
    (
        *("[", "{", "(", ".", "-", "!", "true", "false", "null"),
        *("float", "int", "uint", "string", "bytes", "id"),
    )
)
#: What ends an element of a list, map or message.
CLOSES: Final = {"]": frozenset(("]", ",")), "}": frozenset(("}", ","))}
#: What may stand behind the brace of a message.
FIELDS: Final = frozenset(("}", ",", "?", "id", "quoted"))
_NAMES: Final = {
    "float": "NUM_FLOAT",
    "int": "NUM_INT",
    "uint": "NUM_UINT",
    "string": "STRING",
    "bytes": "BYTES",
    "id": "IDENTIFIER",
    "quoted": "ESC_IDENTIFIER",
    "eof": "<EOF>",
}
_ORDER: Final = (
    *("[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?", ":", "true", "false", "null"),
    *("float", "int", "uint", "string", "bytes", "id", "quoted", "eof"),
)
#: What goes on with an operand that is no operation.
MORE: Final = frozenset((".", "["))
#: What goes on with a complete operand.
GOES_ON: Final = frozenset((".", "[", "?", "||", "&&", "<", "<=", ">=", ">", "==", "!=", "in", "+", "-", "*", "/", "%"))
_OPENS: Final = {")": "(", "]": "[", "}": "{"}
_ENDS: Final = frozenset(("id", "true", "false", "null", "float", "int", "uint", "string", "bytes", ")", "]", "}"))
_OPTIONAL: Final = frozenset((".", "[", "{", ","))
#: Tokens that go on with an operand.
POSTFIX: Final = frozenset((".", "[", "{"))
#: What may follow inside of brackets: what ends it, and what goes on behind brackets that are operands by themselves.
MEMBER_ARGUMENTS: Final = frozenset((")", ","))
ARGUMENTS: Final = MEMBER_ARGUMENTS | MORE
PARENTHESES: Final = frozenset((")",)) | MORE
ELEMENTS, VALUES = CLOSES["]"] | MORE, CLOSES["}"] | MORE
INDEX: Final = frozenset(("]",))
KEY: Final = VALUES | {":"}
NOT_CLOSING: Final = (MORE | {","}, MORE | {",", "}"})


def expected(kinds: frozenset[str]) -> str:
    """A set of tokens as error texts list it."""
    names = [_NAMES.get(kind, f"'{kind}'") for kind in _ORDER if kind in kinds]
    return names[0] if len(names) == 1 else f"{{{', '.join(names)}}}"


def operand_tokens(tokens: Sequence[Token], at: int) -> frozenset[str]:
    """What may stand where an operand is wanted; more directly behind a bracket."""
    opening = tokens[at - 1].kind if at > 0 else ""
    before = tokens[at - 2].kind if at > 1 else ""
    if opening == "(" and before == "id":
        return STARTERS | {")"}
    if opening == "[":
        return STARTERS | ({"?"} if before in _ENDS else {"]", ",", "?"})
    return STARTERS | {"}", ",", "?"} if opening == "{" else STARTERS


def may_follow(tokens: Sequence[Token], at: int, missing: str) -> frozenset[str]:
    """What may stand behind a token that is missing at `at`."""
    if missing == ":":
        return STARTERS
    opening = _opening(tokens, at - 1)[0]
    return GOES_ON | _continues(tokens, opening)


def _continues(tokens: Sequence[Token], at: int) -> frozenset[str]:
    """What ends an operand that begins before `at`, as far as what encloses it goes."""
    opening, between = _opening(tokens, at - 1)
    if opening < 0:
        return frozenset((":",) if "?" in between else ("eof",))
    if "?" in between:
        return frozenset((":",))
    kind, before = tokens[opening].kind, tokens[opening - 1].kind if opening else ""
    if kind == "(":
        return frozenset((")", ",") if before == "id" else (")",))
    if kind == "[":
        return frozenset(("]",) if before in _ENDS else ("]", ","))
    return frozenset(("}", ",") if ":" in between else (":",))


def _opening(tokens: Sequence[Token], at: int) -> tuple[int, list[str]]:
    """The innermost bracket open at `at`, -1 if none, and the marks of ternaries and entries behind it."""
    closed: list[str] = []
    marks: list[str] = []
    passed = False
    while at >= 0:
        kind = tokens[at].kind
        if kind in _OPENS:
            closed.append(_OPENS[kind])
        elif closed:
            if kind == closed[-1]:
                closed.pop()
        elif kind in ("(", "[", "{"):
            return at, marks
        elif kind == ",":
            passed = True
        elif not passed and (kind == ":" or (kind == "?" and tokens[at - 1].kind not in _OPTIONAL)):
            if kind == "?" and ":" in marks:
                marks.remove(":")
            else:
                marks.append(kind)
        at -= 1
    return -1, marks
