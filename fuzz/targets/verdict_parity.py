"""
First fit finds an answer exactly where the definition written to be read has one, and it is the first.

    python -m fuzz.targets.verdict_parity [--cases 500] [--seed 1]

Semantics `intended`. Questions that end with an error, and those that have too many beginnings of answers, are counted
apart.
"""

from __future__ import annotations

import sys

from fuzz.differential import ours
from fuzz.target import Broken, Json, Target, command
from fuzz.targets.legal_by_reference import covered, picked
from spec.reference.answers import Answer, TooLarge, answers
from spec.reference.question import NotCovered, Question, read

#: Beginnings of answers that are looked at.
MOST = 800
DEVICES = 20


def _check(request: Json) -> str:
    try:
        question = read(request)
        if sum(len(each.spec.devices) for each in question.slices) > DEVICES:
            return "too large"
        # The reference first: where it has little to look at, the search has too.
        first = next(answers(question, most=MOST), None)
    except NotCovered:
        return "not covered"
    except TooLarge:
        return "too large"
    answer = ours(request)
    if answer.get("verdict") in ("undecided", "error") and not answer.get("onNode"):
        return "ended by an error"
    found = picked(answer) if answer.get("results") is not None else None
    expected = None if first is None else _named(first, question)
    if found != expected:
        raise Broken(f"found {found}, the reference has {expected}")
    return "allocated" if found is not None else "cannot"


def _named(answer: Answer, question: Question) -> list[list[tuple[str, tuple[str, str, str]]]]:
    return [
        [(pick.wanted.full, pick.offer.key) for pick in answer if pick.wanted.claim == claim]
        for claim in range(len(question.claims))
    ]


TARGET = Target("verdict_parity", lambda seed: covered(seed, "first-fit"), _check)


def main(arguments: list[str] | None = None) -> int:
    """Run the command of this target."""
    return command(TARGET, arguments)


if __name__ == "__main__":
    sys.exit(main())
