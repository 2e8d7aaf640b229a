"""
Refused worlds as files, and what can be changed about them: for whoever asks the command from outside.
"""
