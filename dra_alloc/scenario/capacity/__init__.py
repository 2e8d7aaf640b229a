"""
How many more nodes make everything fit.
"""
