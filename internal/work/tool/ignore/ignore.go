// Package ignore walks a tree as git sees it: without .git, without what the
// tree's own .gitignore files leave out, and without following links.
package ignore

import (
	"bufio"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/bmatcuk/doublestar/v4"
)

// rule is one line of a .gitignore.
type rule struct {
	base    string // directory that it stands in, "" for the root
	pattern string
	dirs    bool // directories only
	keep    bool // "!": what it matches is not ignored after all
}

// load returns the rules of a directory's .gitignore. A pipe or a device of
// that name is not read.
func load(root *os.Root, dir string) []rule {
	f, err := root.OpenFile(path.Join(dir, ".gitignore"), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	base := ""
	if dir != "." {
		base = dir
	}
	return parse(base, io.LimitReader(f, 1<<20))
}

func parse(base string, r io.Reader) []rule {
	var rules []rule
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		p := strings.TrimSuffix(lines.Text(), "\r")
		if !strings.HasSuffix(p, `\ `) {
			p = strings.TrimRight(p, " ")
		}
		if p == "" || p[0] == '#' {
			continue
		}
		ru := rule{base: base}
		p, ru.keep = strings.CutPrefix(p, "!")
		p, ru.dirs = strings.CutSuffix(p, "/")
		anchored := strings.Contains(p, "/")
		p = strings.TrimPrefix(p, "/")
		if p == "" {
			continue
		}
		if !anchored {
			p = "**/" + p
		}
		ru.pattern = strings.NewReplacer("{", `\{`, "}", `\}`, "[!", "[^").Replace(p) // git knows no alternatives
		if strings.HasSuffix(ru.pattern, "/**") {
			ru.pattern += "/*" // what is in it, but not itself
		}
		if doublestar.ValidatePattern(ru.pattern) {
			rules = append(rules, ru)
		}
	}
	return rules
}

// matches reports whether the rule is about a path.
func (r rule) matches(name string, dir bool) bool {
	if r.dirs && !dir {
		return false
	}
	if r.base != "" {
		rest, ok := strings.CutPrefix(name, r.base+"/")
		if !ok {
			return false
		}
		name = rest
	}
	ok, _ := doublestar.Match(r.pattern, name)
	return ok
}

func ignored(rules []rule, name string, dir bool) bool {
	for _, r := range slices.Backward(rules) {
		if r.matches(name, dir) {
			return !r.keep
		}
	}
	return false
}

// Walk calls visit for what is below a directory and not ignored, in the
// order of names, and stops when visit says false.
func Walk(root *os.Root, dir string, visit func(name string, d fs.DirEntry) bool) error {
	var rules []rule
	for at := "."; ; { // the rules above dir count too
		rules = append(rules, load(root, at)...)
		rest := strings.TrimPrefix(strings.TrimPrefix(dir, at), "/")
		if at == "." {
			rest = strings.TrimPrefix(dir, ".")
		}
		if rest == "" {
			break
		}
		next, _, _ := strings.Cut(rest, "/")
		at = path.Join(at, next)
	}
	_, err := walk(root, dir, rules, visit)
	return err
}

func walk(root *os.Root, dir string, rules []rule, visit func(string, fs.DirEntry) bool) (more bool, err error) {
	d, err := root.Open(dir)
	if err != nil {
		return false, err
	}
	entries, err := d.ReadDir(-1)
	_ = d.Close()
	if err != nil {
		return false, err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, entry := range entries {
		name := path.Join(dir, entry.Name())
		if entry.Name() == ".git" || ignored(rules, name, entry.IsDir()) {
			continue
		}
		if !visit(name, entry) {
			return false, nil
		}
		if !entry.IsDir() {
			continue
		}
		below := append(slices.Clip(rules), load(root, name)...)
		if more, err := walk(root, name, below, visit); err != nil || !more {
			return false, err
		}
	}
	return true, nil
}
