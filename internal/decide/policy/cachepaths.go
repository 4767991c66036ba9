package policy

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/pathkind"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// dependency represents a path that a command prints at run time: that of a dependency or a
// toolchain, which may be read but not written.
const dependency = "/usr/lib/dependency"

// printsCachePath reports whether a substitution prints such a path.
func (j *lineJudge) printsCachePath(s *syntax.Stmt) bool {
	if s.Negated || s.Background || slices.ContainsFunc(s.Redirs, func(r *syntax.Redirect) bool { return r.N == nil || r.N.Value != "2" }) {
		return false
	}
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd: // one of them
		last, ok := c.Y.Cmd.(*syntax.CallExpr)
		if !ok || c.Op != syntax.Pipe || len(c.Y.Redirs) > 0 {
			return false
		}
		var line strings.Builder
		_ = syntax.NewPrinter().Print(&line, last)
		return slices.Contains([]string{"head -1", "head -n1", "head -n 1", "tail -1", "tail -n1", "tail -n 1"}, line.String()) && j.printsCachePath(c.X)
	case *syntax.CallExpr:
		words := make([]string, 0, len(c.Args))
		for _, a := range c.Args {
			w := j.evaluateWord(a)
			if w.Dynamic || w.Glob || len(c.Assigns) > 0 {
				return false
			}
			words = append(words, w.Text)
		}
		return printsToolchainPath(words)
	}
	return false
}

// printsToolchainPath reports whether a command prints the path of a dependency or a toolchain.
func printsToolchainPath(words []string) bool {
	if len(words) < 2 {
		return false
	}
	line := strings.Join(words, " ")
	switch words[0] {
	case "which", "command", "type":
		return regexp.MustCompile(`^(which|command -v|type -p) [\w.+-]+$`).MatchString(line)
	case "dirname":
		return len(words) == 2 && strings.HasPrefix(words[1], dependency)
	}
	return stack.IsLocateCommand(words)
}

// locateFromTmpOrCache returns the kind of a relative path after a cd to the private /tmp or
// to a cache. If the cd failed, the path is in the tree. So in /tmp it is judged as one of
// the tree, and in a cache it may only be read.
func (j *lineJudge) locateFromTmpOrCache(p string) (pathkind.Kind, string) {
	clean := path.Clean(p)
	switch {
	case clean == ".." || strings.HasPrefix(clean, "../") || strings.Contains("/"+p+"/", "/../"):
		return pathkind.Outside, p
	case j.near == pathkind.Tmp:
		return pathkind.Tree, clean
	default:
		return pathkind.Cache, clean
	}
}

// cachePathInHome returns the path of a cache for a path in a home directory, if the cache is mounted
// elsewhere, or "".
func (j *lineJudge) cachePathInHome(p string) string {
	for _, dir := range j.rules.Caches {
		for _, known := range stack.CommandsOf().Caches {
			if rest, ok := strings.CutPrefix(strings.TrimPrefix(p, "~"), "/"+known); ok && strings.HasSuffix(dir, "/"+known) && (rest == "" || rest[0] == '/') {
				return dir + rest
			}
		}
	}
	return ""
}
