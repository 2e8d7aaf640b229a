"""
Many changes at once: each a question that stands alone, answered on as many processes or machines as there are.
"""
