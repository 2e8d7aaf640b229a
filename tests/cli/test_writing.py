"""
Files that are written: the old one or the new one, and nothing that is no regular file becomes one.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from dra_alloc.cli.commands import COMMANDS, parser
from dra_alloc.cli.main import run
from dra_alloc.cli.output import INPUTS
from dra_alloc.cli.writing import growing_file, write_file
from dra_alloc.errors import InputError
from tests.paths import EXAMPLES

CLUSTER = str(EXAMPLES / "cluster")


def names(folder: Path) -> list[str]:
    return [each.name for each in folder.iterdir()]


def test_a_file_is_replaced_whole_and_keeps_its_mode(tmp_path: Path):
    target = tmp_path / "out"
    target.write_bytes(b"old")
    target.chmod(0o640)
    write_file(str(target), b"new")
    assert target.read_bytes() == b"new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert names(tmp_path) == ["out"]


@pytest.mark.parametrize("there", [True, False])
def test_links_are_followed(tmp_path: Path, there: bool):
    inner = tmp_path / "inner"
    inner.mkdir()
    real, link = inner / "real", tmp_path / "link"
    if there:
        real.write_bytes(b"old")
    link.symlink_to(Path("inner") / "real")
    write_file(str(link), b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"
    assert names(inner) == ["real"]


def test_a_device_stays_one():
    write_file("/dev/null", b"new")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_a_pipe_is_written_to(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_file(str(pipe), b"new")
    reader.join()
    assert read == [b"new"]
    assert pipe.is_fifo()


def test_a_file_that_grows_is_opened_once_and_named_where_it_cannot_be_written(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    with growing_file(str(pipe)) as write:
        write("one")
        write("two")
    reader.join(10)
    assert read == [b"onetwo"]
    with pytest.raises(InputError, match="/dev/full cannot be written: No space"), growing_file("/dev/full") as write:
        write("one")
    threading.Thread(target=lambda: pipe.open("rb").close(), daemon=True).start()
    with pytest.raises(InputError, match="pipe cannot be written: Broken pipe"), growing_file(str(pipe)) as write:
        write("n" * 1_000_000)


def test_a_pipe_of_the_shell_is_written_to_though_it_has_no_name():
    reading, writing = os.pipe()
    write_file(f"/dev/fd/{writing}", b"new")
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        assert stream.read() == b"new"


def test_a_deleted_file_is_written_to_and_not_made_again(tmp_path: Path):
    with (tmp_path / "out").open("w+b") as stream:
        (tmp_path / "out").unlink()
        write_file(f"/dev/fd/{stream.fileno()}", b"new")
        assert stream.read() == b"new"
    assert not names(tmp_path)


def test_a_pipe_whose_reader_leaves_is_not_taken_for_the_answers(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: pipe.open("rb").close())
    reader.start()
    with pytest.raises(InputError, match="cannot be written: Broken pipe"):
        write_file(str(pipe), b"n" * 1_000_000)
    reader.join()


@pytest.mark.parametrize("other", ["out", "./out", "link"])
def test_no_file_is_written_twice_or_over_what_was_read(other: str, tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("out").write_text("kind: None\n", encoding="utf-8")
    Path("link").symlink_to("out")
    assert run(["check", "other", "--report", "json=out", "--report", f"text={other}"]) == 2
    assert run(["check", other, "--report", "json=out"]) == 2
    assert run(["check", "some", "--cluster", other, "--report", "json=out"]) == 2
    told = capsys.readouterr().err
    assert told.count("twice") == 1
    assert told.count("out is one of the files to read") == 2
    assert Path("out").read_text(encoding="utf-8") == "kind: None\n"


def test_no_report_takes_the_place_of_any_input(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("in").mkdir()
    Path("in/out.yaml").write_text("kind: None\n", encoding="utf-8")
    over = ["--report", "json=in/out.yaml"]
    for asked in (
        ["convert", "--to", "v1", "--check", "in"],
        ["validate", "in"],
        ["validate", "some", "--old", "some", "in"],
        ["what-if", "in/out.yaml", "--cluster", "some"],
        ["what-if", "--cluster", "some", "--base", "in"],
        ["cel", "true", "--device", "in/out.yaml"],
        ["check", "some", "--prices", "in/out.yaml"],
        ["check", "some", "--previous", "in/out.yaml"],
    ):
        assert run([*asked, *over]) == 2
        assert "in/out.yaml is one of the files to read" in capsys.readouterr().err
    assert Path("in/out.yaml").read_text(encoding="utf-8") == "kind: None\n"


def test_every_option_that_names_files_is_known_as_input():
    named = ("MANIFESTS", "DUMP", "PATHS", "PATH", "NEW", "OLD", "SCENARIO", "FILE")
    found = set()
    for command in COMMANDS:
        (choices,) = (each.choices for each in parser([command.name])._actions if isinstance(each.choices, dict))
        found |= {each.dest for each in choices[command.name]._actions if each.metavar in named}
    # The file with the options themselves is found, not named; rows of a sweep are written.
    assert found - {"rows"} == set(INPUTS) - {"settings_file"}


def test_of_a_report_that_cannot_be_written_there_is_one_complaint(capsys):
    assert run(["cel", "true", "--report", "json=/dev/full"]) == 2
    assert capsys.readouterr().err.count("/dev/full cannot be written") == 1


@pytest.mark.parametrize("name", ["", "a\nb", "a\x00b", "\x1b[31m", "a\u202eb", "\udcff"])
def test_names_that_are_none_are_bad_input(name: str, capsys, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["snapshot", "pack", CLUSTER, "-o", name]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "Traceback" not in told.err
    assert told.err.replace("\n", " ").isprintable()
    assert not names(tmp_path)


def test_a_folder_and_a_missing_one_are_bad_input(tmp_path: Path):
    (tmp_path / "old").touch()
    for target in ("", "none/out", "old/", "new/", "old/out", "old/."):
        with pytest.raises(InputError, match=r"cannot be written: (Is a|No such file or|Not a) directory"):
            write_file(f"{tmp_path}/{target}", b"new")
    assert names(tmp_path) == ["old"]


def test_standard_output_has_the_file_and_nothing_else(tmp_path: Path):
    command = [sys.executable, "-m", "dra_alloc", "lint", str(EXAMPLES / "workloads"), "--write-baseline", "--baseline"]
    done = subprocess.run([*command, "-"], capture_output=True, check=True)
    assert json.loads(done.stdout)["findings"] == {}
    assert done.stderr == b"-: 0 findings written\n"
    packed = tmp_path / "packed"
    command = [sys.executable, "-m", "dra_alloc", "snapshot", "pack", CLUSTER, "-o"]
    done = subprocess.run([*command, "-"], capture_output=True, check=True)
    assert b" slices, " in done.stderr
    packed.write_bytes(done.stdout)
    assert run(["check", str(EXAMPLES / "workloads" / "fits.yaml"), "--cluster", str(packed)]) == 0
    with packed.open("wb") as stream:
        subprocess.run([*command, "/dev/stdout"], stdout=stream, stderr=subprocess.PIPE, check=True)
    assert packed.read_bytes() == done.stdout


def limited() -> None:
    """Let no file grow beyond 4 KiB, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


