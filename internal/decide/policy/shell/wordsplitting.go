package shell

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// MaySplit reports whether bash may split the expansion of a part into several words.
func MaySplit(p syntax.WordPart) bool {
	switch p := p.(type) {
	case *syntax.ParamExp, *syntax.CmdSubst:
		return true
	case *syntax.DblQuoted: // "$@" and "${X[@]}" are several words
		return slices.ContainsFunc(p.Parts, func(q syntax.WordPart) bool {
			e, ok := q.(*syntax.ParamExp)
			return ok && (e.Param != nil && e.Param.Value == "@" || e.Index != nil || e.Names != 0 || e.Excl)
		})
	}
	return false
}
