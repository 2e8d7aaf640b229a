"""
What makes two answers the same answer: see `dra_alloc.testing.comparison`, which other implementations use too.
"""

from __future__ import annotations

from dra_alloc.testing.comparison import RANDOM_IN_UPSTREAM, Verdict, comparable, compare, pool_orders

__all__ = ["RANDOM_IN_UPSTREAM", "Verdict", "comparable", "compare", "pool_orders"]
