"""
Small manifests for tests.
"""

from __future__ import annotations

from pathlib import Path


def write_manifest(folder: Path, text: str, name: str = "manifest.yaml") -> Path:
    """Write a manifest into a folder and return its path."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path
