"""
A checked tree as closures over a frame of slots.
"""
