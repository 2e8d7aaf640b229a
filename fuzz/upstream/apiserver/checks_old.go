//go:build line_1_34 || line_1_35 || line_1_36

package main

import (
	"context"
	_ "unsafe" // for go:linkname

	"k8s.io/apimachinery/pkg/api/meta"
	genericvalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
)

// validateCreate checks the metadata in general only if the strategy found nothing, as the generic registry does.
func validateCreate(ctx context.Context, object runtime.Object, strategy strategy) field.ErrorList {
	errors := strategy.Validate(ctx, object)
	if len(errors) > 0 {
		return errors
	}
	metadata, err := meta.Accessor(object)
	if err != nil {
		return field.ErrorList{field.InternalError(field.NewPath("metadata"), err)}
	}
	name := genericvalidation.ValidateNameFunc(path.ValidatePathSegmentName)
	return genericvalidation.ValidateObjectMetaAccessor(metadata, strategy.NamespaceScoped(), name, field.NewPath("metadata"))
}

//go:linkname validateCommonFields k8s.io/apiserver/pkg/registry/rest.validateCommonFields
func validateCommonFields(object, old runtime.Object, strategy rest.RESTUpdateStrategy) (field.ErrorList, error)

func validateUpdate(ctx context.Context, object, old runtime.Object, strategy strategy) field.ErrorList {
	errors, err := validateCommonFields(object, old, strategy)
	if err != nil {
		return field.ErrorList{field.InternalError(field.NewPath("metadata"), err)}
	}
	return append(errors, strategy.ValidateUpdate(ctx, object, old)...)
}
