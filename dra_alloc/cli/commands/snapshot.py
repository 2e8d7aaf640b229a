"""
The command `snapshot`.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from contextlib import suppress
from typing import Final

from dra_alloc.cli import options as shared

_PACK: Final = """\
Read a dump once, and write it as a snapshot, which every command takes where it
takes a DUMP. A snapshot is a cache: it is refused when one of the files it was
made of changed, when a folder it was made of has a manifest more or less, or
when it was made by another version of dra-alloc. Files and folders are looked
for where they were from the snapshot; one that is not there is a warning."""


def declare(command: ArgumentParser) -> None:
    """Declare the command."""
    command.description = "To keep what was read from a dump in a file that loads in an instant."
    verbs = command.add_subparsers(dest="verb", required=True, metavar="VERB")
    form = command.formatter_class
    pack = verbs.add_parser(
        "pack", help="write a snapshot", description=_PACK, formatter_class=form, allow_abbrev=False
    )
    pack.add_argument("files", nargs="+", metavar="FILE", help="files, folders or - for standard input")
    pack.add_argument("-o", "--output", required=True, metavar="SNAPSHOT", help="file to write, - for standard output")
    shared.validate(pack)
    pack.set_defaults(run=_pack)


def _pack(options: Namespace) -> int:
    """
    Write what was read from files into one that loads in an instant.

    Raises: InputError for files that cannot be read or written, or that would be overwritten.
    """
    from dra_alloc.cli.exit_codes import ExitCode
    from dra_alloc.cli.nothing import check_stdin_once
    from dra_alloc.cli.output import tell_written, warn
    from dra_alloc.cli.writing import STDOUT, checked, is_one_file, write_file
    from dra_alloc.errors import InputError
    from dra_alloc.manifest import load
    from dra_alloc.manifest.read.inputs import STDIN, files_of
    from dra_alloc.manifest.snapshot.header import Folder, Input, note_folders, note_inputs
    from dra_alloc.manifest.snapshot.packed import pack

    target = checked(options.output)
    check_stdin_once(options.files)
    named = [path for path in files_of(options.files) if path != STDIN]
    if target != STDOUT and any(is_one_file(target, path) for path in named):
        raise InputError(f"{target} is one of the files to read", hint="give the snapshot a name of its own")
    inputs: list[Input] = []
    folders: list[Folder] = []
    with suppress(OSError):
        # What cannot be read, loading says better.
        folders = note_folders(options.files, target)
        inputs = note_inputs(named, target)
    documents = load(options.files, validate=options.validate)
    data = pack(documents, inputs, folders)
    write_file(target, data)
    warn(*documents.warnings)
    counts = f"{len(documents.slices)} slices, {len(documents.claims)} claims, {len(documents.nodes)} nodes"
    done = f"{target}: {counts}, {len(data)} bytes"
    tell_written(target, done)
    return ExitCode.OK
