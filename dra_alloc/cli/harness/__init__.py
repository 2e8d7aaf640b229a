"""
The allocator for other programs: one JSON object a line.
"""
