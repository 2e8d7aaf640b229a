"""
Names, overloads and types of every node, or upstream's complaints.
"""
