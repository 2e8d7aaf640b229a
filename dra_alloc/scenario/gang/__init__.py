"""
Several pods at once: all or nothing, or as many as possible.
"""
