module dra-alloc/upstream/kueue

go 1.26.0
