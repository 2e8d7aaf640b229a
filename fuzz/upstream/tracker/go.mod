module dra-alloc/upstream/tracker

go 1.26.0
