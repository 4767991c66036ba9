package monorepo

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus/pattern"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// entry is a file or a link of a tree.
type entry struct {
	name string
	link bool
	size int64
}

// list lists a tree, without files that a checkout may contain from other tools, and records
// which paths exist.
func (r *Repo) list(tree fs.FS) []entry {
	var all []entry
	_ = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error { // unreadable files are skipped
		switch {
		case err != nil:
			return fs.SkipDir
		case d.IsDir() && slices.Contains([]string{".git", "node_modules", ".venv", "venv", "__pycache__", "site-packages"}, d.Name()):
			return fs.SkipDir
		case len(all) > mostFiles:
			return fs.SkipAll
		}
		r.have[name] = true
		if d.IsDir() || !d.Type().IsRegular() && d.Type()&fs.ModeSymlink == 0 {
			return nil
		}
		r.have[strings.TrimSuffix(name, path.Ext(name))] = true
		e := entry{name: name, link: d.Type()&fs.ModeSymlink != 0}
		if info, err := d.Info(); err == nil {
			e.size = info.Size()
		}
		all = append(all, e)
		return nil
	})
	return all
}

// reader finds the packages to which the files of each package may refer.
type reader struct {
	*Repo
	tree   fs.FS
	needs  []map[int]bool
	common map[int]bool // packages that scripts may import by any name
}

func (w *reader) read(files []entry) {
	var total int64
	for _, f := range files {
		total += f.size
	}
	for i := range w.Packages {
		w.needs[i] = map[int]bool{}
		switch {
		case len(files) > mostFiles || total > mostBytes:
			w.wide(i, "the repository is too large to be read")
		default:
			if kinds := w.unread(i); len(kinds) > 0 {
				w.wide(i, fmt.Sprintf("how packages of %s need each other is not known", strings.Join(kinds, " and ")))
			}
		}
	}
	w.aliases(files)
	for _, f := range files {
		i, ok := w.of(f.name)
		switch {
		case !ok || w.Packages[i].Wide != "" && total > mostBytes:
		case f.link:
			w.link(i, f.name)
		case f.size > mostOne:
			if w.source(f.name) {
				w.wide(i, f.name+" is too large to be read")
			}
		case !stack.IsProse(f.name) && !w.written(f.name): // a lock file repeats the content of manifests
			if data, err := fs.ReadFile(w.tree, f.name); err == nil && !slices.Contains(data, 0) {
				w.file(i, f.name, string(data))
			}
		}
	}
	w.share()
	for i := range w.Packages { // a package within another one has its settings, and is a part of it
		if outer, ok := w.of(path.Dir(w.Packages[i].Dir)); ok && outer != i && w.Packages[outer].Dir != "." {
			w.needs[i][outer], w.needs[outer][i] = true, true
		}
	}
}

// unread returns the kinds of a package whose dependencies cannot be read.
func (w *reader) unread(i int) (kinds []string) {
	for _, k := range w.kinds {
		if k.names.Used == nil && slices.Contains(w.Packages[i].Kinds, k.Name) {
			kinds = append(kinds, k.Name)
		}
	}
	return kinds
}

func (w *reader) wide(i int, why string) {
	if w.Packages[i].Wide == "" {
		w.Packages[i].Wide = why
	}
}

// source reports whether a file is code of some language.
func (w *reader) source(name string) bool {
	return slices.ContainsFunc(w.kinds, func(k kind) bool {
		return k.Sources != nil && slices.ContainsFunc(k.Sources(), func(s stack.Sources) bool { return s.Mine(name) })
	})
}

// link follows a link that leads out of its package.
func (w *reader) link(i int, name string) {
	to, err := fs.ReadLink(w.tree, name)
	if err != nil || path.IsAbs(to) {
		return // out of the repository, where nothing changes
	}
	w.reach(i, path.Join(path.Dir(name), to), name)
}

// file finds the packages to which a file may refer, by their names and by paths.
func (w *reader) file(i int, name, text string) {
	for n, k := range w.kinds {
		if k.names.Used == nil || !slices.Contains(w.Packages[i].Kinds, k.Name) {
			continue
		}
		used, all := k.names.Used(name, text)
		if all != "" {
			w.wide(i, name+" "+all)
		}
		for _, u := range used {
			w.needNamedPackages(i, n, u)
		}
	}
	if w.Packages[i].Dir == "." && !w.source(name) {
		return // settings of the root name many directories, and need none
	}
	w.paths(i, name, text)
	w.mentions(i, name, text)
}

// needNamedPackages records the packages to which a name refers: the longest package name that
// it begins with. An incomplete name, such as @org/ with the rest computed, refers to all that
// begin with it.
func (w *reader) needNamedPackages(i, kind int, name string) {
	name, _, _ = strings.Cut(name, "$")
	between := w.kinds[kind].names.Between
	if between != "" && strings.HasSuffix(name, between) && strings.HasPrefix(name, "@") {
		for own, of := range w.names[kind] {
			if strings.HasPrefix(own, name) {
				w.need(i, of)
			}
		}
		return
	}
	for name != "" {
		if of, ok := w.names[kind][name]; ok {
			w.need(i, of)
			return
		}
		at := -1
		if between != "" {
			at = strings.LastIndex(name, between)
		}
		name = name[:max(at, 0)]
	}
}

