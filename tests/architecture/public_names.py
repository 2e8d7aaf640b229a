"""
The names that callers may rely on, as one line each; `python -m tests.architecture.public_names` records them.
"""

from __future__ import annotations

import importlib
from pathlib import Path

PUBLIC = (
    "dra_alloc",
    "dra_alloc.api",
    "dra_alloc.cel",
    "dra_alloc.errors",
    "dra_alloc.manifest",
    "dra_alloc.profiles",
    "dra_alloc.testing",
    "dra_alloc.testing.client",
    "dra_alloc.testing.publishable",
    "dra_alloc.testing.strategies",
)
RECORD = Path(__file__).with_name("public_names.txt")


def current() -> list[str]:
    """Every public name with its module; each is there when asked for."""
    modules = [importlib.import_module(name) for name in PUBLIC]
    listed = [(module, name) for module in modules for name in sorted(module.__all__)]
    return [f"{module.__name__} {name}" for module, name in listed if hasattr(module, name)]


if __name__ == "__main__":
    RECORD.write_text("\n".join(current()) + "\n", encoding="utf-8")
