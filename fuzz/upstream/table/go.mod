module k8s.io/dynamic-resource-allocation/structured/oracletable

go 1.26.0
