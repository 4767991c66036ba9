package mcpcmd

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"
)

// sort is the type of a param's values.
type sort int

const (
	text   sort = iota
	whole       // number
	number      // with a fraction
	truth
	texts
	object
)

// place is the position of a param on the command line.
type place int

const (
	flag  place = iota // --name=value
	word               // an argument
	input              // standard input
	aside              // not on it: the tool itself reads the value
)

// param is a parameter of a tool.
type param struct {
	name, about string
	sort        sort
	place       place
	flag        string   // its name, if it differs from the param's
	needed      bool     // required
	values      []string // the allowed values
	least, most float64  // of a number; 0, 0: any
	usual       string   // its default
}

// schema returns the schema of a tool's arguments: its params and no others.
func schema(params []param) *jsonschema.Schema {
	nothing := &jsonschema.Schema{Not: &jsonschema.Schema{}}
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: nothing}
	for _, p := range params {
		one := &jsonschema.Schema{Description: p.about}
		switch p.sort {
		case text:
			one.Type = "string"
			for _, v := range p.values {
				one.Enum = append(one.Enum, v)
			}
		case whole, number:
			one.Type = "number"
			if p.sort == whole {
				one.Type = "integer"
			}
			if p.least != 0 || p.most != 0 {
				one.Minimum, one.Maximum = &p.least, &p.most
			}
		case truth:
			one.Type = "boolean"
		case texts:
			one.Type, one.Items = "array", &jsonschema.Schema{Type: "string"}
		case object:
			one.Type = "object"
		}
		if p.needed {
			s.Required = append(s.Required, p.name)
		}
		s.Properties[p.name], s.PropertyOrder = one, append(s.PropertyOrder, p.name)
	}
	return s
}

// line returns the command line and the standard input for arguments that match the schema. A
// value can never be read as a flag: values of flags follow their "=", and words follow "--".
func line(t tool, in map[string]any) (args []string, stdin string, err error) {
	args = append(args, t.command...)
	words := []string{}
	for _, p := range t.params {
		value, given := in[p.name]
		if !given && p.usual != "" {
			value, given = p.usual, true
		}
		if !given || p.place == aside {
			continue
		}
		all, err := spell(p, value)
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", p.name, err)
		}
		for _, v := range all {
			switch p.place {
			case word:
				if v != "" || p.needed {
					words = append(words, v)
				}
			case input:
				if stdin = v; p.flag != "" {
					args = append(args, "--"+p.flag+"=-")
				}
			case flag, aside:
				args = append(args, "--"+p.option()+"="+v)
			}
		}
	}
	if words = append(words, t.tail...); len(words) > 0 {
		args = append(append(args, "--"), words...)
	}
	return args, stdin, nil
}

// option returns the name of a param's flag.
func (p param) option() string {
	if p.flag != "" {
		return p.flag
	}
	return p.name
}

// spell returns the texts of a value on a command line.
func spell(p param, value any) ([]string, error) {
	switch v := value.(type) {
	case string:
		return []string{v}, nil
	case bool:
		return []string{strconv.FormatBool(v)}, nil
	case float64:
		return []string{strconv.FormatFloat(v, 'f', -1, 64)}, nil
	case []any:
		all := []string{}
		for _, one := range v {
			name, ok := one.(string)
			if !ok {
				return nil, fmt.Errorf("%v is not a text", one)
			}
			all = append(all, name)
		}
		return all, nil
	case map[string]any:
		data, err := json.Marshal(v)
		return []string{string(data)}, err
	default:
		return nil, fmt.Errorf("%v is not a value of %s", value, p.name)
	}
}
