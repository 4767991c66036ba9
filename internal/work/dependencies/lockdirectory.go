// Package dependencies installs a project's dependencies before anything in it is built or
// tested: the packages that its lock files name, installed by each ecosystem's own command,
// and additions from the configuration. It does that once for each content of the lock file,
// in the sandbox, and lends the result to worktrees; see docs/monorepos-and-environments.md.
package dependencies

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// LockDirectory is a directory of a tree with a lock file.
type LockDirectory struct {
	stack.InstallMethod
	Dir  string // "." for the root
	File string // the lock file, relative to the tree
	text string // text of the lock file
	sum  string // hash of everything in the tree that the packages depend on

	// directories below with their own lock file of the same family, whose packages are separate
	inner []string
	outer bool // a directory above has a lock file of the same family
}

// findLockDirectories returns the lock directories of a tree, the root first. It skips a directory
// whose packages are committed to git.
func findLockDirectories(dir string) []LockDirectory {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil
	}
	defer root.Close() //nolint:errcheck // only read
	files := stack.SourceFiles(os.DirFS(dir))
	in := map[string][]string{}
	for _, f := range files {
		in[path.Dir(f)] = append(in[path.Dir(f)], path.Base(f))
	}
	var all []LockDirectory
	for d, names := range in {
		had := map[string]bool{}
		for _, e := range stack.InstallMethods() {
			i := slices.IndexFunc(names, func(n string) bool { ok, _ := path.Match(e.Lock, n); return ok })
			if i < 0 || had[e.Family] {
				continue
			}
			p := LockDirectory{InstallMethod: e, Dir: d, File: path.Join(d, names[i])}
			p.text = stack.ReadLockFile(root.FS(), p.File)
			if e.Fits != nil && !e.Fits(p.text) {
				continue
			}
			had[e.Family] = true
			p.sum = p.hashDependencies(root, files)
			all = append(all, p)
		}
	}
	slices.SortStableFunc(all, func(a, b LockDirectory) int {
		if n := pathDepth(a.Dir) - pathDepth(b.Dir); n != 0 {
			return n
		}
		return strings.Compare(a.Dir+a.Name, b.Dir+b.Name)
	})
	relateNestedLockDirectories(all)
	// A manifest below another lock directory may be a member of its workspace, or an example: a
	// project in use has a lock file.
	all = slices.DeleteFunc(all, func(p LockDirectory) bool { return p.Bare && p.outer })
	relateNestedLockDirectories(all)
	return all
}

// relateNestedLockDirectories sets inner and outer of each lock directory.
func relateNestedLockDirectories(all []LockDirectory) {
	for i := range all {
		all[i].inner, all[i].outer = nil, false
	}
	for i := range all {
		for j := range all {
			if all[i].Family == all[j].Family && all[i].Dir != all[j].Dir && isWithin(all[j].Dir, all[i].Dir) {
				all[i].inner = append(all[i].inner, all[j].Dir)
				all[j].outer = true
			}
		}
	}
}

func pathDepth(dir string) int {
	if dir == "." {
		return 0
	}
	return 1 + strings.Count(dir, "/")
}

// LockDirectoryNeed is how much a gate needs a lock directory.
type LockDirectoryNeed int

// The levels.
const (
	None LockDirectoryNeed = iota // not needed
	// maybe not needed: the user's installed packages are lent, and nothing is installed.
	Lend
	Maybe // it runs an unknown program
	Sure  // it runs a program of the directory's family
)

// needLevel returns how much a gate needs a lock directory. A gate needs the packages of the lock
// file that is nearest to its directory, on the way up to the root. Those of a directory below
// are another project's, unless the gate's command names that directory; says is that command
// with the scripts that it runs, see [expandGateCommand].
func (p LockDirectory) needLevel(g gate.QualityGate, says string) LockDirectoryNeed {
	if p.Lent {
		return min(p.unlentNeedLevel(g, says), Lend)
	}
	return p.unlentNeedLevel(g, says)
}

func (p LockDirectory) unlentNeedLevel(g gate.QualityGate, says string) LockDirectoryNeed {
	switch g.Format {
	case outputparser.GoBuild, outputparser.GoVet, outputparser.GoTestJSON, outputparser.GoFmt, outputparser.GolangCI:
		return None
	}
	at := path.Clean("./" + filepath.ToSlash(g.Dir))
	most := Sure
	if p.Bare {
		most = Maybe // many projects list packages that their gates do not need
	}
	switch inside := isWithin(p.Dir, at); {
	case p.Dir == at && p.outer:
		// a project below another one: if its packages cannot be installed, the work on that one
		// continues
		most = Maybe
	case p.Dir == at || inside && namesDirectoryBelow(says, at, p.Dir):
	case inside && p.Bare:
		return None
	case inside && p.outer: // the gate has its own packages, or a directory between has
		most = Lend
	case inside:
		most = Maybe
	case !isWithin(at, p.Dir):
		return None
	case slices.ContainsFunc(p.inner, func(d string) bool { return isWithin(at, d) }):
		most = Maybe // a directory nearer to the gate provides the packages first
	}
	own := stack.ProgramsOf(p.Family)
	known := false
	for _, w := range stack.CommandWords(g.Args) {
		w = path.Base(w)
		if slices.Contains(own, w) || p.Family == "node" && strings.HasPrefix(w, "node_modules") {
			return most
		}
		known = known || slices.Contains(packageFreePrograms(), w)
	}
	if known {
		return None
	}
	if p.Bare && !p.Lent {
		return None
	}
	return min(most, Maybe)
}

// namesDirectoryBelow reports whether a command that runs in a directory names another one below that.
func namesDirectoryBelow(says, at, dir string) bool {
	rel := strings.TrimPrefix(dir, at+"/")
	for _, w := range stack.CommandWords([]string{says}) {
		w = strings.TrimSuffix(strings.TrimPrefix(w, "./"), "/")
		if w == rel || strings.HasPrefix(w, rel+"/") {
			return true
		}
	}
	return false
}

// mayNeedPackages reports whether a gate may need any packages.
func mayNeedPackages(g gate.QualityGate) bool {
	return slices.ContainsFunc(stacksWithInstalledPackages(), func(f string) bool {
		return LockDirectory{InstallMethod: stack.InstallMethod{Family: f}, Dir: "."}.needLevel(g, "") != None
	})
}

// stacksWithInstalledPackages returns the stacks whose packages are installed.
func stacksWithInstalledPackages() []string {
	var all []string
	for _, s := range stack.AllStacks() {
		if s.Installs != nil {
			all = append(all, s.Name)
		}
	}
	return all
}

// packageFreePrograms returns programs that need no packages of any family here: their own tools fetch
// them, or nothing is fetched.
func packageFreePrograms() []string {
	var all []string
	for _, s := range stack.AllStacks() {
		all = append(all, s.Programs...)
	}
	return all
}

// isWithin reports whether a directory equals another or is inside it.
func isWithin(dir, within string) bool {
	return within == "." || dir == within || strings.HasPrefix(dir, within+"/")
}
