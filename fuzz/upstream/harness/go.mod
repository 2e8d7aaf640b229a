module dra-alloc/upstream/harness

go 1.24.0
