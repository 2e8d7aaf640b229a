"""The rules of allocation as numbered statements, vectors that show them, and a definition written to be read."""
