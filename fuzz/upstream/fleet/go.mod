module dra-alloc/upstream/fleet

go 1.26.0
