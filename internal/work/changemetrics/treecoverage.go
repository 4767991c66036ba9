package changemetrics

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TreeCoverage is a coverage report whose files are mapped to the files of a tree.
type TreeCoverage struct {
	files map[string]*FileCoverage
	ends  map[string]bool // extensions of the files that it covers
}

// PlaceCoverage maps the files of a report to files of a tree. Modules are those of Go, by their
// directories below the root; "." is the root.
//
// Tools write paths from the root, from the directory of a package or from the root of the
// machine. For the last two, the prefix that most files agree on is used, so that a file that
// git does not track is not mistaken for one with the same name.
func PlaceCoverage(r CoverageReport, tree []string, modules map[string]string) TreeCoverage {
	there := make(map[string]bool, len(tree))
	for _, p := range tree {
		there[p] = true
	}
	parts, owner := filesByModule(r)
	rest := modulePrefixes(parts, tree, there, owner)
	at := TreeCoverage{files: map[string]*FileCoverage{}, ends: map[string]bool{}}
	for _, f := range r.Files {
		for _, name := range f.Names {
			p := findFile(name, there, modules, rest[f.Of])
			if p == "" || f.Of.Dir != "" && owner(p) != f.Of.Dir {
				continue
			}
			at.ends[path.Ext(p)] = true
			at.addFile(p, f)
			break
		}
	}
	return at
}

// LineHits returns the coverage of the lines of a file, nil if there is none.
func (p TreeCoverage) LineHits(file string) map[int]int {
	if f := p.files[file]; f != nil {
		return f.Lines
	}
	return nil
}

// SumCoverage adds up the files that keep selects.
func (p TreeCoverage) SumCoverage(keep func(file string) bool) (all CoverageSums) {
	for name, f := range p.files {
		if !keep(name) {
			continue
		}
		lines := nexus.CoverageShare{Total: len(f.Lines)}
		for _, hits := range f.Lines {
			if hits > 0 {
				lines.Covered++
			}
		}
		addCoverageSums(&all.Lines, lines, nexus.CoverageShare{})
		addCoverageSums(&all.Branches, f.Branches, nexus.CoverageShare{})
		addCoverageSums(&all.Functions, f.Functions, nexus.CoverageShare{})
		addCoverageSums(&all.Statements, f.Statements, nexus.CoverageShare{})
	}
	return all
}

// addReport adds the files of another report of the same tree.
func (p TreeCoverage) addReport(o TreeCoverage) {
	for name, f := range o.files {
		p.addFile(name, f)
	}
	for end := range o.ends {
		p.ends[end] = true
	}
}

// addFile adds the coverage of a file. If several reports cover it, the branches are those of the
// first.
func (p TreeCoverage) addFile(name string, f *FileCoverage) {
	had := p.files[name]
	if had == nil {
		p.files[name] = f
		return
	}
	for line, hits := range f.Lines {
		had.Lines[line] = min(had.Lines[line]+hits, maxCount)
	}
}

// CoversFileKind reports whether the report covers files of that kind at all.
func (p TreeCoverage) CoversFileKind(file string) bool { return p.ends[path.Ext(file)] }

// findFile returns the path below the root for a name in a report, or "".
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

// filesByModule groups the files of a report by its parts, and returns a function for the directory
// of the module that contains a file of the tree.
func filesByModule(r CoverageReport) (parts map[CoverageReportModule][]*FileCoverage, owner func(file string) string) {
	parts = map[CoverageReportModule][]*FileCoverage{}
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

// modulePrefixes returns, for each part of a report, the prefix of tree names in the part's absolute
// names, and the prefix of the part's names in those of the tree: for each, the one that most
// files agree on. A module whose directory is known may have its files in several.
func modulePrefixes(parts map[CoverageReportModule][]*FileCoverage, tree []string, there map[string]bool, owner func(string) string) map[CoverageReportModule][]string {
	byBase := map[string][]string{}
	for _, p := range tree {
		byBase[path.Base(p)] = append(byBase[path.Base(p)], p)
	}
	all := map[CoverageReportModule][]string{}
	for of, files := range parts {
		above, below := countPrefixes(files, byBase, there, func(p string) bool { return of.Dir == "" || owner(p) == of.Dir })
		first := []string{mostFrequentEntry(above, "")}
		for len(below) > 0 && (of.Dir != "" || len(first) == 1) {
			s := mostFrequentEntry(below, of.Name)
			first = append(first, s)
			delete(below, s)
		}
		all[of] = slices.DeleteFunc(first, func(s string) bool { return s == "" })
	}
	return all
}

// countPrefixes counts the prefixes of tree names in absolute names of files, and the prefixes
// of file names in possible names of the tree.
func countPrefixes(files []*FileCoverage, byBase map[string][]string, there map[string]bool, theirs func(p string) bool) (above, below map[string]int) {
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

// mostFrequentEntry returns the most frequent entry; of several, the one with a directory of that
// name, and of these the shortest.
func mostFrequentEntry(counted map[string]int, name string) string {
	best := ""
	named := func(s string) int { return strings.Count("/"+s, "/"+name+"/") }
	for s, n := range counted {
		if best == "" || cmp.Or(cmp.Compare(n, counted[best]), cmp.Compare(named(s), named(best)), cmp.Compare(len(best), len(s)), strings.Compare(best, s)) > 0 {
			best = s
		}
	}
	return best
}
