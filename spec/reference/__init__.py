"""
A definition, written to be read, of which picks are legal: small, slow, and without the engines it judges.

It says what the API promises (semantics `intended`) for the allocators of 1.37, incubating and experimental. `legal`
says what is wrong with picks, `answers` lists every answer of a small question. Nothing here is fast or shared with
`dra_alloc.rules` and `dra_alloc.solve`.
"""
