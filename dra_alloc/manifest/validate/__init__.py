"""
What the API server refuses, in its words.
"""
