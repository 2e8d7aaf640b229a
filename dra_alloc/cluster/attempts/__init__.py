"""
One pod after another finds its node, as the scheduler goes.
"""
