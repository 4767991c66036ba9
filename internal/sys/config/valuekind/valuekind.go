// Package valuekind reads and formats the values of settings from all sources: files, environment
// variables and flags.
package valuekind

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

// Kind reads and describes the values of a key.
type Kind struct {
	Description string         // form of a value, for people
	Schema      map[string]any // JSON Schema of a value
	Values      []string
	Read        func(v any) (any, error)       // reads a value from a file
	Parse       func(text string) (any, error) // reads a value from the environment or a flag
}

// StoreValue stores a value that a kind read. A value of another type is a mistake in the table, which
// the tests check.
func StoreValue[T any](at *T, v any) {
	switch p := any(at).(type) {
	case *nexus.Tier:
		s, _ := v.(string)
		*p = nexus.Tier(s)
	case *nexus.ApprovalMode:
		s, _ := v.(string)
		*p = nexus.ApprovalMode(s)
	case *nexus.PersonReviewRequirement:
		s, _ := v.(string)
		*p = nexus.PersonReviewRequirement(s)
	case *nexus.AlertReaction:
		s, _ := v.(string)
		*p = nexus.AlertReaction(s)
	case *nexus.CoverageCheckMode:
		s, _ := v.(string)
		*p = nexus.CoverageCheckMode(s)
	case *[]nexus.CheckpointReason:
		names, _ := v.([]string)
		*p = nil
		for _, name := range names {
			*p = append(*p, nexus.CheckpointReason(name))
		}
	case *nexus.BoundMode:
		s, _ := v.(string)
		*p = nexus.BoundMode(s)
	default:
		if x, ok := v.(T); ok {
			*at = x
		}
	}
}

// ErrKind is returned for a value of another type.
var ErrKind = errors.New("wrong type")

// Functions that make kinds are not inlined: every key would have its own copies of their
// functions.

// WholeNumberKind reads whole numbers from low to high, inclusive.
func WholeNumberKind(low, high int) Kind {
	check := func(n int64) (any, error) {
		if n < int64(low) || n > int64(high) {
			return nil, fmt.Errorf("must be between %d and %d", low, high)
		}
		return int(n), nil
	}
	return Kind{
		Description: "whole number", Schema: map[string]any{"type": "integer", "minimum": low, "maximum": high},
		Read: func(v any) (any, error) {
			n, ok := v.(int64)
			if !ok {
				return nil, ErrKind
			}
			return check(n)
		},
		Parse: func(s string) (any, error) {
			n, err := strconv.ParseInt(s, 10, 64)
			if err != nil {
				return nil, ErrKind
			}
			return check(n)
		},
	}
}

// WholeNumber64Kind reads whole numbers from 0 on.
func WholeNumber64Kind() Kind {
	k := WholeNumberKind(0, math.MaxInt)
	wide := func(v any, err error) (any, error) {
		n, _ := v.(int)
		return int64(n), err
	}
	read, parse := k.Read, k.Parse
	k.Read = func(v any) (any, error) { return wide(read(v)) }
	k.Parse = func(s string) (any, error) { return wide(parse(s)) }
	k.Schema = map[string]any{"type": "integer", "minimum": 0}
	return k
}

// DollarAmountKind reads amounts of money from 0 to a million dollars.
func DollarAmountKind() Kind {
	check := func(f float64) (any, error) {
		if math.IsNaN(f) || f < 0 || f > 1e6 {
			return nil, errors.New("must be between 0 and 1000000 dollars")
		}
		return nexus.MoneyFromDollars(f), nil
	}
	return Kind{
		Description: "number of dollars, such as 2.50", Schema: map[string]any{"type": "number", "minimum": 0, "maximum": 1e6},
		Read: func(v any) (any, error) {
			switch n := v.(type) {
			case int64:
				return check(float64(n))
			case float64:
				return check(n)
			default:
				return nil, ErrKind
			}
		},
		Parse: func(s string) (any, error) {
			f, err := strconv.ParseFloat(strings.TrimPrefix(s, "$"), 64)
			if err != nil {
				return nil, ErrKind
			}
			return check(f)
		},
	}
}

// DurationKind reads durations from 0 to a year.
func DurationKind() Kind {
	return textKind(`duration, such as "10m" or "1h30m"`, map[string]any{"pattern": `^([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+$`}, func(s string) (any, error) {
		d, err := time.ParseDuration(s)
		switch {
		case err != nil:
			return nil, ErrKind
		case d < 0 || d > 365*24*time.Hour:
			return nil, errors.New("must be between 0s and a year")
		default:
			return d, nil
		}
	})
}

// TextLineKind reads one line of text.
func TextLineKind() Kind {
	return textKind("text", nil, func(s string) (any, error) { return s, CheckPlainText(s) })
}

// OneOfKind reads one of the given words.
func OneOfKind(values ...string) Kind {
	k := textKind("one of "+strings.Join(values, ", "), map[string]any{"enum": values}, func(s string) (any, error) {
		if !slices.Contains(values, s) {
			return nil, fmt.Errorf("must be one of %s", strings.Join(values, ", "))
		}
		return s, nil
	})
	k.Values = values
	return k
}

