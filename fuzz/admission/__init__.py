"""
Objects that an API server takes, and changes that it may refuse.
"""
