package valuekind

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxNames limits the names in a chain.
const maxNames = 3

// ModelChainKind reads one to three names of models, the preferred one first: a text with commas, or a
// list. The value is stored as text.
func ModelChainKind() Kind {
	return nameChain(ModelNameKind(), "must be one to three models", "provider/model, or a list of up to three")
}

// AgentChainKind reads one to three names of agents, or of models as provider/model, in the form of
// [ModelChainKind]. An empty text means none.
func AgentChainKind() Kind {
	one := PatternTextKind("agent", `^[A-Za-z0-9][A-Za-z0-9_.-]*(/[^\s\p{C}]+)?$`, "must be the name of an agent, such as claude")
	k := nameChain(one, "must be one to three agents", "text, or a list of up to three")
	read, parse := k.Read, k.Parse
	k.Parse = func(text string) (any, error) {
		if text == "" {
			return "", nil
		}
		return parse(text)
	}
	k.Read = func(v any) (any, error) {
		if v == "" {
			return "", nil
		}
		return read(v)
	}
	return k
}

// nameChain reads a list of names, the preferred one first.
func nameChain(one Kind, most, says string) Kind {
	check := func(names []string) (any, error) {
		if len(names) == 0 || len(names) > maxNames {
			return nil, errors.New(most)
		}
		for i, n := range names {
			names[i] = strings.TrimSpace(n)
			if _, err := one.Parse(names[i]); err != nil {
				return nil, err
			}
			if slices.Contains(names[:i], names[i]) {
				return nil, fmt.Errorf("%s is given twice", QuoteForeign(names[i]))
			}
		}
		return strings.Join(names, ","), nil
	}
	parse := func(text string) (any, error) { return check(strings.Split(text, ",")) }
	return Kind{
		Description: says,
		Schema: map[string]any{"anyOf": []any{
			map[string]any{"type": "string"},
			map[string]any{"type": "array", "items": one.Schema, "minItems": 1, "maxItems": maxNames},
		}},
		Parse: parse,
		Read: func(v any) (any, error) {
			if text, ok := v.(string); ok {
				return parse(text)
			}
			items, ok := v.([]any)
			if !ok {
				return nil, ErrKind
			}
			names := make([]string, len(items))
			for i, item := range items {
				if names[i], ok = item.(string); !ok {
					return nil, ErrKind
				}
			}
			return check(names)
		},
	}
}
