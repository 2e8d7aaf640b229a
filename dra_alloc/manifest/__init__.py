"""
Documents in: YAML and JSON files to v1-shaped objects, with a place for every problem.
"""

from dra_alloc.manifest.budget import DEFAULT_BUDGET, ReadBudget
from dra_alloc.manifest.documents import Documents, Place, PodTemplate, Workload
from dra_alloc.manifest.load import load, load_readable
from dra_alloc.manifest.manner import Manner, Validate
from dra_alloc.manifest.plain_file import load_plain
from dra_alloc.manifest.repetition import Repeated
from dra_alloc.manifest.validate.objects import validate_object

__all__ = [
    "DEFAULT_BUDGET",
    "Documents",
    "Manner",
    "Place",
    "PodTemplate",
    "ReadBudget",
    "Repeated",
    "Validate",
    "Workload",
    "load",
    "load_plain",
    "load_readable",
    "validate_object",
]
