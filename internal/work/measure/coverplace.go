package measure

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// PlacedCover is a report whose files are known to be files of a tree.
type PlacedCover struct {
	files map[string]*CoveredFile
	ends  map[string]bool // endings of the files that it tells of
}

// PlaceCover finds out which files of a tree a report tells of. Modules are those
// of Go, by their directories below the root; "." is the root.
//
// Tools write paths from the root, from the directory of a package or from
// that of the machine. The last two are taken for what most files agree on, so
// that a file that git does not have is not taken for one with the same name.
func PlaceCover(r CoverReport, tree []string, modules map[string]string) PlacedCover {
	there := make(map[string]bool, len(tree))
	for _, p := range tree {
		there[p] = true
	}
	parts, owner := parted(r)
	rest := prefixes(parts, tree, there, owner)
	at := PlacedCover{files: map[string]*CoveredFile{}, ends: map[string]bool{}}
	for _, f := range r.Files {
		for _, name := range f.Names {
			p := findFile(name, there, modules, rest[f.Of])
			if p == "" || f.Of.Dir != "" && owner(p) != f.Of.Dir {
				continue
			}
			at.ends[path.Ext(p)] = true
			at.put(p, f)
			break
		}
	}
	return at
}

// Lines returns what is said about the lines of a file, nil where nothing is.
func (p PlacedCover) Lines(file string) map[int]int {
	if f := p.files[file]; f != nil {
		return f.Lines
	}
	return nil
}

// Sum sums up the files that keep keeps.
func (p PlacedCover) Sum(keep func(file string) bool) (all CoverSums) {
	for name, f := range p.files {
		if !keep(name) {
			continue
		}
		lines := nexus.Share{Total: len(f.Lines)}
		for _, hits := range f.Lines {
			if hits > 0 {
				lines.Covered++
			}
		}
		addSums(&all.Lines, lines, nexus.Share{})
		addSums(&all.Branches, f.Branches, nexus.Share{})
		addSums(&all.Functions, f.Functions, nexus.Share{})
		addSums(&all.Statements, f.Statements, nexus.Share{})
	}
	return all
}

// join adds the files of another report of the same tree.
func (p PlacedCover) join(o PlacedCover) {
	for name, f := range o.files {
		p.put(name, f)
	}
	for end := range o.ends {
		p.ends[end] = true
	}
}

// put adds what is said about a file. Of one that several reports tell of, the
// branches are those of the first.
func (p PlacedCover) put(name string, f *CoveredFile) {
	had := p.files[name]
	if had == nil {
		p.files[name] = f
		return
	}
	for line, hits := range f.Lines {
		had.Lines[line] = min(had.Lines[line]+hits, maxCount)
	}
}

// HasKind reports whether the report tells of files of that kind at all.
func (p PlacedCover) HasKind(file string) bool { return p.ends[path.Ext(file)] }

// findFile returns the path below the root of a name in a report, empty for none.
func findFile(name string, there map[string]bool, modules map[string]string, rest []string) string {
	if there[name] {
		return name
	}
	longest, at := "", ""
	for module, dir := range modules {
		if strings.HasPrefix(name, module+"/") && len(module) > len(longest) {
			longest, at = module, dir
		}
	}
	if longest != "" {
		if p := path.Join(at, name[len(longest)+1:]); there[p] {
			return p
		}
		return ""
	}
	for _, prefix := range rest {
		if below, ok := strings.CutPrefix(name, prefix); ok && there[below] {
			return below
		}
		if !path.IsAbs(name) && strings.HasSuffix(prefix, "/") && !path.IsAbs(prefix) && there[prefix+name] {
			return prefix + name
		}
	}
	return ""
}

// parted sorts the files of a report by its parts, and returns what finds the
// directory of the module that a file of the tree belongs to.
func parted(r CoverReport) (parts map[CoverPart][]*CoveredFile, owner func(file string) string) {
	parts = map[CoverPart][]*CoveredFile{}
	dirs := map[string]bool{}
	for _, f := range r.Files {
		parts[f.Of] = append(parts[f.Of], f)
		dirs[f.Of.Dir] = true
	}
	return parts, func(file string) string {
		for file != "." && file != "/" {
			if file = path.Dir(file); dirs[file] {
				return file
			}
		}
		return ""
	}
}

// prefixes returns for each part of a report what may be before names of the
// tree in absolute names of the part, and before names of the part in those of
// the tree: the one of each that most files agree on. A module whose directory
// is known may have its files in several.
func prefixes(parts map[CoverPart][]*CoveredFile, tree []string, there map[string]bool, owner func(string) string) map[CoverPart][]string {
	byBase := map[string][]string{}
	for _, p := range tree {
		byBase[path.Base(p)] = append(byBase[path.Base(p)], p)
	}
	all := map[CoverPart][]string{}
	for of, files := range parts {
		above, below := countAround(files, byBase, there, func(p string) bool { return of.Dir == "" || owner(p) == of.Dir })
		first := []string{mostCounted(above, "")}
		for len(below) > 0 && (of.Dir != "" || len(first) == 1) {
			s := mostCounted(below, of.Name)
			first = append(first, s)
			delete(below, s)
		}
		all[of] = slices.DeleteFunc(first, func(s string) bool { return s == "" })
	}
	return all
}

// countAround counts what is before names of the tree in absolute names of files,
// and before names of files in those of the tree that may be theirs.
func countAround(files []*CoveredFile, byBase map[string][]string, there map[string]bool, theirs func(p string) bool) (above, below map[string]int) {
	above, below = map[string]int{}, map[string]int{}
	for _, f := range files {
		for _, name := range f.Names {
			if there[name] {
				continue
			}
			for _, p := range byBase[path.Base(name)] {
				if rest, ok := strings.CutSuffix(name, "/"+p); ok && path.IsAbs(name) {
					above[rest+"/"]++
				} else if rest, ok := strings.CutSuffix(p, "/"+name); ok && theirs(p) {
					below[rest+"/"]++
				}
			}
		}
	}
	return above, below
}

// mostCounted returns what was counted most often, of several the one with a directory
// of that name, and of these the shortest.
func mostCounted(counted map[string]int, name string) string {
	best := ""
	named := func(s string) int { return strings.Count("/"+s, "/"+name+"/") }
	for s, n := range counted {
		if best == "" || cmp.Or(cmp.Compare(n, counted[best]), cmp.Compare(named(s), named(best)), cmp.Compare(len(best), len(s)), strings.Compare(best, s)) > 0 {
			best = s
		}
	}
	return best
}
