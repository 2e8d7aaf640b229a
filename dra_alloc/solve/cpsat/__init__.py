"""
The table as a CP-SAT model; OR-tools is imported here alone.
"""
