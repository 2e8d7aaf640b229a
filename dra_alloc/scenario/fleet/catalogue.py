"""
The catalogue of real machines: descriptions that come with the package.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from dra_alloc.manifest.plain_file import load_plain
from dra_alloc.scenario.fleet.shape import FleetShape

_FOLDER: Final = Path(__file__).parent / "machines"


@cache
def catalogue() -> FleetShape:
    """Return all shapes and classes of the catalogue, in the order of their files. Spec: FLEET-3."""
    files = [FleetShape.model_validate(load_plain(file)[0]) for file in sorted(_FOLDER.glob("*.yaml"))]
    shapes = {name: each for file in files for name, each in file.shapes.items()}
    classes = {name: each for file in files for name, each in file.classes.items()}
    return FleetShape(shapes=shapes, classes=classes)
