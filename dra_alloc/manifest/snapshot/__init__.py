"""
A dump kept in a file that loads in an instant.
"""
