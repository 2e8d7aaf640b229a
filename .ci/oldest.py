"""
Print the oldest version that pyproject.toml allows of each run-time dependency, as pip constraints.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parent.parent / "pyproject.toml"

if __name__ == "__main__":
    for requirement in tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["dependencies"]:
        print("==".join(re.findall(r"^([\w-]+)>=([\w.]+)", requirement)[0]))
