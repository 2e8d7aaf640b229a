"""
Who may run: quota trees, charges and shares of queue systems, as pure functions; a system, a folder.
"""
