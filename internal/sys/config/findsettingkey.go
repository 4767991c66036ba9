package config

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config/valuekind"
	"github.com/nexus-ai-builder/nexus/internal/sys/spelling"
)

// findKey returns the key of a path; a key without "*" is preferred.
func (l *settingsLoader) findKey(path []string) (SettingKey, bool) {
	for _, k := range l.keys {
		if strings.Count(k.Name, ".") == len(path)-1 && matchesKeyPattern(strings.Split(k.Name, "."), path) {
			return k, true
		}
	}
	return SettingKey{}, false
}

// isSection reports whether there are keys below path.
func (l *settingsLoader) isSection(path []string) bool {
	return slices.ContainsFunc(l.keys, func(k SettingKey) bool {
		p := strings.Split(k.Name, ".")
		return len(p) > len(path) && matchesKeyPattern(p[:len(path)], path)
	})
}

func matchesKeyPattern(pattern, path []string) bool {
	return slices.EqualFunc(pattern, path, func(p, s string) bool { return p == "*" || p == s })
}

// wildcardName returns the segment that the "*" of the key matches.
func (k SettingKey) wildcardName(path []string) (string, error) {
	i := slices.Index(strings.Split(k.Name, "."), "*")
	if i < 0 {
		return "", nil
	}
	name := path[i]
	if strings.HasPrefix(k.Name, "pricing.") {
		if _, err := valuekind.ModelNameKind().Parse(name); err != nil {
			return "", fmt.Errorf("%s: %s %w", formatKeyPath(path), valuekind.QuoteForeign(name), err)
		}
		return name, nil
	}
	if strings.HasPrefix(k.Name, "packages.") {
		if err := valuekind.CheckPlainText(name); err != nil || strings.TrimSpace(name) == "" {
			return "", fmt.Errorf("%s: %s is not the name or the directory of a package", formatKeyPath(path), valuekind.QuoteForeign(name))
		}
		return name, nil
	}
	if !valuekind.IsSettingName(name) {
		return "", fmt.Errorf("%s: %s is not a name of letters, digits, _ and -", formatKeyPath(path), valuekind.QuoteForeign(name))
	}
	return name, nil
}

// unknownKeyError returns an error for a name without a key, which suggests a similar name.
func (l *settingsLoader) unknownKeyError(path []string) error {
	best, least := "", math.MaxInt
	given := formatKeyPath(path)
	var inside []string
	for _, k := range l.keys {
		name := k.Name
		if strings.HasPrefix(name, given+".") {
			inside = append(inside, name)
		}
		if p := strings.Split(name, "."); strings.Contains(name, "*") && len(p) == len(path) {
			i := slices.Index(p, "*")
			p[i] = path[i]
			name = formatKeyPath(p)
		}
		d := spelling.EditDistance(given, name)
		if section, _, ok := strings.Cut(name, "."); ok && len(path) == 1 {
			if s := spelling.EditDistance(given, section); s < d {
				d, name = s, section
			}
		}
		if last := name[strings.LastIndexByte(name, '.')+1:]; len(path) == 1 && last == given {
			d = 1 // same name in the wrong section
		}
		if d < least {
			best, least = name, d
		}
	}
	if len(inside) > 0 {
		return fmt.Errorf("%s is a section, not a key; it has %s", given, truncateNames(inside))
	}
	if least <= max(2, len(given)/3) {
		return fmt.Errorf("unknown key %s; did you mean %s?", given, best)
	}
	return fmt.Errorf("unknown key %s", given)
}

// truncateNames lists the first few names, with the number of the others.
func truncateNames(names []string) string {
	const most = 6
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// pathOfVariable returns the path of an environment variable, nil if it is not one of ours.
func (l *settingsLoader) pathOfVariable(name string) ([]string, error) {
	for _, k := range l.keys {
		if k.Env == "" {
			continue
		}
		if path, ok := k.pathFromVariable(name); ok {
			return path, nil
		}
	}
	best, least := "", math.MaxInt
	ours := false
	for _, k := range l.keys {
		if k.Env == "" {
			continue
		}
		section, _, dotted := strings.Cut(k.Name, ".")
		ours = ours || dotted && strings.HasPrefix(name, keyVariable(section)+"_")
		if d := spelling.EditDistance(name, k.Env); d < least {
			best, least = k.Env, d
		}
	}
	switch {
	case least <= 2:
		return nil, fmt.Errorf("environment: unknown variable %s; did you mean %s?", valuekind.QuoteForeign(name), best)
	case ours:
		return nil, fmt.Errorf("environment: no key has the variable %s", valuekind.QuoteForeign(name))
	default:
		return nil, nil
	}
}

// pathFromVariable returns the path of a variable if it belongs to this key. The part for the "*" is
// lower-cased.
func (k SettingKey) pathFromVariable(name string) ([]string, bool) {
	before, after, open := strings.Cut(k.Env, "*")
	if !open {
		return strings.Split(k.Name, "."), name == k.Env
	}
	if len(name) <= len(before)+len(after) || !strings.HasPrefix(name, before) || !strings.HasSuffix(name, after) {
		return nil, false
	}
	path := strings.Split(k.Name, ".")
	path[slices.Index(path, "*")] = strings.ToLower(name[len(before) : len(name)-len(after)])
	return path, true
}

// formatKeyPath writes a path as a TOML key.
func formatKeyPath(path []string) string {
	parts := make([]string, len(path))
	for i, p := range path {
		parts[i] = p
		if !valuekind.IsSettingName(p) && p != "*" {
			parts[i] = valuekind.QuoteForeign(p)
		}
	}
	return strings.Join(parts, ".")
}

// fillWildcard replaces the "*" by a name.
func fillWildcard(pattern, name string) string {
	path := strings.Split(pattern, ".")
	path[slices.Index(path, "*")] = name
	return formatKeyPath(path)
}

func nestValue(path []string, v any) map[string]any {
	for _, p := range slices.Backward(path[1:]) {
		v = map[string]any{p: v}
	}
	return map[string]any{path[0]: v}
}

func tomlTypeName(v settingSourceValue) string {
	switch x := v.raw.(type) {
	case string:
		return valuekind.QuoteForeign(x)
	case int64, float64, bool:
		return fmt.Sprint(x)
	case []any:
		return "a list"
	case map[string]any:
		return "a table"
	case time.Time:
		return "a date"
	default:
		return "this"
	}
}

// Setting is one value with its origin.
type Setting struct {
	Key    string
	Value  string // in the syntax of the file
	Origin SettingOrigin
}

// ExplainSettings returns every value that c has, in the order of [AllSettingKeys].
func ExplainSettings(c Config, o SettingOrigins) []Setting {
	var all []Setting
	for _, k := range MemberKeys() {
		for _, s := range k.get(c) {
			text := valuekind.FormatValue(s.value)
			if m, isMoney := s.value.(nexus.Money); isMoney && m == 0 && o.OriginOf(s.name).Layer == LayerDefault && strings.Contains(k.Name, "*") {
				continue // a price that is not set
			}
			if k.kind.Description == valuekind.CommandLineKind().Description && s.value == "" {
				text = "false"
			}
			if text == `""` && o.OriginOf(s.name).Layer == LayerDefault {
				continue
			}
			all = append(all, Setting{s.name, text, o.OriginOf(s.name)})
		}
	}
	return all
}
