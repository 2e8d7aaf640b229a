"""
What is left in a cluster: for each class how much, and what is free and of use to none.
"""
