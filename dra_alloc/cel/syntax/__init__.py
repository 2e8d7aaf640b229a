"""
Expression text to a syntax tree.
"""
