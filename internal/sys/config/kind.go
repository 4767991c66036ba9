package config

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// kind reads and describes the values of a key.
type kind struct {
	says   string         // what a value looks like
	schema map[string]any // JSON Schema of a value
	values []string
	read   func(v any) (any, error)       // a value from a file
	parse  func(text string) (any, error) // a value from the environment or a flag
}

// put stores what a kind read. A value of another type is a mistake in the
// table, which the tests walk.
func put[T any](at *T, v any) {
	switch p := any(at).(type) {
	case *nexus.Tier:
		s, _ := v.(string)
		*p = nexus.Tier(s)
	case *nexus.Approval:
		s, _ := v.(string)
		*p = nexus.Approval(s)
	default:
		if x, ok := v.(T); ok {
			*at = x
		}
	}
}

var errKind = errors.New("wrong type")

func whole(low, high int) kind {
	check := func(n int64) (any, error) {
		if n < int64(low) || n > int64(high) {
			return nil, fmt.Errorf("must be between %d and %d", low, high)
		}
		return int(n), nil
	}
	return kind{
		says: "whole number", schema: map[string]any{"type": "integer", "minimum": low, "maximum": high},
		read: func(v any) (any, error) {
			n, ok := v.(int64)
			if !ok {
				return nil, errKind
			}
			return check(n)
		},
		parse: func(s string) (any, error) {
			n, err := strconv.ParseInt(s, 10, 64)
			if err != nil {
				return nil, errKind
			}
			return check(n)
		},
	}
}

func whole64() kind {
	k := whole(0, math.MaxInt)
	wide := func(v any, err error) (any, error) {
		n, _ := v.(int)
		return int64(n), err
	}
	read, parse := k.read, k.parse
	k.read = func(v any) (any, error) { return wide(read(v)) }
	k.parse = func(s string) (any, error) { return wide(parse(s)) }
	k.schema = map[string]any{"type": "integer", "minimum": 0}
	return k
}

func dollars() kind {
	check := func(f float64) (any, error) {
		if math.IsNaN(f) || f < 0 || f > 1e6 {
			return nil, errors.New("must be between 0 and 1000000 dollars")
		}
		return nexus.Dollars(f), nil
	}
	return kind{
		says: "number of dollars, such as 2.50", schema: map[string]any{"type": "number", "minimum": 0, "maximum": 1e6},
		read: func(v any) (any, error) {
			switch n := v.(type) {
			case int64:
				return check(float64(n))
			case float64:
				return check(n)
			default:
				return nil, errKind
			}
		},
		parse: func(s string) (any, error) {
			f, err := strconv.ParseFloat(strings.TrimPrefix(s, "$"), 64)
			if err != nil {
				return nil, errKind
			}
			return check(f)
		},
	}
}

func span() kind {
	return stringy(`duration, such as "10m" or "1h30m"`, map[string]any{"pattern": `^([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+$`}, func(s string) (any, error) {
		d, err := time.ParseDuration(s)
		switch {
		case err != nil:
			return nil, errKind
		case d < 0 || d > 365*24*time.Hour:
			return nil, errors.New("must be between 0s and a year")
		default:
			return d, nil
		}
	})
}

func text() kind {
	return stringy("text", nil, func(s string) (any, error) { return s, plain(s) })
}

func words(values ...string) kind {
	k := stringy("one of "+strings.Join(values, ", "), map[string]any{"enum": values}, func(s string) (any, error) {
		if !slices.Contains(values, s) {
			return nil, fmt.Errorf("must be one of %s", strings.Join(values, ", "))
		}
		return s, nil
	})
	k.values = values
	return k
}

func modelName() kind {
	return matching("provider/model", `^[A-Za-z0-9][A-Za-z0-9_.-]*/[^\s\p{C}]+$`, "must be provider/model, such as anthropic/claude-haiku-5-5")
}

func varName() kind {
	return matching("name of an environment variable", `^[A-Za-z_][A-Za-z0-9_]*$`, "must be the name of an environment variable, not the key itself")
}

