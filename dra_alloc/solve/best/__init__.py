"""
The best answer by a list of objectives.
"""
