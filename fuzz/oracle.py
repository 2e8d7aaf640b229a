"""
Asks upstream itself: a client of the Go programs in `fuzz/upstream/`, and the command that builds them.

    python -m fuzz.oracle build [--release 1.36]
    python -m fuzz.oracle ask --release 1.36 < requests.jsonl
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Self

from dra_alloc.testing.client import Answer, Client, Failure
from fuzz.oracle_build import PROGRAMS, OracleUnavailable, build, resolve, unasked

if TYPE_CHECKING:
    from types import TracebackType

Json = dict[str, Any]
_Prepared = tuple[Mapping[str, Any], Json | None]

_PROGRAM_OF = {"validate": "apiserver", "convert": "apiserver", "merge": "tracker"}
#: What answers op `rule`, by what stands before the name of the rule.
_RULES_OF = {"kueue": "kueue", "resourcequota": "quota"}
_MERGE_KEYS = ("slices", "classes", "taintRules")
#: Stands for the program of what is answered already.
_REFUSED = ""


class Oracle:
    """
    Answers requests of the harness protocol with what the Kubernetes release does.

    A panic of upstream comes back as `{"panic": ...}`; when the whole program dies or takes too long, the answer is
    `{"crash": ...}` or `{"timeout": seconds}` and the next request meets a new process. `counts` tells how often.
    Raises: OracleUnavailable where there is no Go, or the modules cannot be had.
    """

    def __init__(self, release: str, *, timeout: float = 60.0) -> None:
        self.release = release
        self.timeout = timeout
        self.counts: Counter[str] = Counter()
        self._clients: dict[str, Client] = {}

    def ask(self, request: Mapping[str, Any]) -> Json:
        """The answer to one request."""
        return next(self.batch([request]))

    def batch(self, requests: Iterable[Mapping[str, Any]]) -> Iterator[Json]:
        """The answers in the order of the requests, with several of them on the way at any time."""
        for program, group in itertools.groupby(map(self._with_taints, requests), key=_program):
            if program == _REFUSED:
                yield from (self._counted(refusal) for _, refusal in group if refusal is not None)
            else:
                yield from self._answers(program, (request for request, _ in group))

    def close(self) -> None:
        """Ends the processes."""
        for client in self._clients.values():
            client.close()
        self._clients.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _with_taints(self, request: Mapping[str, Any]) -> _Prepared:
        """The request with its taint rules merged by the release's tracker, and the answer if that fails."""
        if not request.get("taintRules") or request.get("op", "allocate") != "allocate":
            return request, None
        merging = {"op": "merge"} | {key: request[key] for key in (*_MERGE_KEYS, "name") if key in request}
        (merged,) = self._client("tracker").ask_all([merging])
        answer = self._told(request, merged)
        if "slices" not in answer:
            return request, answer
        rest = {key: value for key, value in request.items() if key != "taintRules"}
        return rest | {"slices": answer["slices"]}, None

    def _client(self, program: str) -> Client:
        if program not in self._clients:
            self._clients[program] = Client([str(build(self.release, program))], seconds=self.timeout)
        return self._clients[program]

    def _answers(self, program: str, requests: Iterable[Mapping[str, Any]]) -> Iterator[Json]:
        asked: deque[Mapping[str, Any]] = deque()

        def sent() -> Iterator[Mapping[str, Any]]:
            for request in requests:
                asked.append(request)
                yield request

        for answer in self._client(program).ask_all(sent()):
            yield self._counted(self._told(asked.popleft(), answer))

    def _told(self, request: Mapping[str, Any], answer: Answer) -> Json:
        """The answer, or in the protocol's words why there is none."""
        named = {"name": request["name"]} if "name" in request else {}
        if not isinstance(answer, Failure):
            return answer | named
        self.counts["restarts"] += 1
        return ({"timeout": self.timeout} if answer.kind == "timeout" else {"crash": answer.text[-2000:]}) | named

    def _counted(self, answer: Json) -> Json:
        self.counts["asked"] += 1
        for kind in ("panic", "bad", "crash", "timeout"):
            self.counts[kind] += kind in answer
        return answer


def _program(prepared: _Prepared) -> str:
    """The program that answers."""
    request, refusal = prepared
    if refusal is not None:
        return _REFUSED
    if request.get("op") == "rule":
        return _RULES_OF[request["rule"].partition("/")[0]]
    return _PROGRAM_OF.get(request.get("op", "allocate"), "allocator")


def main(arguments: list[str] | None = None) -> int:
    """The command: builds the programs, or passes requests from standard input through one of them."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.oracle")
    commands = parser.add_subparsers(dest="command", required=True)
    builder = commands.add_parser("build", help="build the Go programs")
    builder.add_argument("--release", help="1.34 .. 1.37 or a patch release; default: every one")
    builder.add_argument("--program", choices=PROGRAMS, help="default: every program")
    asker = commands.add_parser("ask", help="answer requests, one JSON object a line")
    asker.add_argument("--release", default="1.36")
    options = parser.parse_args(arguments)
    try:
        return _build(options) if options.command == "build" else _ask(options)
    except OracleUnavailable as reason:
        print(f"skipped: {reason}", file=sys.stderr)
        return 3


def _build(options: argparse.Namespace) -> int:
    for program in [options.program] if options.program else PROGRAMS:
        for version in [options.release] if options.release else unasked(program):
            binary = build(version, program)
            print(f"{program} {resolve(version, program)}: {binary}")
    return 0


def _ask(options: argparse.Namespace) -> int:
    with Oracle(options.release) as oracle:
        for answer in oracle.batch(json.loads(line) for line in sys.stdin if line.strip()):
            print(json.dumps(answer), flush=True)
        print(dict(oracle.counts), file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
