"""
What an expression can cost and what it does cost.
"""
