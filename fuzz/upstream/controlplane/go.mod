module dra-alloc/upstream/controlplane

go 1.26.0