func address() kind {
	return stringy("http or https address", map[string]any{"pattern": "^https?://"}, func(s string) (any, error) {
		u, err := url.Parse(s)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, errors.New("must be an http or https address")
		}
		if u.User != nil {
			return nil, errors.New("must not hold a user or password; set key_env")
		}
		return s, nil
	})
}

func matching(says, pattern, must string) kind {
	return stringy(says, map[string]any{"pattern": pattern}, func(s string) (any, error) {
		if ok, err := regexp.MatchString(pattern, s); err != nil || !ok {
			return nil, errors.New(must)
		}
		return s, nil
	})
}

func stringy(says string, schema map[string]any, parse func(string) (any, error)) kind {
	k := kind{says: says, schema: map[string]any{"type": "string"}, parse: parse}
	for name, v := range schema {
		k.schema[name] = v
	}
	k.read = func(v any) (any, error) {
		s, ok := v.(string)
		if !ok {
			return nil, errKind
		}
		return parse(s)
	}
	return k
}

func boolean() kind {
	return kind{
		says: "true or false", schema: map[string]any{"type": "boolean"},
		read: func(v any) (any, error) {
			if b, ok := v.(bool); ok {
				return b, nil
			}
			return nil, errKind
		},
		parse: func(s string) (any, error) {
			b, err := strconv.ParseBool(s)
			if err != nil {
				return nil, errKind
			}
			return b, nil
		},
	}
}

// command reads a command line; false or an empty one switches it off.
func command() kind {
	check := func(s string) (any, error) {
		s = strings.TrimSpace(s)
		if len(s) > 10_000 || strings.ContainsRune(s, 0) {
			return nil, errors.New("is not a command line")
		}
		return s, nil
	}
	return kind{
		says: "command line, or false", schema: map[string]any{"anyOf": []any{map[string]any{"type": "string"}, map[string]any{"const": false}}},
		read: func(v any) (any, error) {
			switch x := v.(type) {
			case string:
				return check(x)
			case bool:
				if !x {
					return "", nil
				}
			}
			return nil, errKind
		},
		parse: func(s string) (any, error) {
			if s == "false" {
				return "", nil
			}
			return check(s)
		},
	}
}

// list reads names, of the allowed ones if there are any; in the environment
// they are separated by commas.
func list(allowed ...string) kind {
	item := map[string]any{"type": "string"}
	if len(allowed) > 0 {
		item["enum"] = allowed
	}
	check := func(names []string) (any, error) {
		for _, n := range names {
			if !nameOK(n) {
				return nil, fmt.Errorf("%s is not a name", quoted(n))
			}
			if len(allowed) > 0 && !slices.Contains(allowed, n) {
				return nil, fmt.Errorf("%s is none of %s", quoted(n), strings.Join(allowed, ", "))
			}
		}
		return names, nil
	}
	return kind{
		says: "list of names", schema: map[string]any{"type": "array", "items": item},
		read: func(v any) (any, error) {
			items, ok := v.([]any)
			if !ok {
				return nil, errKind
			}
			names := make([]string, len(items))
			for i, it := range items {
				if names[i], ok = it.(string); !ok {
					return nil, errKind
				}
			}
			return check(names)
		},
		parse: func(s string) (any, error) {
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

// plain refuses control characters, which could forge what a terminal shows.
func plain(s string) error {
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return errors.New("must not hold control characters")
	}
	return nil
}

// nameOK reports whether s may fill a "*" that names a gate, role or
// provider.
func nameOK(s string) bool {
	if s == "" || len(s) > 64 || s[0] == '-' {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	})
}

// show returns a value as it would be written in a file.
func show(v any) string {
	switch x := v.(type) {
	case nexus.Money:
		data, _ := x.MarshalJSON() // never fails
		return string(data)
	case time.Duration:
		return strconv.Quote(short(x))
	case string:
		return strconv.Quote(x)
	case nexus.Tier:
		return strconv.Quote(string(x))
	case nexus.Approval:
		return strconv.Quote(string(x))
	case []string:
		q := make([]string, len(x))
		for i, s := range x {
			q[i] = strconv.Quote(s)
		}
		return "[" + strings.Join(q, ", ") + "]"
	default:
		return fmt.Sprint(x)
	}
}

// short writes a duration without the zero parts at its end.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
