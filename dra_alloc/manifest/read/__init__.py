"""
Text to plain values, each with its place in a file.
"""
