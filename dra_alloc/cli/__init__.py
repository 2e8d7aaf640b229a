"""
The command: options in, exit code out.
"""
