module dra-alloc/upstream/allocator

go 1.26.0
