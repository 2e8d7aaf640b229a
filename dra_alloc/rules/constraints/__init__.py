"""
Constraints of a claim over several devices: one kind, one file, and one line here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dra_alloc.rules.constraints.attribute_constraint import ConstraintRule
from dra_alloc.rules.constraints.distinct_attribute import DISTINCT_ATTRIBUTE
from dra_alloc.rules.constraints.match_attribute import MATCH_ATTRIBUTE

#: Wire name of the kind -> how it is kept. A kind that is not here is one that no allocator knows.
CONSTRAINTS: Final[Mapping[str, ConstraintRule]] = {
    "matchAttribute": MATCH_ATTRIBUTE,
    "distinctAttribute": DISTINCT_ATTRIBUTE,
}
