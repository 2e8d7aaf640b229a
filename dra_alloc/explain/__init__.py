"""
Why a question was answered "no", as facts.
"""
