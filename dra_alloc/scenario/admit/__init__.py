"""
Who is admitted by a queue system, and whether what is admitted finds its devices.
"""
