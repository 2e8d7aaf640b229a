package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authentication/user"
	genericrequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/resource"
	_ "k8s.io/kubernetes/pkg/apis/resource/install" // registers the API group
)

// question is one decoded request.
type question struct {
	object      runtime.Object
	kind        schema.GroupVersionKind
	old         runtime.Object
	subresource string
	strategy    strategy
}

type strategy interface {
	rest.RESTCreateStrategy
	rest.RESTUpdateStrategy
}

func validate(raw map[string]json.RawMessage) (answer, error) {
	gates := map[string]bool{}
	admin, asked := true, question{}
	for key, target := range map[string]any{"gates": &gates, "adminNamespace": &admin, "subresource": &asked.subresource} {
		if err := decode(raw, key, target); err != nil {
			return nil, err
		}
	}
	restore, err := setGates(gates)
	if err != nil {
		return nil, fmt.Errorf("gates: %w", err)
	}
	defer restore()
	if raw["object"] == nil {
		return nil, fmt.Errorf("object: missing")
	}
	var strict []string
	asked.object, asked.kind, strict, err = read(raw["object"])
	if err != nil {
		return answer{"errors": []any{undecodable(err)}}, nil
	}
	if text, ok := raw["old"]; ok {
		if asked.old, _, _, err = read(text); err != nil {
			return nil, fmt.Errorf("old: %w", err)
		}
	}
	defaulted, err := write(asked.object, asked.kind)
	if err != nil {
		return nil, err
	}
	if asked.strategy, err = strategyFor(asked.object, asked.subresource, admin); err != nil {
		return nil, err
	}
	ctx, err := asked.complete()
	if err != nil {
		return nil, err
	}
	errors := []any{}
	for _, problem := range asked.problems(ctx) {
		errors = append(errors, map[string]string{
			"type": string(problem.Type), "field": problem.Field, "detail": problem.Detail,
		})
	}
	stored, err := write(asked.object, asked.kind)
	if err != nil {
		return nil, err
	}
	result := answer{"errors": errors, "defaulted": defaulted, "stored": stored}
	if warnings := asked.warnings(ctx); len(warnings) > 0 {
		result["warnings"] = warnings
	}
	if len(strict) > 0 {
		result["strict"] = strict
	}
	return result, nil
}

func undecodable(err error) map[string]string {
	return map[string]string{"type": "BadRequest", "field": "", "detail": err.Error()}
}

var strictCodecs = serializer.NewCodecFactory(legacyscheme.Scheme, serializer.EnableStrict)

// read decodes, defaults and converts as for a request body. Unknown and duplicate fields are dropped and told apart:
// whether they are errors, warnings or nothing is for the client to ask.
func read(text json.RawMessage) (runtime.Object, schema.GroupVersionKind, []string, error) {
	object, kind, err := strictCodecs.UniversalDecoder(resource.SchemeGroupVersion).Decode(text, nil, nil)
	var strict []string
	if problem, ok := runtime.AsStrictDecodingError(err); ok && object != nil {
		for _, one := range problem.Errors() {
			strict = append(strict, one.Error())
		}
		err = nil
	}
	if err != nil {
		if kind != nil && legacyscheme.Scheme.Recognizes(*kind) {
			err = fmt.Errorf("%s in version %q cannot be handled as a %s: %w", kind.Kind, kind.Version, kind.Kind, err)
		}
		return nil, schema.GroupVersionKind{}, nil, err
	}
	return object, *kind, strict, nil
}

// write is the object in the version in which it came.
func write(object runtime.Object, kind schema.GroupVersionKind) (json.RawMessage, error) {
	text, err := runtime.Encode(legacyscheme.Codecs.LegacyCodec(kind.GroupVersion()), object)
	return json.RawMessage(strings.TrimSpace(string(text))), err
}

// complete fills in what the request path and the generic registry add, and describes the request.
func (q *question) complete() (context.Context, error) {
	object, err := meta.Accessor(q.object)
	if err != nil {
		return nil, err
	}
	if q.strategy.NamespaceScoped() && object.GetNamespace() == "" {
		object.SetNamespace("default")
	}
	if q.old == nil {
		rest.FillObjectMetaSystemFields(object)
		if object.GetGenerateName() != "" && object.GetName() == "" {
			object.SetName(q.strategy.GenerateName(object.GetGenerateName()))
		}
	}
	mapping, _ := meta.UnsafeGuessKindToResource(q.kind)
	ctx := genericrequest.WithNamespace(context.Background(), object.GetNamespace())
	ctx = genericrequest.WithUser(ctx, &user.DefaultInfo{Name: "someone"})
	return genericrequest.WithRequestInfo(ctx, &genericrequest.RequestInfo{
		IsResourceRequest: true, APIGroup: q.kind.Group, APIVersion: q.kind.Version,
		Namespace: object.GetNamespace(), Name: object.GetName(), Resource: mapping.Resource, Subresource: q.subresource,
	}), nil
}

func (q *question) problems(ctx context.Context) field.ErrorList {
	if q.old == nil {
		q.strategy.PrepareForCreate(ctx, q.object)
		return validateCreate(ctx, q.object, q.strategy)
	}
	keepSystemFields(q.object, q.old)
	q.strategy.PrepareForUpdate(ctx, q.object, q.old)
	return validateUpdate(ctx, q.object, q.old, q.strategy)
}

// warnings are what the strategy says to whoever asks, besides what it refuses.
func (q *question) warnings(ctx context.Context) []string {
	if q.old == nil {
		return q.strategy.WarningsOnCreate(ctx, q.object)
	}
	return q.strategy.WarningsOnUpdate(ctx, q.object, q.old)
}

// keepSystemFields copies what an update cannot change.
func keepSystemFields(object, old runtime.Object) {
	current, err := meta.Accessor(object)
	if err != nil {
		return
	}
	before, err := meta.Accessor(old)
	if err != nil {
		return
	}
	if before.GetNamespace() == "" {
		before.SetNamespace(current.GetNamespace())
	}
	current.SetGeneration(before.GetGeneration())
	if current.GetUID() == "" {
		current.SetUID(before.GetUID())
	}
	if current.GetResourceVersion() == "" {
		current.SetResourceVersion(before.GetResourceVersion())
	}
	if stamp := before.GetCreationTimestamp(); !stamp.IsZero() {
		current.SetCreationTimestamp(stamp)
	}
}
