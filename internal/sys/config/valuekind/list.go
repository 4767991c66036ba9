package valuekind

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// NameListKind reads names, restricted to the allowed ones if there are any; in environment variables they
// are separated by commas.
func NameListKind(allowed ...string) Kind {
	item := map[string]any{"type": "string"}
	if len(allowed) > 0 {
		item["enum"] = allowed
	}
	return listKind("list of names", item, func(names []string) (any, error) {
		for _, n := range names {
			if len(allowed) == 0 && !IsSettingName(n) {
				return nil, fmt.Errorf("%s is not a name", QuoteForeign(n))
			}
			if len(allowed) > 0 && !slices.Contains(allowed, n) {
				return nil, fmt.Errorf("%s is not one of %s", QuoteForeign(n), strings.Join(allowed, ", "))
			}
		}
		return names, nil
	})
}

// TextListKind reads a list of any texts without control characters.
func TextListKind() Kind {
	return listKind("list of texts", map[string]any{"type": "string"}, func(all []string) (any, error) {
		for _, s := range all {
			if err := CheckPlainText(s); err != nil {
				return nil, err
			}
		}
		return all, nil
	})
}

// NameValueTableKind reads a table of texts into "name=value" entries, ordered by name.
func NameValueTableKind(name string) Kind {
	fits := regexp.MustCompile(name)
	check := func(n, v string) (string, error) {
		if !fits.MatchString(n) {
			return "", fmt.Errorf("has the name %s, which is not valid", QuoteForeign(n))
		}
		return n + "=" + v, CheckPlainText(v)
	}
	return Kind{
		Description: "table of texts", Schema: map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "string"}},
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

// CommandPrefixesKind reads a list of the first words of simple commands.
func CommandPrefixesKind() Kind {
	return listKind("list of commands", map[string]any{"type": "string", "pattern": commandPrefixPattern}, func(names []string) (any, error) {
		for i, n := range names {
			names[i] = strings.Join(strings.Fields(n), " ")
			if !regexp.MustCompile(commandPrefixPattern).MatchString(names[i]) {
				return nil, fmt.Errorf("%s is not the plain words that a command starts with", QuoteForeign(n))
			}
		}
		return names, nil
	})
}

// CheckedListKind reads a list of texts that check accepts.
func CheckedListKind(says string, check func([]string) (any, error)) Kind {
	return listKind(says, map[string]any{"type": "string"}, check)
}

// PhraseListKind reads a list of non-blank texts.
func PhraseListKind() Kind {
	return listKind("list of phrases", map[string]any{"type": "string", "minLength": 1, "maxLength": 200}, func(names []string) (any, error) {
		for _, n := range names {
			if err := CheckPlainText(n); err != nil || len(n) > 200 || !strings.ContainsFunc(n, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
				return nil, fmt.Errorf("%s is not a phrase of up to 200 letters", QuoteForeign(n))
			}
		}
		return names, nil
	})
}

// commandPrefixPattern matches words without special meaning to a shell.
const commandPrefixPattern = `^[A-Za-z0-9_./+:@%=-]+( [A-Za-z0-9_./+:@%=-]+){0,9}$`

// listKind reads lists of texts that a check accepts.
func listKind(says string, item map[string]any, check func([]string) (any, error)) Kind {
	return Kind{
		Description: says, Schema: map[string]any{"type": "array", "items": item},
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
