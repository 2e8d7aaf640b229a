module k8s.io/ktesting

go 1.27.0

require (
	github.com/onsi/gomega v1.44.0
	k8s.io/klog/v2 v2.140.0
)
