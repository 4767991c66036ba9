package kind

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// List reads names, restricted to the allowed ones if there are any; in environment variables they
// are separated by commas.
func List(allowed ...string) Kind {
	item := map[string]any{"type": "string"}
	if len(allowed) > 0 {
		item["enum"] = allowed
	}
	return list("list of names", item, func(names []string) (any, error) {
		for _, n := range names {
			if len(allowed) == 0 && !Named(n) {
				return nil, fmt.Errorf("%s is not a name", Quoted(n))
			}
			if len(allowed) > 0 && !slices.Contains(allowed, n) {
				return nil, fmt.Errorf("%s is not one of %s", Quoted(n), strings.Join(allowed, ", "))
			}
		}
		return names, nil
	})
}

// Texts reads a list of any texts without control characters.
func Texts() Kind {
	return list("list of texts", map[string]any{"type": "string"}, func(all []string) (any, error) {
		for _, s := range all {
			if err := Plain(s); err != nil {
				return nil, err
			}
		}
		return all, nil
	})
}

// Pairs reads a table of texts into "name=value" entries, ordered by name.
func Pairs(name string) Kind {
	fits := regexp.MustCompile(name)
	check := func(n, v string) (string, error) {
		if !fits.MatchString(n) {
			return "", fmt.Errorf("has the name %s, which is not valid", Quoted(n))
		}
		return n + "=" + v, Plain(v)
	}
	return Kind{
		Says: "table of texts", Schema: map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "string"}},
		Read: func(v any) (any, error) {
			table, ok := v.(map[string]any)
			if !ok {
				return nil, ErrKind
			}
			var pairs []string
			for n, v := range table {
				text, ok := v.(string)
				if !ok {
					return nil, ErrKind
				}
				p, err := check(n, text)
				if err != nil {
					return nil, err
				}
				pairs = append(pairs, p)
			}
			slices.Sort(pairs)
			return pairs, nil
		},
		Parse: func(s string) (any, error) {
			var pairs []string
			for pair := range strings.SplitSeq(s, ",") {
				n, v, ok := strings.Cut(pair, "=")
				if !ok {
					return nil, ErrKind
				}
				p, err := check(n, v)
				if err != nil {
					return nil, err
				}
				pairs = append(pairs, p)
			}
			slices.Sort(pairs)
			return pairs, nil
		},
	}
}

// Beginnings reads a list of the first words of simple commands.
func Beginnings() Kind {
	return list("list of commands", map[string]any{"type": "string", "pattern": beginning}, func(names []string) (any, error) {
		for i, n := range names {
			names[i] = strings.Join(strings.Fields(n), " ")
			if !regexp.MustCompile(beginning).MatchString(names[i]) {
				return nil, fmt.Errorf("%s is not the plain words that a command starts with", Quoted(n))
			}
		}
		return names, nil
	})
}

// Many reads a list of texts that check accepts.
func Many(says string, check func([]string) (any, error)) Kind {
	return list(says, map[string]any{"type": "string"}, check)
}

// Phrases reads a list of non-blank texts.
func Phrases() Kind {
	return list("list of phrases", map[string]any{"type": "string", "minLength": 1, "maxLength": 200}, func(names []string) (any, error) {
		for _, n := range names {
			if err := Plain(n); err != nil || len(n) > 200 || !strings.ContainsFunc(n, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
				return nil, fmt.Errorf("%s is not a phrase of up to 200 letters", Quoted(n))
			}
		}
		return names, nil
	})
}

// beginning matches words without special meaning to a shell.
const beginning = `^[A-Za-z0-9_./+:@%=-]+( [A-Za-z0-9_./+:@%=-]+){0,9}$`

// list reads lists of texts that a check accepts.
func list(says string, item map[string]any, check func([]string) (any, error)) Kind {
	return Kind{
		Says: says, Schema: map[string]any{"type": "array", "items": item},
		Read: func(v any) (any, error) {
			items, ok := v.([]any)
			if !ok {
				return nil, ErrKind
			}
			names := make([]string, len(items))
			for i, it := range items {
				if names[i], ok = it.(string); !ok {
					return nil, ErrKind
				}
			}
			return check(names)
		},
		Parse: func(s string) (any, error) {
			var names []string
			for n := range strings.SplitSeq(s, ",") {
				if n = strings.TrimSpace(n); n != "" {
					names = append(names, n)
				}
			}
			return check(names)
		},
	}
}
