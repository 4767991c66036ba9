// Package ignore walks a tree as git sees it: without .git, without what the
// tree's own .gitignore files leave out, and without following links. What
// .nexusignore files leave out, in the same language, is not for agents at all.
package ignore

import (
	"bufio"
	"io"
	"io/fs"
	"iter"
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

// File is the name of the files that keep agents from what they name.
const File = ".nexusignore"

const own = File

// rules are those that hold in a directory. What one of the two lists leaves
// out, the other does not bring back.
type rules struct{ git, own []rule }

// with returns the rules with those that stand in a directory.
func (r rules) with(root *os.Root, dir string) rules {
	return rules{append(slices.Clip(r.git), load(root, dir, ".gitignore")...), append(slices.Clip(r.own), load(root, dir, own)...)}
}

func (r rules) skip(name string, dir bool) bool {
	return ignored(r.git, name, dir) || ignored(r.own, name, dir)
}

// load returns the rules of a directory's file. A pipe or a device of that
// name is not read.
func load(root *os.Root, dir, file string) []rule {
	f, err := root.OpenFile(path.Join(dir, file), os.O_RDONLY|syscall.O_NONBLOCK, 0)
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

// Hidden reports whether .nexusignore keeps agents from a path.
func Hidden(root *os.Root, name string) bool {
	all := load(root, ".", own)
	for at := range above(name) {
		if len(all) > 0 {
			info, err := root.Lstat(at)
			if ignored(all, at, at != name || err == nil && info.IsDir()) {
				return true
			}
		}
		if at != name {
			all = append(all, load(root, at, own)...)
		}
	}
	return false
}

// Walk calls visit for what is below a directory and not ignored, in the
// order of names, and stops when visit says false.
func Walk(root *os.Root, dir string, visit func(name string, d fs.DirEntry) bool) error {
	all := rules{}.with(root, ".")
	for at := range above(dir) {
		all = all.with(root, at)
	}
	_, err := walk(root, dir, all, visit)
	return err
}

// Each calls visit for all that is in a tree but .git, whatever git ignores,
// and says what .nexusignore keeps from agents. It goes on below a directory,
// and on at all, as visit says.
func Each(root *os.Root, visit func(name string, d fs.DirEntry, kept bool) (enter, more bool)) {
	each(root, ".", load(root, ".", own), visit)
}

func each(root *os.Root, dir string, r []rule, visit func(string, fs.DirEntry, bool) (bool, bool)) (more bool) {
	d, err := root.Open(dir)
	if err != nil {
		return true // what cannot be read is nothing to say about
	}
	entries, _ := d.ReadDir(-1)
	_ = d.Close()
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, entry := range entries {
		if entry.Name() == ".git" {
			continue
		}
		name := path.Join(dir, entry.Name())
		enter, more := visit(name, entry, ignored(r, name, entry.IsDir()))
		if !more {
			return false
		}
		if enter && entry.IsDir() {
			if !each(root, name, append(slices.Clip(r), load(root, name, own)...), visit) {
				return false
			}
		}
	}
	return true
}

// above gives the directories from below the root down to dir.
func above(dir string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := 0; i < len(dir) && dir != "."; i++ {
			if dir[i] == '/' && !yield(dir[:i]) {
				return
			}
		}
		if dir != "." {
			yield(dir)
		}
	}
}

func walk(root *os.Root, dir string, r rules, visit func(string, fs.DirEntry) bool) (more bool, err error) {
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
		if entry.Name() == ".git" || r.skip(name, entry.IsDir()) {
			continue
		}
		if !visit(name, entry) {
			return false, nil
		}
		if !entry.IsDir() {
			continue
		}
		if more, err := walk(root, name, r.with(root, name), visit); err != nil || !more {
			return false, err
		}
	}
	return true, nil
}
