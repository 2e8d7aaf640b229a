"""
Questions without side effects, answered on bit masks of a node's devices.
"""
