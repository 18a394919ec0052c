package method

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/train"
)

// Gradient returns a method with the caller's own loss. Its scorers are linear, fm, net and trees. Their learners, and the
// hyperparameters with their defaults and grids, are the catalogue's. The method can be used in [Method.Train] and in
// packages tune and auto. [Lookup] does not find it.
//
// The exported fields of the loss of type float64, int and bool are hyperparameters, by their names. Their values in l
// are the defaults, and have no grid. Other fields, and the fields of losses of package loss, keep their values.
//
//	m, err := method.Gradient("huber", Huber{Delta: 1})
//	entries, err := tune.NewEntries(m, map[string][]string{"Delta": {"0.5", "1", "2"}})
//
// C is 1 by default, and its grid goes from 1e-4 for sums over pairs to 1e4. Without [loss.Traits].NonGradient, L-BFGS
// trains linear functions, and descent networks. With it, descent trains both, with a grid of rates in place of C.
//
// Gradient returns a *ProblemError for a name of the catalogue, and for a field that is not a valid hyperparameter.
func Gradient(name string, l loss.Loss) (*Method, error) {
	if name == "" {
		return nil, train.BadProblem("found a method without a name, expected one")
	}
	if _, err := Lookup(name); err == nil {
		return nil, train.BadProblem("found the name %s of a method of the catalogue, expected another one", name)
	}
	if v := reflect.ValueOf(l); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, train.BadProblem("method %s: found no loss, expected one", name)
	}
	m := Method{Name: name, Title: name, Summary: fmt.Sprintf("The loss %T.", l), Source: "own", own: train.IdentityOf(name, l, nil, nil)}
	of := reflect.Indirect(reflect.ValueOf(l))
	for _, f := range settingsOf(of) {
		h := Hyperparameter{Name: f.Name, Default: fmt.Sprint(of.FieldByIndex(f.Index)), Doc: fmt.Sprintf("field of %T", l)}
		switch v := of.FieldByIndex(f.Index); v.Kind() {
		case reflect.Float64:
			h.Kind, h.Min, h.Max = Number, -unbounded, unbounded
			h.Default = strconv.FormatFloat(v.Float(), 'g', -1, 64)
		case reflect.Int:
			h.Kind, h.Min, h.Max = Integer, -mostInteger, mostInteger
		default:
			h.Kind = Switch
		}
		if _, err := h.canonical(h.Default); err != nil {
			return nil, train.BadProblem("method %s: %w", name, err)
		}
		m.Hyperparameters = append(m.Hyperparameters, h)
	}
	c, rates := regularization("1", gridPairs), []string(nil)
	if l.Traits().NonGradient {
		c, rates = regularization("1e6", nil), ratesOfFields
	}
	for _, h := range m.Hyperparameters {
		if h.Name == c.Name {
			return nil, train.BadProblem("method %s: found the field %s of %T, expected another name: %s is the %s", name, h.Name, l, c.Name, c.Doc)
		}
	}
	return gradientMethod(m, c, rates, func(p *Problem) (loss.Loss, error) { return withSettings(l, p.Values), nil }), nil
}

// mostInteger is the largest value of a hyperparameter that is an int field.
const mostInteger = 1e15

// Identity returns the name of the method. For a method of [Gradient], it adds the type and the fields of the loss. So
// records distinguish losses of the same name. They do not see the code of the loss: if it changes, use another name.
func (m *Method) Identity() string {
	if m.own != "" {
		return m.own
	}
	return m.Name
}

// settingsOf returns the fields of a loss that are hyperparameters.
func settingsOf(l reflect.Value) (fields []reflect.StructField) {
	if l.Kind() != reflect.Struct || l.Type().PkgPath() == reflect.TypeFor[loss.Traits]().PkgPath() {
		return nil
	}
	for i := range l.NumField() {
		switch f := l.Type().Field(i); f.Type {
		case reflect.TypeFor[float64](), reflect.TypeFor[int](), reflect.TypeFor[bool]():
			if f.IsExported() {
				fields = append(fields, f)
			}
		}
	}
	return fields
}

// withSettings returns a copy of l with the values of its hyperparameters.
func withSettings(l loss.Loss, v Values) loss.Loss {
	from := reflect.Indirect(reflect.ValueOf(l))
	own := reflect.New(from.Type())
	own.Elem().Set(from)
	for _, f := range settingsOf(from) {
		switch to := own.Elem().FieldByIndex(f.Index); to.Kind() {
		case reflect.Float64:
			to.SetFloat(v.Number(f.Name))
		case reflect.Int:
			to.SetInt(int64(v.Int(f.Name)))
		default:
			to.SetBool(v.Bool(f.Name))
		}
	}
	if reflect.TypeOf(l).Kind() != reflect.Pointer {
		own = own.Elem()
	}
	return own.Interface().(loss.Loss)
}
