// Package ktesting has of upstream's module of that name, which the module proxy does not serve, what upstream's
// allocator tests need: a context that is also a test.
package ktesting

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"k8s.io/klog/v2/ktesting"
)

// TContext is the context of a test, whose logger knows the test.
type TContext struct {
	context.Context
	*testing.T
	cancel context.CancelCauseFunc
}

// Init gives the context of a test.
func Init(t *testing.T) TContext {
	_, ctx := ktesting.NewTestContext(t)
	return TContext{Context: ctx, T: t}
}

// SetDefaultVerbosity has no effect: nothing is logged that anybody reads.
func SetDefaultVerbosity(int) {}

// Run runs a subtest with a context of its own.
func (c TContext) Run(name string, test func(TContext)) bool {
	return c.T.Run(name, func(t *testing.T) { test(Init(t)) })
}

// Expect is the beginning of an assertion, as is Require; both end the test that fails.
func (c TContext) Expect(actual any, extra ...any) gomega.Assertion {
	return gomega.NewWithT(c.T).Expect(actual, extra...)
}

// Require is Expect.
func (c TContext) Require(actual any, extra ...any) gomega.Assertion {
	return c.Expect(actual, extra...)
}

// ExpectNoError ends the test if there is an error.
func (c TContext) ExpectNoError(err error, explain ...any) {
	c.Expect(err).NotTo(gomega.HaveOccurred(), explain...)
}

// WithCancel gives a context that Cancel ends.
func (c TContext) WithCancel() TContext {
	ctx, cancel := context.WithCancelCause(c.Context)
	return TContext{Context: ctx, T: c.T, cancel: cancel}
}

// Cancel ends a context that WithCancel gave.
func (c TContext) Cancel(cause string) {
	c.cancel(errors.New(cause))
}

// WithTimeout gives a context that ends after a time.
func (c TContext) WithTimeout(after time.Duration, cause string) TContext {
	return c.WithDeadline(time.Now().Add(after), cause)
}

// WithDeadline gives a context that ends at a time.
func (c TContext) WithDeadline(at time.Time, cause string) TContext {
	ctx, cancel := context.WithDeadlineCause(c.Context, at, errors.New(cause))
	c.T.Cleanup(cancel)
	return TContext{Context: ctx, T: c.T}
}

// Deadline is the context's; a test has one, too.
func (c TContext) Deadline() (time.Time, bool) { return c.Context.Deadline() }

// Err is why the context ended, in the words of who ended it.
func (c TContext) Err() error { return context.Cause(c.Context) }
