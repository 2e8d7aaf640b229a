"""
What pods want of nodes besides claims, and how objects come by their names.
"""
