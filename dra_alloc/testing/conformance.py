"""
Holds an implementation of the harness protocol against questions, and says which rules its answers break.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from dra_alloc.errors import shortened
from dra_alloc.testing.client import Client, Failure, HarnessError
from dra_alloc.testing.drawing.questions import HarnessQuestion
from dra_alloc.testing.drawing.shrink import shrink
from dra_alloc.testing.drawing.stripping import without

Json: TypeAlias = dict[str, Any]

#: So many differences are made small and blamed on rules; that takes a few hundred questions each.
SHRUNK: Final = 5
ATTEMPTS: Final = 100
#: An implementation that fails so often one after the other is not asked on.
HOPELESS: Final = 20
#: Wrong answers are kept until all has been asked; those of an implementation that is merely wrong are small.
_KEPT: Final = 1 << 26
_SHOWN: Final = 10_000


@dataclass
class Tally:
    """How the cases of one rule went."""

    equal: int = 0
    different: int = 0
    errors: int = 0

    @property
    def cases(self) -> int:
        """All of them."""
        return self.equal + self.different + self.errors


@dataclass(frozen=True, slots=True)
class Mismatch:
    """
    An answer that is wrong, or missing.

    `rules` are those that the smallest case which is answered wrongly still
    exercises; `failure` says why there is no answer.
    """

    name: str
    rules: tuple[str, ...]
    request: Json
    expected: Json | None = None
    answer: Json | None = None
    failure: str = ""


@dataclass
class ConformanceRun:
    """What a run found: cases by rule, and what is wrong. `stopped` says why it ended before its time."""

    rules: dict[str, Tally] = field(default_factory=dict)
    findings: list[Mismatch] = field(default_factory=list)
    names: list[tuple[str, str]] = field(default_factory=list)
    asked: int = 0
    stopped: str = ""

    @property
    def good(self) -> bool:
        """Whether every answer was right."""
        return not self.findings and not self.stopped

    def _tally(self, rule: str) -> Tally:
        return self.rules.setdefault(rule, Tally())

    def right(self, question: HarnessQuestion) -> None:
        """Count a right answer."""
        for rule in question.rules:
            self._tally(rule).equal += 1
        self.names.append((question.name, question.rules[0]))

    def wrong(self, finding: Mismatch) -> None:
        """Count a wrong answer, or none."""
        for rule in finding.rules:
            tally = self._tally(rule)
            if finding.failure:
                tally.errors += 1
            else:
                tally.different += 1
        self.findings.append(finding)
        self.names.append((finding.name, finding.rules[0]))


def hold(client: Client, questions: Iterable[HarnessQuestion]) -> ConformanceRun:
    """
    Return how the implementation answers the questions.

    A right answer counts for every rule that its case exercises; a wrong one
    for the rules of the smallest case, made from it, that is still answered
    wrongly. Raises: HarnessError where the command cannot be started.
    """
    result = ConformanceRun()
    in_a_row = kept = 0
    doubtful: list[tuple[HarnessQuestion, Json]] = []
    for question, answer in _answers(client, questions):
        result.asked += 1
        said = answer.text if isinstance(answer, Failure) else str(answer.get("bad") or answer.get("crash") or "")
        failure = shortened(said, _SHOWN)
        if failure or isinstance(answer, Failure):
            in_a_row += 1
            result.wrong(Mismatch(question.name, question.rules, question.request, failure=failure))
            if in_a_row >= HOPELESS:
                result.stopped = f"{HOPELESS} questions in a row have no answer"
                break
            continue
        in_a_row = 0
        found = {key: each for key, each in answer.items() if key != "name"}
        # A first look; what seems wrong is judged again when nothing is on its way, since that may take more questions.
        if question.judge(found, _unasked) is None:
            result.right(question)
        else:
            doubtful.append((question, found))
            kept += len(json.dumps(found))
            if kept > _KEPT:
                result.stopped = f"wrong answers of more than {_KEPT:,} bytes"
                break
    for question, answer in doubtful:
        _judge_again(client, question, answer, result)
    return result


def _answers(client: Client, questions: Iterable[HarnessQuestion]) -> Iterator[tuple[HarnessQuestion, Json | Failure]]:
    asked, sent = itertools.tee(questions)
    answers = client.ask_all({**question.request, "name": question.name} for question in sent)
    return zip(asked, answers, strict=True)


def _unasked(request: Json) -> Json:
    return {"bad": "not asked"}


def _judge_again(client: Client, question: HarnessQuestion, answer: Json, result: ConformanceRun) -> None:
    def ask(request: Json) -> Json:
        try:
            return client.ask(request)
        except HarnessError as error:
            return {"crash": error.failure.text}

    expected = question.judge(answer, ask)
    if expected is None:
        result.right(question)
        return
    smallest = question
    if question.again is not None and len(result.findings) < SHRUNK:
        smallest = _smallest(question, ask)
        if smallest is not question:
            answer = ask(smallest.request)
            expected = smallest.judge(answer, ask)
    result.wrong(Mismatch(question.name, smallest.rules, smallest.request, expected, answer))


def _smallest(question: HarnessQuestion, ask: Any) -> HarnessQuestion:
    """Return the smallest question made from this one that is answered wrongly, too."""
    again = question.again
    assert again is not None

    def fails(request: Json) -> bool:
        try:
            smaller = again(request)
            answer = ask(request)
            return not {"bad", "crash"} & answer.keys() and smaller.judge(answer, ask) is not None
        except (KeyError, TypeError, ValueError, AttributeError):
            return False  # too much was left out

    request = question.request
    for rule in question.rules:
        stripped = without(request, rule)
        if fails(stripped):
            request = stripped
    return again(shrink(request, fails, attempts=ATTEMPTS))