// ModelNameKind reads the name of a model, provider/model.
func ModelNameKind() Kind {
	return PatternTextKind("provider/model", `^[A-Za-z0-9][A-Za-z0-9_.-]*/[^\s\p{C}]+$`, "must be provider/model, such as anthropic/claude-haiku-5-5")
}

// ModelOrTierKind reads the name of a model, provider/model, or of a tier.
func ModelOrTierKind(tiers ...string) Kind {
	return PatternTextKind("provider/model, or one of "+strings.Join(tiers, ", "), `^(`+strings.Join(tiers, "|")+`|[A-Za-z0-9][A-Za-z0-9_.-]*/[^\s\p{C}]+)$`,
		"must be provider/model, such as anthropic/claude-haiku-5-5, or a tier: "+strings.Join(tiers, ", "))
}

// VariableNameKind reads the name of an environment variable.
func VariableNameKind() Kind {
	return PatternTextKind("name of an environment variable", `^[A-Za-z_][A-Za-z0-9_]*$`, "must be the name of an environment variable, not the key itself")
}

// WebAddressKind reads an http or https address without a user or password in it.
func WebAddressKind() Kind {
	return textKind("http or https address", map[string]any{"pattern": "^https?://"}, func(s string) (any, error) {
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

// PatternTextKind reads text that matches a pattern; must is the requirement in error messages.
func PatternTextKind(says, pattern, must string) Kind {
	return textKind(says, map[string]any{"pattern": pattern}, func(s string) (any, error) {
		if ok, err := regexp.MatchString(pattern, s); err != nil || !ok {
			return nil, errors.New(must)
		}
		return s, nil
	})
}

// textKind reads texts that a function can parse.
func textKind(says string, schema map[string]any, parse func(string) (any, error)) Kind {
	k := Kind{Description: says, Schema: map[string]any{"type": "string"}, Parse: parse}
	for name, v := range schema {
		k.Schema[name] = v
	}
	k.Read = func(v any) (any, error) {
		s, ok := v.(string)
		if !ok {
			return nil, ErrKind
		}
		return parse(s)
	}
	return k
}

// BooleanKind reads true or false.
func BooleanKind() Kind {
	return Kind{
		Description: "true or false", Schema: map[string]any{"type": "boolean"},
		Read: func(v any) (any, error) {
			if b, ok := v.(bool); ok {
				return b, nil
			}
			return nil, ErrKind
		},
		Parse: func(s string) (any, error) {
			b, err := strconv.ParseBool(s)
			if err != nil {
				return nil, ErrKind
			}
			return b, nil
		},
	}
}

// CommandLineKind reads a command line; false or an empty text turns it off.
func CommandLineKind() Kind {
	check := func(s string) (any, error) {
		s = strings.TrimSpace(s)
		if len(s) > 10_000 || strings.ContainsRune(s, 0) {
			return nil, errors.New("is not a command line")
		}
		return s, nil
	}
	return Kind{
		Description: "command line, or false", Schema: map[string]any{"anyOf": []any{map[string]any{"type": "string"}, map[string]any{"const": false}}},
		Read: func(v any) (any, error) {
			switch x := v.(type) {
			case string:
				return check(x)
			case bool:
				if !x {
					return "", nil
				}
			}
			return nil, ErrKind
		},
		Parse: func(s string) (any, error) {
			if s == "false" {
				return "", nil
			}
			return check(s)
		},
	}
}

// CheckPlainText refuses control characters, which could forge terminal output.
func CheckPlainText(s string) error {
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return errors.New("must not hold control characters")
	}
	return nil
}

// IsSettingName reports whether s may replace a "*" that names a gate, role or provider.
func IsSettingName(s string) bool {
	if s == "" || len(s) > 64 || s[0] == '-' {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	})
}

// FormatValue returns a value in the syntax of the file.
func FormatValue(v any) string {
	switch x := v.(type) {
	case nexus.Money:
		data, _ := x.MarshalJSON() // never fails
		return string(data)
	case time.Duration:
		return strconv.Quote(formatDuration(x))
	case string:
		return strconv.Quote(x)
	case nexus.Tier:
		return strconv.Quote(string(x))
	case nexus.PersonReviewRequirement:
		return strconv.Quote(string(x))
	case nexus.ApprovalMode:
		return strconv.Quote(string(x))
	case nexus.AlertReaction:
		return strconv.Quote(string(x))
	case nexus.CoverageCheckMode:
		return strconv.Quote(string(x))
	case nexus.BoundMode:
		return strconv.Quote(string(x))
	case []string:
		return quoteList(x)
	case []nexus.CheckpointReason:
		return quoteList(x)
	default:
		return fmt.Sprint(x)
	}
}

func quoteList[T ~string](all []T) string {
	q := make([]string, len(all))
	for i, s := range all {
		q[i] = strconv.Quote(string(s))
	}
	return "[" + strings.Join(q, ", ") + "]"
}

// formatDuration formats a duration without zero parts at its end.
func formatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// QuoteForeign formats untrusted text for people: escaped and shortened.
func QuoteForeign(s string) string {
	if len(s) > 80 {
		s = s[:80] + "..."
	}
	return strconv.QuoteToASCII(s)
}
