# The tasks of pyproject.toml under the names of `just`; docs/development.md says when to use which.

# List what there is.
default:
    @just --list

# Every test, on all cores.
test *arguments:
    poe test {{arguments}}

# Ruff, mypy, the floors.
lint:
    poe lint
    poe types
    poe contracts

# Ruff's formatter, in place.
format:
    poe format

# The documentation, warnings as errors.
docs *arguments:
    poe docs {{arguments}}

# Build the Go programs that answer as upstream does.
oracle *arguments:
    poe oracle {{arguments}}

# Every fuzz target in turn until it is stopped; `just fuzz --minutes 60` ends it.
fuzz *arguments:
    poe fuzz-on {{arguments}}

# Every fuzz target, bounded, as continuous integration does.
fuzz-bounded:
    poe fuzz

# Figures, one JSON object a line.
bench:
    poe bench

# Every figure of the page on performance, anew.
bench-page:
    poe bench-page

# All that continuous integration does, on the last commit.
ci:
    poe ci
