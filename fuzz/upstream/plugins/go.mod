module dra-alloc/upstream/plugins

go 1.26.0
