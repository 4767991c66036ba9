package mcpcmd

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"
)

// paramType is the type of a param's values.
type paramType int

const (
	text   paramType = iota
	whole            // number
	number           // with a fraction
	truth
	texts
	object
)

// paramPlace is the position of a param on the command line.
type paramPlace int

const (
	flag  paramPlace = iota // --name=value
	word                    // an argument
	input                   // standard input
	aside                   // not on it: the tool itself reads the value
)

// toolParam is a parameter of a tool.
type toolParam struct {
	name, about string
	typ         paramType
	place       paramPlace
	flag        string   // its name, if it differs from the param's
	needed      bool     // required
	values      []string // the allowed values
	least, most float64  // of a number; 0, 0: any
	usual       string   // its default
}

// paramSchema returns the schema of a tool's arguments: its params and no others.
func paramSchema(params []toolParam) *jsonschema.Schema {
	nothing := &jsonschema.Schema{Not: &jsonschema.Schema{}}
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: nothing}
	for _, p := range params {
		one := &jsonschema.Schema{Description: p.about}
		switch p.typ {
		case text:
			one.Type = "string"
			for _, v := range p.values {
				one.Enum = append(one.Enum, v)
			}
		case whole, number:
			one.Type = "number"
			if p.typ == whole {
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

// commandLine returns the command line and the standard input for arguments that match the schema. A
// value can never be read as a flag: values of flags follow their "=", and words follow "--".
func commandLine(t commandTool, in map[string]any) (args []string, stdin string, err error) {
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
		all, err := argumentTexts(p, value)
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
				args = append(args, "--"+p.flagName()+"="+v)
			}
		}
	}
	if words = append(words, t.tail...); len(words) > 0 {
		args = append(append(args, "--"), words...)
	}
	return args, stdin, nil
}

// flagName returns the name of a param's flag.
func (p toolParam) flagName() string {
	if p.flag != "" {
		return p.flag
	}
	return p.name
}

// argumentTexts returns the texts of a value on a command line.
func argumentTexts(p toolParam, value any) ([]string, error) {
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
