"""
What is known for one shape of claims: who judges devices, the parts and boards so far, and what that takes.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final
from weakref import WeakKeyDictionary

from dra_alloc.problem.pools import Pool
from dra_alloc.solve.columns import Lens
from dra_alloc.solve.masks.board import Board, BoardAnswer, Constraint, Judge, Part
from dra_alloc.solve.masks.shape import Shape
from dra_alloc.solve.masks.shared_path import Sharing

#: Bytes that a plan takes with the claims behind it, a part, a board, a device that has a value in common with others
#: there, an answer and a pick in it: as measured, about.
_PLAN: Final = 16_000
_PART: Final = 400
_BOARD: Final = 800
_HOLDER: Final = 120
_ANSWER: Final = 400
_PICK: Final = 100


class Plan:
    """
    A shape with who judges devices for it and what constraints state of them, and the parts and boards so far.

    `weight` is what it takes with all that, in bytes, about.
    """

    __slots__ = (
        "boards",
        "constraints",
        "criteria",
        "entangled",
        "every",
        "judges",
        "least",
        "lens",
        "parts",
        "shape",
        "sharing",
        "signatures",
        "weight",
    )

    def __init__(self, shape: Shape, lens: Lens, judges: Sequence[Judge], constraints: Sequence[Constraint]) -> None:
        self.shape = shape
        self.lens = lens
        self.judges = tuple(judges)
        self.constraints = tuple(constraints)
        needs = [need for slot in shape.slots for need in slot]
        self.every = any(need.every for need in needs)
        # Whether devices of several requests have to go together, and how many a solution takes at least.
        self.entangled = bool(constraints) and len(shape.slots) > 1
        self.least = sum([min([need.count for need in slot]) for slot in shape.slots])
        # By request, as they are numbered through.
        self.criteria = tuple([need.criteria for need in needs])
        # Who judges devices that can be shared; None where only the search can deal with them.
        self.sharing: Sharing | None = None
        self.forget()

    def forget(self) -> None:
        """Let go of all that can be found out again: who asks at the moment does so."""
        self.parts: dict[int, Part | None] = {}
        self.boards: dict[Hashable, Board | None] = {}
        self.signatures: WeakKeyDictionary[Pool, tuple[int, ...]] = WeakKeyDictionary()
        self.weight = _PLAN

    def put_part(self, signature: int, part: Part | None) -> Part | None:
        """Remember the part of slices that look alike, unless there is one; return the one that counts."""
        self.weight += _PART
        return self.parts.setdefault(signature, part)

    def put_board(self, key: Hashable, board: Board | None) -> Board | None:
        """Remember a board in the same way."""
        self.weight += _BOARD + (0 if board is None else _HOLDER * sum(map(len, board.holders)))
        return self.boards.setdefault(key, board)

    def weigh(self, answer: BoardAnswer) -> None:
        """Count an answer that one of the boards remembers."""
        self.weight += _ANSWER + _PICK * len(answer.picks)
