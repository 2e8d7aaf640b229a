module dra-alloc/upstream/quota

go 1.26.0
