"""
A cluster as it was dumped, what is known of it, and questions to it.
"""
