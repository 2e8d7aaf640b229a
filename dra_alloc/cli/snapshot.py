"""
The command `snapshot`.
"""

from __future__ import annotations

import os
from argparse import Namespace
from contextlib import suppress
from pathlib import Path

from dra_alloc.cli.exit_codes import ExitCode
from dra_alloc.cli.reading import check_stdin_once, warn
from dra_alloc.errors import InputError
from dra_alloc.manifest import load
from dra_alloc.manifest.read.inputs import STDIN, files_of
from dra_alloc.manifest.snapshot.header import Folder, Input, note_folders, note_inputs
from dra_alloc.manifest.snapshot.packed import pack

__all__ = ["run_snapshot"]


def run_snapshot(options: Namespace) -> int:
    """
    Write what was read from files into one that loads in an instant.

    Raises: InputError for files that cannot be read or written, or that would be overwritten.
    """
    target = Path(options.output)
    check_stdin_once(options.files)
    named = [path for path in files_of(options.files) if path != STDIN]
    if any(target.resolve() == Path(path).resolve() for path in named):
        raise InputError(f"{target} is one of the files to read", hint="give the snapshot a name of its own")
    inputs: list[Input] = []
    folders: list[Folder] = []
    with suppress(OSError):
        # What cannot be read, loading says better.
        folders = note_folders(options.files, options.output)
        inputs = note_inputs(named, options.output)
    documents = load(options.files, validate=options.validate)
    data = pack(documents, inputs, folders)
    try:
        partial = target.with_name(f"{target.name}.{os.getpid()}.partial")
        try:
            partial.write_bytes(data)
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror}") from None
    warn(*documents.warnings)
    counts = f"{len(documents.slices)} slices, {len(documents.claims)} claims, {len(documents.nodes)} nodes"
    print(f"{target}: {counts}, {len(data)} bytes")
    return ExitCode.OK
