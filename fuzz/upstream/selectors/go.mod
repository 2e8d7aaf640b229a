module dra-alloc/upstream/selectors

go 1.26.0
