package monorepo

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// treeEntry is a file or a link of a tree.
type treeEntry struct {
	name string
	link bool
	size int64
}

// listFiles lists a tree, without files that a checkout may contain from other tools, and records
// which paths exist.
func (r *PackageGraph) listFiles(tree fs.FS) []treeEntry {
	var all []treeEntry
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
		e := treeEntry{name: name, link: d.Type()&fs.ModeSymlink != 0}
		if info, err := d.Info(); err == nil {
			e.size = info.Size()
		}
		all = append(all, e)
		return nil
	})
	return all
}

// packageDependencyFinder finds the packages to which the files of each package may refer.
type packageDependencyFinder struct {
	*PackageGraph
	tree   fs.FS
	needs  []map[int]bool
	common map[int]bool // packages that scripts may import by any name
}

func (w *packageDependencyFinder) readFiles(files []treeEntry) {
	var total int64
	for _, f := range files {
		total += f.size
	}
	for i := range w.Packages {
		w.needs[i] = map[int]bool{}
		switch {
		case len(files) > mostFiles || total > mostBytes:
			w.markDependsOnAll(i, "the repository is too large to be read")
		default:
			if kinds := w.unreadKinds(i); len(kinds) > 0 {
				w.markDependsOnAll(i, fmt.Sprintf("how packages of %s need each other is not known", strings.Join(kinds, " and ")))
			}
		}
	}
	w.readAliases(files)
	for _, f := range files {
		i, ok := w.packageIndex(f.name)
		switch {
		case !ok || w.Packages[i].Wide != "" && total > mostBytes:
		case f.link:
			w.followLink(i, f.name)
		case f.size > mostOne:
			if w.isSource(f.name) {
				w.markDependsOnAll(i, f.name+" is too large to be read")
			}
		case !stack.IsProse(f.name) && !w.isToolWritten(f.name): // a lock file repeats the content of manifests
			if data, err := fs.ReadFile(w.tree, f.name); err == nil && !slices.Contains(data, 0) {
				w.readFile(i, f.name, string(data))
			}
		}
	}
	w.shareUnknownNames()
	for i := range w.Packages { // a package within another one has its settings, and is a part of it
		if outer, ok := w.packageIndex(path.Dir(w.Packages[i].Dir)); ok && outer != i && w.Packages[outer].Dir != "." {
			w.needs[i][outer], w.needs[outer][i] = true, true
		}
	}
}

// unreadKinds returns the kinds of a package whose dependencies cannot be read.
func (w *packageDependencyFinder) unreadKinds(i int) (kinds []string) {
	for _, k := range w.kinds {
		if k.names.Used == nil && slices.Contains(w.Packages[i].Kinds, k.Name) {
			kinds = append(kinds, k.Name)
		}
	}
	return kinds
}

func (w *packageDependencyFinder) markDependsOnAll(i int, why string) {
	if w.Packages[i].Wide == "" {
		w.Packages[i].Wide = why
	}
}

// isSource reports whether a file is code of some language.
func (w *packageDependencyFinder) isSource(name string) bool {
	return slices.ContainsFunc(w.kinds, func(k stackWithNaming) bool {
		return k.Sources != nil && slices.ContainsFunc(k.Sources(), func(s stack.SourceDependencyRules) bool { return s.Mine(name) })
	})
}

// followLink follows a link that leads out of its package.
func (w *packageDependencyFinder) followLink(i int, name string) {
	to, err := fs.ReadLink(w.tree, name)
	if err != nil || path.IsAbs(to) {
		return // out of the repository, where nothing changes
	}
	w.needPackageOfPath(i, path.Join(path.Dir(name), to), name)
}

// readFile finds the packages to which a file may refer, by their names and by paths.
func (w *packageDependencyFinder) readFile(i int, name, text string) {
	for n, k := range w.kinds {
		if k.names.Used == nil || !slices.Contains(w.Packages[i].Kinds, k.Name) {
			continue
		}
		used, all := k.names.Used(name, text)
		if all != "" {
			w.markDependsOnAll(i, name+" "+all)
		}
		for _, u := range used {
			w.recordNamedPackages(i, n, u)
		}
	}
	if w.Packages[i].Dir == "." && !w.isSource(name) {
		return // settings of the root name many directories, and need none
	}
	w.readPaths(i, name, text)
	w.needMentionedDirectories(i, name, text)
}

// recordNamedPackages records the packages to which a name refers: the longest package name that
// it begins with. An incomplete name, such as @org/ with the rest computed, refers to all that
// begin with it.
func (w *packageDependencyFinder) recordNamedPackages(i, kind int, name string) {
	name, _, _ = strings.Cut(name, "$")
	between := w.kinds[kind].names.Between
	if between != "" && strings.HasSuffix(name, between) && strings.HasPrefix(name, "@") {
		for own, of := range w.names[kind] {
			if strings.HasPrefix(own, name) {
				w.addNeeds(i, of)
			}
		}
		return
	}
	for name != "" {
		if of, ok := w.names[kind][name]; ok {
			w.addNeeds(i, of)
			return
		}
		at := -1
		if between != "" {
			at = strings.LastIndex(name, between)
		}
		name = name[:max(at, 0)]
	}
}

