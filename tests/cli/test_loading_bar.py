"""
A bar is shown on a terminal, and nowhere else.
"""

from __future__ import annotations

import io
import json
from itertools import count
from pathlib import Path

import pytest

from benchmarks.generate import dump, write
from dra_alloc.cli.loading_bar import loading_bar
from dra_alloc.errors import ManifestError
from dra_alloc.manifest import load
from dra_alloc.manifest.progress import reporting


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _clock(step: float):
    ticks = count()
    return lambda: next(ticks) * step


def _shown(text: str) -> str:
    """What is left on the line."""
    line = ""
    for part in text.split("\r"):
        line = part + line[len(part) :]
    return line.strip()


@pytest.mark.parametrize("form", ["json", "kubectl", "yaml"])
def test_a_long_load_shows_a_bar_and_leaves_nothing(tmp_path: Path, form: str) -> None:
    path = tmp_path / f"dump.{'yaml' if form == 'yaml' else 'json'}"
    write(path, 400, 1, form)
    terminal = Terminal()
    with loading_bar(terminal, _clock(0.5)):
        load([path])
    text = terminal.getvalue()
    shares = [int(part[:4].strip().rstrip("%")) for part in text.split("] ")[1:]]
    assert len(shares) >= 3
    assert shares == sorted(shares)
    assert shares[-1] > 60
    assert text.isascii()
    assert "\x1b" not in text
    assert not _shown(text)


def test_a_short_load_shows_nothing(tmp_path: Path) -> None:
    path = tmp_path / "dump.json"
    write(path, 400, 1, "json")
    terminal = Terminal()
    with loading_bar(terminal, _clock(0.001)):
        load([path])
    assert not terminal.getvalue()


def test_a_pipe_gets_nothing(tmp_path: Path) -> None:
    path = tmp_path / "dump.json"
    write(path, 400, 1, "json")
    pipe = io.StringIO()
    with loading_bar(pipe, _clock(5)):
        load([path])
    assert not pipe.getvalue()


def test_a_failed_load_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "dump\x1b.json"
    path.write_text(json.dumps(dump(300, 1))[:-40], encoding="utf-8")
    terminal = Terminal()
    with loading_bar(terminal, _clock(5)), pytest.raises(ManifestError):
        load([path])
    assert "\x1b" not in terminal.getvalue()
    assert not _shown(terminal.getvalue())


def test_every_input_is_reported_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(dump(3, 1)), encoding="utf-8")
    (tmp_path / "b.yaml").write_text("apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n", encoding="utf-8")
    seen: list[tuple[str, float]] = []
    with reporting(lambda name, share: seen.append((Path(name).name, share))):
        load([tmp_path])
    load([tmp_path])
    assert [name for name, share in seen if share == 1.0] == ["a.json", "b.yaml"]
