// Package named finds objects by name, as upstream's listers do.
package named

// Objects are found by name; Missing is the error for a name that is not there.
type Objects[T any] struct {
	ByName  map[string]*T
	Missing func(name string) error
}

// List gives all objects, in no order.
func (o Objects[T]) List() ([]*T, error) {
	var found []*T
	for _, object := range o.ByName {
		found = append(found, object)
	}
	return found, nil
}

// Get gives the object of that name.
func (o Objects[T]) Get(name string) (*T, error) {
	if object, ok := o.ByName[name]; ok {
		return object, nil
	}
	return nil, o.Missing(name)
}
