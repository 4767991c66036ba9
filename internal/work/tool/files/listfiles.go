package files

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

const maxListed = 500

// List shows the files below a directory that match a glob, or without one also the
// directories at a depth.
func (f TreeSearcher) List(ctx context.Context, dir, glob string, depth int) (string, error) {
	if err := checkGlob(glob); err != nil {
		return "", err
	}
	var b strings.Builder
	listed, more := 0, 0
	err := f.Tree.Hidden.WalkUnignored(f.Tree.Root, dir, func(name string, d fs.DirEntry) bool {
		level := strings.Count(pathBelow(dir, name), "/") + 1
		shown := !d.IsDir() && matchesGlob(glob, dir, name) || d.IsDir() && depth > 0 && level == depth && glob == ""
		if depth > 0 && level > depth || !shown {
			return ctx.Err() == nil
		}
		if listed == maxListed || b.Len() > MaxAnswer-500 {
			more++
			return ctx.Err() == nil && more < 100_000
		}
		listed++
		b.WriteString(f.Tree.displayName(name))
		if d.IsDir() {
			b.WriteByte('/')
		} else if f.Tree.Hidden.NameReason(name) != "" {
			b.WriteString(" [hidden from agents]")
		}
		b.WriteByte('\n')
		return ctx.Err() == nil
	})
	if err != nil {
		return "", f.Tree.ExplainOpenError(dir, err)
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if listed == 0 {
		return "[no files]", nil
	}
	if more > 0 {
		fmt.Fprintf(&b, "[%d more; give a deeper path, a glob or a depth]\n", more)
	}
	return b.String(), nil
}

func pathBelow(dir, name string) string {
	if dir == "." {
		return name
	}
	return strings.TrimPrefix(name, dir+"/")
}

func checkGlob(glob string) error {
	if !doublestar.ValidatePattern(glob) {
		return fmt.Errorf("%q is not a glob", glob)
	}
	plain := strings.ReplaceAll(glob, `\`, "")
	parts := strings.FieldsFunc(plain, func(r rune) bool { return strings.ContainsRune("/{},", r) })
	switch {
	case strings.HasPrefix(plain, "/"), strings.HasPrefix(plain, "~"), strings.HasPrefix(plain, "{") && (strings.Contains(plain, "{/") || strings.Contains(plain, ",/")):
		return &FileRefusedError{Rule: "path.outside", Text: fmt.Sprintf("the glob %q is about paths outside the worktree; give one relative to its root", glob)}
	case slices.Contains(parts, ".."):
		return &FileRefusedError{Rule: "path.outside", Text: fmt.Sprintf("the glob %q leaves its directory, and nothing outside the worktree is listed; give one without ..", glob)}
	}
	return nil
}

// matchesGlob reports whether a file matches a glob: one without a slash matches the name,
// another the path from dir or from the root.
func matchesGlob(glob, dir, name string) bool {
	if glob == "" {
		return true
	}
	candidates := []string{pathBelow(dir, name), name}
	if !strings.Contains(glob, "/") {
		candidates = []string{path.Base(name)}
	}
	for _, c := range candidates {
		if ok, _ := doublestar.Match(glob, c); ok {
			return true
		}
	}
	return false
}
