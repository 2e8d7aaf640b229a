"""
What the quotas of a namespace leave to objects when they are made.
"""
