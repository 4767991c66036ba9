package monorepo

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// AffectedPackages is the set of packages that a change may break. The zero value is all of them.
type AffectedPackages struct {
	All     string         // why it may break any package; empty only if known
	Changed []string       // directories of the packages that it changes
	far     map[string]int // directories of the packages that it may break, with their distance in dependencies
	known   bool
	repo    *PackageGraph
}

// AffectedBy returns the packages that a change of some files may break. A file outside of all
// packages, a manifest and a lock file may break all.
func (r *PackageGraph) AffectedBy(changed []string) AffectedPackages {
	e := AffectedPackages{repo: r, far: map[string]int{}, known: true}
	if !r.HasNestedPackages() {
		e.All = "the repository is one package"
		return e
	}
	something := false
	for _, f := range changed {
		f = path.Clean(f)
		something = something || !stack.IsProse(f)
		if why := r.addChangedFile(&e, f); why != "" && e.All == "" {
			e.All = why
		}
	}
	e.markDependents(something)
	if len(e.far) == 0 && e.All == "" {
		e.All = "no package is known to be affected"
	}
	return e
}

// addChangedFile adds the packages that a changed file affects directly, or returns why that may be any.
func (r *PackageGraph) addChangedFile(e *AffectedPackages, f string) string {
	i, ok := r.packageIndex(f)
	if ok && r.Packages[i].Dir != "." {
		e.markChanged(r.Packages[i].Dir)
	}
	switch {
	case stack.IsManifest(f):
		return f + " is a manifest"
	case r.isToolWritten(f):
		return f + " is a lock file"
	case ok && r.Packages[i].Dir != ".":
		return ""
	}
	for _, p := range r.Packages {
		names := func(at string) bool { return IsWithin(at, f) || strings.TrimSuffix(f, path.Ext(f)) == at }
		if p.Dir != "." && slices.ContainsFunc(p.reaches, names) {
			e.far[p.Dir] = 1
		}
	}
	if stack.IsProse(f) && r.have[f] { // the users of a deleted one are unknown
		return ""
	}
	if ok && r.isRootCode(r.Packages[i], f) {
		e.markChanged(".")
		for _, p := range r.Packages {
			if p.Dir != "." && slices.ContainsFunc(p.Kinds, func(k string) bool { return slices.Contains(r.Packages[i].Kinds, k) }) {
				e.markWithin(p.Dir, 1)
			}
		}
		return ""
	}
	return f + " belongs to no package"
}

// isRootCode reports whether a file of the root is its code, and not a configuration that tools of
// other packages may find in a directory above these.
func (r *PackageGraph) isRootCode(root MonorepoPackage, f string) bool {
	return slices.ContainsFunc(r.kinds, func(k stackWithNaming) bool {
		return k.Syntax != nil && slices.Contains(root.Kinds, k.Name) && (strings.Contains(f, "/") || k.Name == "go") &&
			slices.ContainsFunc(k.Syntax(), func(s stack.SourceSyntax) bool { return slices.Contains(s.Ends, path.Ext(f)) })
	})
}

// isToolWritten reports whether a file is written by tools, such as a lock file.
func (r *PackageGraph) isToolWritten(f string) bool {
	return slices.ContainsFunc(r.kinds, func(k stackWithNaming) bool { return slices.Contains(k.Written, strings.ToLower(path.Base(f))) })
}

func (e *AffectedPackages) markChanged(dir string) {
	if e.far[dir] = 0; !slices.Contains(e.Changed, dir) {
		e.Changed = append(e.Changed, dir)
	}
}

func (e *AffectedPackages) markWithin(dir string, steps int) {
	if was, ok := e.far[dir]; !ok || was > steps {
		e.far[dir] = steps
	}
}

// markDependents adds the packages that need those already hit, and those that may need any.
func (e *AffectedPackages) markDependents(something bool) {
	for _, p := range e.repo.Packages {
		if p.Wide != "" && something {
			e.markWithin(p.Dir, 1)
		}
	}
	for steps := 0; ; steps++ {
		more := false
		for _, p := range e.repo.Packages {
			if at, ok := e.far[p.Dir]; !ok || at != steps {
				continue
			}
			for _, dir := range p.Users {
				e.markWithin(dir, steps+1)
			}
		}
		for _, at := range e.far {
			more = more || at > steps
		}
		if !more {
			return
		}
	}
}

// UnaffectedReason returns why the gates of a directory are not affected by the change, or ""
// if they are or may be: it is the root, or in a package that the change may break.
func (e AffectedPackages) UnaffectedReason(dir string) string {
	if !e.known || e.All != "" || dir == "" || path.Clean(dir) == "." {
		return ""
	}
	dir = path.Clean(dir)
	own, ok := e.repo.PackageOf(dir)
	if !ok || own.Dir == "." {
		return ""
	}
	for at := range e.far {
		if at != "." && (IsWithin(dir, at) || at == own.Dir) {
			return ""
		}
	}
	return fmt.Sprintf("package %s does not need what changed: %s", own.DisplayName(), e.changedText())
}

// IsDependencyOfAffected reports whether the root, or a package that the change may break, needs the package of
// a directory, directly or not: its build is useful although the change cannot break it.
func (e AffectedPackages) IsDependencyOfAffected(dir string) bool {
	if !e.known {
		return true
	}
	to, ok := e.repo.PackageOf(path.Clean(dir))
	if !ok {
		return false
	}
	seen := map[string]bool{}
	next := append(slices.Collect(maps.Keys(e.far)), ".")
	for len(next) > 0 {
		p, ok := e.repo.PackageOf(next[0])
		if next = next[1:]; !ok || seen[p.Dir] {
			continue
		}
		if p.Dir == to.Dir || p.Wide != "" && p.Dir != "." {
			return true
		}
		seen[p.Dir] = true
		next = append(next, p.Needs...)
	}
	return false
}

// changedText names the changed packages.
func (e AffectedPackages) changedText() string {
	const most = 3
	dirs := slices.Clone(e.Changed)
	if len(dirs) == 0 {
		return "no package"
	}
	more := len(dirs) - most
	text := strings.Join(dirs[:min(len(dirs), most)], ", ")
	if more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// StepsFromChange returns the distance of a directory from the change in dependencies: 0 for changed
// packages and for the root, and a number above all others if it is unknown.
func (e AffectedPackages) StepsFromChange(dir string) int {
	if dir == "" || path.Clean(dir) == "." {
		return 0
	}
	if p, ok := e.repo.PackageOf(dir); ok {
		if at, hit := e.far[p.Dir]; hit {
			return at
		}
	}
	return len(e.far) + 1
}
