"""
The formats: what each makes of the records of a report.
"""
