"""
What was refused, looked into: why, what would help, and what the release is behind.
"""