WRITE = "import sys; from dra_alloc.cli.writing import write_file; write_file(sys.argv[1], b'n' * 1_000_000)"


def test_a_full_disk_leaves_the_old_file_and_no_litter(tmp_path: Path):
    target = tmp_path / "out"
    target.write_bytes(b"old")
    done = subprocess.run(
        [sys.executable, "-c", WRITE, str(target)], preexec_fn=limited, capture_output=True, text=True, check=False
    )
    assert "cannot be written: File too large" in done.stderr
    assert target.read_bytes() == b"old"
    assert names(tmp_path) == ["out"]


def test_what_a_killed_run_leaves_the_next_one_takes_over(tmp_path: Path):
    target = tmp_path / "out"
    target.write_bytes(b"old")
    kill = f"import os, signal; os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL); {WRITE}"
    done = subprocess.run([sys.executable, "-c", kill, str(target)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert target.read_bytes() == b"old"
    assert len(names(tmp_path)) == 2
    write_file(str(target), b"new")
    assert target.read_bytes() == b"new"
    assert names(tmp_path) == ["out"]


def test_a_long_name_and_writers_at_once(tmp_path: Path):
    target = tmp_path / ("n" * 255)
    texts = [bytes([65 + each]) * 100_000 for each in range(8)]
    writers = [threading.Thread(target=write_file, args=(str(target), each)) for each in texts]
    for each in writers:
        each.start()
    for each in writers:
        each.join()
    assert target.read_bytes() in texts
    assert len(names(tmp_path)) == 1
