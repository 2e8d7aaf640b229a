module dra-alloc/upstream/apiserver

go 1.26.0
