"""
Plain values to typed objects, with everything that is wrong with them.
"""
