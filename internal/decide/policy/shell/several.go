package shell

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Modes returns the mode of a chmod that takes permissions away from all, and so
// looks like options: -w, or -Rw. It is empty where there is none.
func Modes(options []Word) string {
	var modes []string
	for _, o := range options {
		if m := regexp.MustCompile(`^-[Rcfvh]*([rwxXstugoa,+=0-7].*)$`).FindStringSubmatch(o.Text); m != nil {
			modes = append(modes, "-"+m[1])
		}
	}
	return strings.Join(modes, ",")
}

// Splits reports whether bash may make several words of a part, by what it
// expands to.
func Splits(p syntax.WordPart) bool {
	switch p := p.(type) {
	case *syntax.ParamExp, *syntax.CmdSubst:
		return true
	case *syntax.DblQuoted: // "$@" and "${X[@]}" are as many words as there are
		return slices.ContainsFunc(p.Parts, func(q syntax.WordPart) bool {
			e, ok := q.(*syntax.ParamExp)
			return ok && (e.Param != nil && e.Param.Value == "@" || e.Index != nil || e.Names != 0 || e.Excl)
		})
	}
	return false
}

// PsValue reports whether a word is an option of ps that takes the next word for
// its value: -o, or -eo.
func PsValue(option string) bool {
	return strings.HasPrefix(option, "--") || strings.HasPrefix(option, "-") && len(option) > 1 && strings.ContainsAny(option[len(option)-1:], "CGOUgknopqstu")
}
