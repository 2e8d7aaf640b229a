"""
First fit: depth-first search in upstream's order.
"""
