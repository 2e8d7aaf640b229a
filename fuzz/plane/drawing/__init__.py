"""
Random worlds for a control plane: a small cluster, what its namespace holds, and workloads, as plain data.
"""

from fuzz.plane.drawing.world import FLAVOURS, ON_REQUEST, draw_world

__all__ = ["FLAVOURS", "ON_REQUEST", "draw_world"]
