//go:build !line_1_34 && !line_1_35 && !line_1_36

package main

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
)

func validateCreate(ctx context.Context, object runtime.Object, strategy strategy) field.ErrorList {
	return rest.ValidateCreate(ctx, object, strategy)
}

func validateUpdate(ctx context.Context, object, old runtime.Object, strategy strategy) field.ErrorList {
	return rest.ValidateUpdate(ctx, object, old, strategy)
}
