"""
A question as a table of masks and limits, and the engines that read it without a solver.
"""
