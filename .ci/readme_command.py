"""
Print the README's command of the given name: the block that follows ``<!-- command: NAME -->``.

CI runs what the README tells a stranger to run, so the two can't differ.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def command(name: str, text: str) -> str:
    """Return the fenced shell block after the marker; exactly one must be there."""
    blocks = re.findall(rf"<!-- command: {re.escape(name)} -->\s*```(?:sh|bash|shell)\n(.*?)```", text, re.DOTALL)
    if len(blocks) != 1:
        sys.exit(f"README.md has {len(blocks)} commands named {name}, not 1")
    return str(blocks[0]).strip()


if __name__ == "__main__":
    print(command(sys.argv[1], README.read_text(encoding="utf-8")))
