"""
Shared counters: what partitions of a device draw on.
"""
