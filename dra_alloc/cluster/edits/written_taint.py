"""
A taint as a step says it, whether of a device or of a node.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from dra_alloc.api.names import label_key_faults, label_value_faults
from dra_alloc.cluster.edits.step import Stepping


class WrittenTaint(BaseModel):
    """A taint's key and value; which effects there are is for the step to say."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    key: str = Field(min_length=1)
    value: str | None = None

    def complain(self, stepping: Stepping) -> None:
        """Complain about a key and a value that no server takes."""
        for name, faults in (("key", label_key_faults(self.key)), ("value", label_value_faults(self.value or ""))):
            for fault in faults:
                stepping.complain(f"taint.{name}", str(fault))
