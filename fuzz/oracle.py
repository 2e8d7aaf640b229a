"""
Asks upstream itself: a client of the Go programs in `fuzz/upstream/`, and the command that builds them.

    python -m fuzz.oracle build [--release 1.36]
    python -m fuzz.oracle ask --release 1.36 < requests.jsonl
"""

from __future__ import annotations

import argparse
import contextlib
import json
import queue
import subprocess
import sys
import threading
from collections import Counter, deque
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from fuzz.oracle_build import PROGRAMS, OracleUnavailable, build, go_missing, newest, resolve, versions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from types import TracebackType

__all__ = ["Oracle", "OracleUnavailable", "build", "go_missing", "newest", "resolve", "versions"]

WINDOW = 128
_PROGRAM_OF = {"validate": "apiserver", "merge": "tracker"}
_MERGE_KEYS = ("slices", "classes", "taintRules")
_END = None


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
        self._processes: dict[str, _Process] = {}

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to one request."""
        return next(self.batch([request]))

    def batch(self, requests: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        """The answers in the order of the requests, with several of them on the way at any time."""
        waiting: deque[tuple[Mapping[str, Any], _Process]] = deque()
        for asked in requests:
            request, refusal = self._with_taints(asked)
            if refusal is not None:
                while waiting:
                    yield self._answer(waiting)
                yield self._counted(refusal)
                continue
            process = self._process_for(request)
            if len(waiting) >= WINDOW or (waiting and waiting[0][1] is not process):
                yield self._answer(waiting)
            while waiting and waiting[0][1] is not process:
                yield self._answer(waiting)
            process.send(request)
            waiting.append((request, process))
        while waiting:
            yield self._answer(waiting)

    def close(self) -> None:
        """Ends the processes."""
        for process in self._processes.values():
            process.end()
        self._processes.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _with_taints(self, request: Mapping[str, Any]) -> tuple[Mapping[str, Any], dict[str, Any] | None]:
        """The request with its taint rules merged by the release's tracker, and the answer if that fails."""
        if not request.get("taintRules") or request.get("op", "allocate") != "allocate":
            return request, None
        merging = self._process_for({"op": "merge"})
        merging.send({"op": "merge"} | {key: request[key] for key in _MERGE_KEYS if key in request})
        merged = merging.receive(self.timeout)
        if "slices" in merged:
            rest = {key: value for key, value in request.items() if key != "taintRules"}
            return rest | {"slices": merged["slices"]}, None
        if "bad" not in merged:
            merging.restart()
            self.counts["restarts"] += 1
        return request, merged | ({"name": request["name"]} if "name" in request else {})

    def _process_for(self, request: Mapping[str, Any]) -> _Process:
        program = _PROGRAM_OF.get(request.get("op", "allocate"), "allocator")
        if program not in self._processes:
            self._processes[program] = _Process(build(self.release, program))
        return self._processes[program]

    def _answer(self, waiting: deque[tuple[Mapping[str, Any], _Process]]) -> dict[str, Any]:
        request, process = waiting.popleft()
        answer = process.receive(self.timeout)
        if "crash" in answer or "timeout" in answer:
            if "name" in request:
                answer["name"] = request["name"]
            process.restart()
            self.counts["restarts"] += 1
            for later, _ in waiting:
                process.send(later)
        return self._counted(answer)

    def _counted(self, answer: dict[str, Any]) -> dict[str, Any]:
        self.counts["asked"] += 1
        for kind in ("panic", "bad", "crash", "timeout"):
            self.counts[kind] += kind in answer
        return answer


class _Process:
    """One running program. A thread drains its output, so that writing to it cannot block for ever."""

    def __init__(self, binary: Path) -> None:
        self._binary = binary
        self._start()

    def _start(self) -> None:
        self._child = subprocess.Popen(
            [self._binary], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._errors: deque[bytes] = deque(maxlen=40)
        self._threads = [
            threading.Thread(target=_drain, args=(self._child.stdout, self._lines), daemon=True),
            threading.Thread(target=self._errors.extend, args=(self._child.stderr,), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def send(self, request: Mapping[str, Any]) -> None:
        line = json.dumps(request, separators=(",", ":")).encode() + b"\n"
        assert self._child.stdin is not None
        # A broken pipe is noticed, and told, where the answer is missing.
        with contextlib.suppress(BrokenPipeError):
            self._child.stdin.write(line)
            self._child.stdin.flush()

    def receive(self, timeout: float) -> dict[str, Any]:
        try:
            line = self._lines.get(timeout=timeout)
        except queue.Empty:
            return {"timeout": timeout}
        if line is _END:
            self._child.wait(10)
            self._threads[1].join(10)
            return {"crash": b"".join(self._errors).decode(errors="replace")[-2000:]}
        answer: dict[str, Any] = json.loads(line)
        return answer

    def restart(self) -> None:
        self.end()
        self._start()

    def end(self) -> None:
        self._child.kill()
        self._child.wait()
        for thread in self._threads:
            thread.join(10)
        for stream in (self._child.stdin, self._child.stdout, self._child.stderr):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()


def _drain(stream: Iterable[bytes], lines: queue.Queue[bytes | None]) -> None:
    for line in stream:
        lines.put(line)
    lines.put(_END)


def main(arguments: list[str] | None = None) -> int:
    """The command: builds the programs, or passes requests from standard input through one of them."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.oracle")
    commands = parser.add_subparsers(dest="command", required=True)
    builder = commands.add_parser("build", help="build the Go programs")
    builder.add_argument("--release", help="1.34 .. 1.37 or a patch release; default: the newest of each line")
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
        for version in [options.release] if options.release else versions(program):
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