func (w *reader) need(i int, of []int) {
	for _, to := range of {
		w.needs[i][to] = true
	}
}

var (
	upward   = pattern.Lazy(`[\w@.\-+/\\]*\.\.(?:[/\\][\w@.\-+]*)*`)
	joined   = pattern.Lazy("['\"`]\\.\\.['\"`](?:\\s*,\\s*['\"`][^'\"`\\n]*['\"`])*")
	parents  = pattern.Lazy(`(?:\.parent\b){2,}`)
	nth      = pattern.Lazy(`\.parents\[(\d+)\]`)
	dirnames = pattern.Lazy(`(?:dirname\(\s*){2,}`)
	changes  = pattern.Lazy(`\bcd\s+["']?(\.\.)(?:["'\s;&|)]|$)`)
	slashes  = pattern.Lazy(`[\w@.\-+]+(?:/[\w@.\-+]+)+`)
)

// paths follows paths that lead out of a file's directory.
func (w *reader) paths(i int, name, text string) {
	if strings.Contains(text, "show-toplevel") {
		w.wide(i, name+" asks git for the root")
	}
	if strings.Contains(text, "..") {
		for _, token := range upward().FindAllString(text, -1) {
			w.up(i, name, strings.ReplaceAll(token, `\`, "/"))
		}
		for _, token := range joined().FindAllString(text, -1) {
			w.up(i, name, strings.NewReplacer("'", "", `"`, "", "`", "", ",", "/", " ", "").Replace(token)+"/")
		}
	}
	if changes().MatchString(text) {
		w.up(i, name, "../")
	}
	for _, m := range parents().FindAllString(text, -1) {
		w.steps(i, name, strings.Count(m, "parent")-1)
	}
	for _, m := range nth().FindAllStringSubmatch(text, -1) {
		if n, err := strconv.Atoi(m[1]); err == nil {
			w.steps(i, name, n)
		}
	}
	for _, m := range dirnames().FindAllString(text, -1) {
		w.steps(i, name, strings.Count(m, "dirname")-1)
	}
}

// steps records that a file refers to a directory some levels above its own.
func (w *reader) steps(i int, name string, n int) {
	w.reach(i, path.Join(path.Dir(name), strings.Repeat("../", min(n, 100))), name)
}

// up follows a path with .. in it, relative to the file, or, if nothing exists there, to its
// package: commands start there.
func (w *reader) up(i int, name, token string) {
	parts := strings.Split(token, "/")
	first := slices.Index(parts, "..")
	if first < 0 || len(parts) == 1 { // an ellipsis, or a range of numbers
		return
	}
	if strings.HasPrefix(token, "/") { // after a variable
		parts = parts[first:]
	}
	at := path.Join(path.Dir(name), path.Join(parts...))
	if at != "." && !strings.HasPrefix(at, "..") && w.there(at) {
		w.reach(i, at, name)
		return
	}
	w.reach(i, at, name)
	w.reach(i, path.Join(w.Packages[i].Dir, path.Join(parts...)), name)
}

// there reports whether a path, or a path of code with another ending, exists.
func (w *reader) there(at string) bool {
	return w.have[at] || w.have[strings.TrimSuffix(at, path.Ext(at))]
}

// reach records that a file of a package names a path.
func (w *reader) reach(i int, at, by string) {
	if strings.HasPrefix(at, "..") {
		return // out of the repository
	}
	p := &w.Packages[i]
	own := Within(p.Dir, at)
	if to, ok := w.of(at); ok && to != i && w.Packages[to].Dir != "." {
		w.needs[i][to] = true
		return
	}
	if own && p.Dir != "." || !w.there(at) {
		return
	}
	for _, other := range w.Packages {
		if other.Dir != p.Dir && other.Dir != "." && Within(at, other.Dir) && p.Dir != "." {
			w.wide(i, by+" names the directory "+at)
			return
		}
	}
	p.reaches = append(p.reaches, at)
}

// mentions records other packages whose directory a file names relative to the root.
func (w *reader) mentions(i int, name, text string) {
	if !strings.Contains(text, "/") {
		return
	}
	own := w.Packages[i].Dir
	for _, token := range slashes().FindAllString(text, -1) {
		token = strings.TrimPrefix(token, "./")
		at, ok := w.of(token)
		if !ok || at == i || w.Packages[at].Dir == "." {
			continue
		}
		if own != "." && w.there(path.Join(own, token)) || path.Dir(name) != "." && w.there(path.Join(path.Dir(name), token)) {
			continue // it belongs to the package itself
		}
		if strings.Contains(w.Packages[at].Dir, "/") || w.there(path.Clean(token)) {
			w.needs[i][at] = true
		}
	}
}
