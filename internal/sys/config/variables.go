package config

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/config/valuekind"
)

// variablePattern matches ${NAME} and ${NAME:-default}.
const variablePattern = `\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}`

// ExpandVariables replaces ${NAME} and ${NAME:-default} in texts by the user's variables. Use it only for
// settings of the user's own.
func ExpandVariables(texts []string, env func(string) string) ([]string, error) {
	var missing []string
	match := regexp.MustCompile(variablePattern)
	filled := make([]string, len(texts))
	for i, text := range texts {
		filled[i] = match.ReplaceAllStringFunc(text, func(p string) string {
			m := match.FindStringSubmatch(p)
			v := cmp.Or(env(m[1]), m[3])
			if v == "" && m[2] == "" {
				missing = append(missing, m[1])
			}
			return v
		})
		if valuekind.CheckPlainText(filled[i]) != nil {
			return filled, errors.New("a variable that it names holds control characters")
		}
	}
	if len(missing) > 0 {
		return filled, fmt.Errorf("the variable %s is not set", strings.Join(missing, ", "))
	}
	return filled, nil
}
