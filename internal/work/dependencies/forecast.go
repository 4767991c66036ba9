package dependencies

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// InstallForecast describes how the packages of a lock file will be installed.
type InstallForecast struct {
	File string // the lock file
	How  string // source of its packages
	Bad  error  // why the installation may fail; nil: no problem known
	Hint string
}

// ForecastInstalls returns the expected source of a checkout's packages, as far as it can be
// determined without installing any.
func ForecastInstalls(dir string, w InstallSettings, gates []gate.QualityGate) []InstallForecast {
	var all []InstallForecast
	for _, p := range findLockDirectories(dir) {
		need := None
		for _, g := range gates {
			need = max(need, p.needLevel(g, expandGateCommand(dir, g)))
		}
		if need <= Lend {
			continue
		}
		o := InstallForecast{File: p.File}
		why := errors.New("they cannot be compared with the lock file")
		if p.Same != nil {
			why = p.Same(os.DirFS(filepath.Join(dir, filepath.FromSlash(p.Dir))), p.text)
		}
		f := InstallFailure{LockDirectory: p}
		switch {
		case w.Install != "":
			o.How = "installed by " + w.Install
		case why == nil:
			o.How = "taken from your " + path.Join(p.Dir, p.Out[0])
		case w.Off:
			o.Bad, o.Hint = errors.New("environment.install is false, and those of your checkout cannot be used: "+why.Error()), f.fixHint()
		case !isOnPath(p.Tools[0]):
			o.Bad, o.Hint = errors.New(p.Tools[0]+" is not installed here"), f.fixHint()
		default:
			o.How = "installed in the sandbox by " + strings.Join(p.Args, " ")
			if p.Command != "" {
				o.How = "installed in the sandbox by " + p.Name
			}
		}
		all = append(all, o)
	}
	return all
}

// HasProgram reports whether a checkout has a program in its own environment, which worktrees
// will have, too.
func HasProgram(dir, program string) bool {
	return slices.ContainsFunc(findLockDirectories(dir), func(p LockDirectory) bool {
		at := filepath.Join(dir, filepath.FromSlash(p.Dir))
		return p.Bin != "" && isExecutableFile(filepath.Join(at, filepath.FromSlash(p.Bin), program)) && p.Same != nil && p.Same(os.DirFS(at), p.text) == nil
	})
}

// isOnPath reports whether there is a program of that name.
func isOnPath(name string) bool {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if isExecutableFile(filepath.Join(dir, name)) {
			return true
		}
	}
	return false
}

func isExecutableFile(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
