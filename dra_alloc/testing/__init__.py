"""
For people who hold an allocator against this one: random cases, Hypothesis strategies, a harness client.
"""

from __future__ import annotations

__all__: list[str] = []
