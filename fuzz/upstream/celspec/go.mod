module dra-alloc/upstream/celspec

go 1.25.0

require (
	cel.dev/expr v0.25.1
	google.golang.org/protobuf v1.36.11
)