func (w *packageDependencyFinder) addNeeds(i int, of []int) {
	for _, to := range of {
		w.needs[i][to] = true
	}
}

var (
	upward   = regexp.MustCompile(`[\w@.\-+/\\]*\.\.(?:[/\\][\w@.\-+]*)*`)
	joined   = regexp.MustCompile("['\"`]\\.\\.['\"`](?:\\s*,\\s*['\"`][^'\"`\\n]*['\"`])*")
	parents  = regexp.MustCompile(`(?:\.parent\b){2,}`)
	nth      = regexp.MustCompile(`\.parents\[(\d+)\]`)
	dirnames = regexp.MustCompile(`(?:dirname\(\s*){2,}`)
	changes  = regexp.MustCompile(`\bcd\s+["']?(\.\.)(?:["'\s;&|)]|$)`)
	slashes  = regexp.MustCompile(`[\w@.\-+]+(?:/[\w@.\-+]+)+`)
)

// readPaths follows paths that lead out of a file's directory.
func (w *packageDependencyFinder) readPaths(i int, name, text string) {
	if strings.Contains(text, "show-toplevel") {
		w.markDependsOnAll(i, name+" asks git for the root")
	}
	if strings.Contains(text, "..") {
		for _, token := range upward.FindAllString(text, -1) {
			w.followParentPath(i, name, strings.ReplaceAll(token, `\`, "/"))
		}
		for _, token := range joined.FindAllString(text, -1) {
			w.followParentPath(i, name, strings.NewReplacer("'", "", `"`, "", "`", "", ",", "/", " ", "").Replace(token)+"/")
		}
	}
	if changes.MatchString(text) {
		w.followParentPath(i, name, "../")
	}
	for _, m := range parents.FindAllString(text, -1) {
		w.needParentDirectory(i, name, strings.Count(m, "parent")-1)
	}
	for _, m := range nth.FindAllStringSubmatch(text, -1) {
		if n, err := strconv.Atoi(m[1]); err == nil {
			w.needParentDirectory(i, name, n)
		}
	}
	for _, m := range dirnames.FindAllString(text, -1) {
		w.needParentDirectory(i, name, strings.Count(m, "dirname")-1)
	}
}

// needParentDirectory records that a file refers to a directory some levels above its own.
func (w *packageDependencyFinder) needParentDirectory(i int, name string, n int) {
	w.needPackageOfPath(i, path.Join(path.Dir(name), strings.Repeat("../", min(n, 100))), name)
}

// followParentPath follows a path with .. in it, relative to the file, or, if nothing exists there, to its
// package: commands start there.
func (w *packageDependencyFinder) followParentPath(i int, name, token string) {
	parts := strings.Split(token, "/")
	first := slices.Index(parts, "..")
	if first < 0 || len(parts) == 1 { // an ellipsis, or a range of numbers
		return
	}
	if strings.HasPrefix(token, "/") { // after a variable
		parts = parts[first:]
	}
	at := path.Join(path.Dir(name), path.Join(parts...))
	if at != "." && !strings.HasPrefix(at, "..") && w.pathExists(at) {
		w.needPackageOfPath(i, at, name)
		return
	}
	w.needPackageOfPath(i, at, name)
	w.needPackageOfPath(i, path.Join(w.Packages[i].Dir, path.Join(parts...)), name)
}

// pathExists reports whether a path, or a path of code with another ending, exists.
func (w *packageDependencyFinder) pathExists(at string) bool {
	return w.have[at] || w.have[strings.TrimSuffix(at, path.Ext(at))]
}

// needPackageOfPath records that a file of a package names a path.
func (w *packageDependencyFinder) needPackageOfPath(i int, at, by string) {
	if strings.HasPrefix(at, "..") {
		return // out of the repository
	}
	p := &w.Packages[i]
	own := IsWithin(p.Dir, at)
	if to, ok := w.packageIndex(at); ok && to != i && w.Packages[to].Dir != "." {
		w.needs[i][to] = true
		return
	}
	if own && p.Dir != "." || !w.pathExists(at) {
		return
	}
	for _, other := range w.Packages {
		if other.Dir != p.Dir && other.Dir != "." && IsWithin(at, other.Dir) && p.Dir != "." {
			w.markDependsOnAll(i, by+" names the directory "+at)
			return
		}
	}
	p.reaches = append(p.reaches, at)
}

// needMentionedDirectories records other packages whose directory a file names relative to the root.
func (w *packageDependencyFinder) needMentionedDirectories(i int, name, text string) {
	if !strings.Contains(text, "/") {
		return
	}
	own := w.Packages[i].Dir
	for _, token := range slashes.FindAllString(text, -1) {
		token = strings.TrimPrefix(token, "./")
		at, ok := w.packageIndex(token)
		if !ok || at == i || w.Packages[at].Dir == "." {
			continue
		}
		if own != "." && w.pathExists(path.Join(own, token)) || path.Dir(name) != "." && w.pathExists(path.Join(path.Dir(name), token)) {
			continue // it belongs to the package itself
		}
		if strings.Contains(w.Packages[at].Dir, "/") || w.pathExists(path.Clean(token)) {
			w.needs[i][at] = true
		}
	}
}
