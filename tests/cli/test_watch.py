"""
`--watch`: real processes answer again after real saves, whatever is saved, until Ctrl-C.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from dra_alloc.cli.main import run
from tests.paths import ROOT

EXAMPLES = ROOT / "docs" / "examples"
FITS = (EXAMPLES / "workloads" / "fits.yaml").read_text(encoding="utf-8")
CLUSTER = str(EXAMPLES / "cluster")
WHAT_IF = EXAMPLES / "what-if"
#: No machine is so busy that an answer takes longer.
SECONDS = 60.0


class Watching:
    """A command that watches, its lines as they come, and how long the last was waited for."""

    def __init__(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "dra_alloc", *arguments, "--watch"]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True)
        self.waits: list[float] = []
        self._lines = {name: queue.Queue[str]() for name in ("stdout", "stderr")}
        self._readers = [
            threading.Thread(target=self._read, args=(getattr(self.process, name), lines), daemon=True)
            for name, lines in self._lines.items()
        ]
        for each in self._readers:
            each.start()

    @staticmethod
    def _read(stream, lines: queue.Queue[str]) -> None:
        with stream:
            for line in stream:
                lines.put(line)

    def ended(self) -> None:
        """End it, whatever it does."""
        self.process.kill()
        self.process.wait()
        for each in self._readers:
            each.join()

    def rest(self, stream: str) -> str:
        """Return all that it said and nobody waited for, once it has ended."""
        for each in self._readers:
            each.join()
        lines = self._lines[stream]
        return "".join(lines.get() for _ in range(lines.qsize()))

    def until(self, text: str, stream: str = "stderr") -> str:
        """Return what is said up to a line with the text."""
        began, said = time.monotonic(), ""
        while text not in said:
            said += self._lines[stream].get(timeout=SECONDS)
        self.waits.append(time.monotonic() - began)
        return said

    def interrupted(self) -> tuple[int, float]:
        """Return the exit code after Ctrl-C, and how long that took."""
        began = time.monotonic()
        os.killpg(self.process.pid, signal.SIGINT)
        code = self.process.wait(SECONDS)
        return code, time.monotonic() - began

    @property
    def memory(self) -> int:
        """How much memory the process has, in bytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmRSS"))


@contextmanager
def watching(*arguments: str) -> Iterator[Watching]:
    found = Watching(*arguments)
    try:
        yield found
    finally:
        found.ended()


def test_every_kind_of_save_is_answered_and_bad_input_ends_nothing(tmp_path):
    folder = tmp_path / "manifests"
    folder.mkdir()
    file = folder / "a.yaml"
    file.write_text(FITS, encoding="utf-8")
    with watching("check", str(folder), "--cluster", CLUSTER) as found:
        assert "exit code 0" in found.until("watched")
        found.waits.clear()
        beside = tmp_path / "a.yaml.swp"
        beside.write_text((EXAMPLES / "workloads" / "too-big.yaml").read_text(encoding="utf-8"), encoding="utf-8")
        beside.replace(file)  # as editors do that rename
        found.until("== answer 2, after a change of", "stdout")
        noticed = [found.waits.pop()]
        assert "exit code 1" in found.until("watched")
        for number, (change, code) in enumerate(
            [
                (lambda: file.write_text("apiVersion: [", encoding="utf-8"), 2),  # half of a save
                (lambda: file.write_text(FITS, encoding="utf-8"), 0),
                (lambda: (folder / "b.yaml").write_text("kind: Nothing", encoding="utf-8"), 2),
                ((folder / "b.yaml").unlink, 0),
                (file.unlink, 2),
                (folder.rmdir, 2),
                (folder.mkdir, 2),
                (lambda: file.write_text(FITS, encoding="utf-8"), 0),
            ],
            3,
        ):
            change()
            said = found.until(f"== answer {number}, after a change of", "stdout")
            noticed.append(found.waits.pop())
            assert str(folder) in said
            assert f"exit code {code};" in found.until("watched"), number
        assert min(noticed) < 1.0, noticed
        code, took = found.interrupted()
    assert code == 130
    assert took < 5.0  # half a second on a machine that does nothing else


def test_a_save_is_a_change_also_with_the_same_content(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text(FITS, encoding="utf-8")
    with watching("check", str(file), "--cluster", CLUSTER) as found:
        found.until("watched")
        file.write_text(FITS, encoding="utf-8")
        assert str(file) in found.until("== answer 2, after a change of", "stdout")
        found.until("watched")
        os.utime(file)  # --max-age goes by it
        found.until("== answer 3, after a change of", "stdout")


def test_what_a_scenario_names_is_watched_and_json_is_nothing_but_json(tmp_path):
    scenario, more = tmp_path / "scenario.yaml", tmp_path / "more.yaml"
    more.write_text((WHAT_IF.with_name("capacity") / "more.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    scenario.write_text("steps:\n- apply: {paths: [more.yaml]}\n", encoding="utf-8")
    arguments = ("what-if", str(scenario), "--cluster", str(WHAT_IF / "cluster.yaml"), "--format", "json")
    with watching(*arguments) as found:
        assert "exit code 1" in found.until("watched")
        objects = list(yaml.safe_load_all(more.read_text(encoding="utf-8")))
        for each in objects:
            if "replicas" in each.get("spec", {}):
                each["spec"]["replicas"] = 0
        more.write_text(yaml.safe_dump_all(objects), encoding="utf-8")
        said = found.until("watched")
        assert "more.yaml ==" in said
        assert "exit code 0" in said
        assert found.interrupted()[0] == 130
        text = found.rest("stdout")
    first, end = json.JSONDecoder().raw_decode(text)
    second = json.loads(text[end:])
    assert first["summary"]["does not fit"] == 1
    assert second["summary"]["does not fit"] == 0


def test_who_stops_reading_ends_it(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text(FITS, encoding="utf-8")
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", "dra_alloc", "check", str(file), "--cluster", CLUSTER, "--watch"]
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert "watched" in process.stderr.readline()
        process.stdout.close()
        file.write_text(FITS + "\n", encoding="utf-8")
        assert process.wait(SECONDS) == 0


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_memory_stays(tmp_path):
    file = tmp_path / "a.yaml"
    with watching("check", str(file), "--cluster", CLUSTER) as found:
        found.until("watched")
        sizes = []
        for number in range(9):
            file.write_text(FITS.replace("research", f"research-{number}"), encoding="utf-8")
            found.until("watched")
            sizes.append(found.memory)
    assert sizes[-1] - sizes[2] < 8_000_000, sizes


def test_what_can_be_read_once_is_not_watched(tmp_path, capsys):
    assert run(["check", "-", "--watch"]) == 2
    assert "--watch: - can be read only once" in capsys.readouterr().err
    os.mkfifo(tmp_path / "pipe")
    assert run(["check", str(tmp_path / "pipe"), "--watch"]) == 2
    assert "can be read only once" in capsys.readouterr().err
    assert run(["what-if", "--watch"]) == 2
    assert "there is no file to watch" in capsys.readouterr().err
