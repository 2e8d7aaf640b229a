"""
Where the tests find things: the repository, and the reference folder `shared` beside it.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "docs" / "examples"


def shared_folder() -> Path | None:
    """
    Return the folder with the recorded cases and real samples, or None.

    The environment variable wins over the sibling folder, so that a checkout
    elsewhere (CI works in a clone) can point at it.
    """
    named = os.environ.get("DRA_ALLOC_SHARED")
    folder = Path(named) if named else ROOT.parent / "shared"
    return folder.resolve() if (folder / "cases").is_dir() else None


SHARED = shared_folder()
GO = shutil.which("go")
