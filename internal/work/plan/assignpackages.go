package plan

import (
	"fmt"
	"path"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/planrisk"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/monorepo"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
)

// AssignPackages sets the package directory of each task of a plan: the one that a task names,
// or that contains all its files. A pattern that names no package is relative to the task's.
// The error lists the tasks that name an unknown package.
func AssignPackages(tasks []nexus.Task, r *monorepo.PackageGraph) error {
	c := planChecker{}
	for i := range tasks {
		t := &tasks[i]
		c.task = i + 1
		if t.Package == "" {
			if in := packageDirsOfFiles(t.Files, r); len(in) == 1 && r.HasNestedPackages() && in[0] != "." {
				t.Package = in[0]
			}
			continue
		}
		p, err := r.FindPackage(t.Package)
		if err != nil {
			c.addInvalidTaskProblem(WrittenTaskField{Name: "package"}, "%s: %v", shortTaskID(*t), err)
			continue
		}
		t.Package = p.Dir
		for n, f := range t.Files {
			if at, _ := r.PackageOf(patternDirectory(f)); strings.ContainsAny(f, "*?[{") && (at.Dir == "" || at.Dir == ".") {
				t.Files[n] = path.Join(p.Dir, f)
			}
		}
	}
	return ProblemsError(c.problems, nexus.TaskSizeLimits{})
}

// patternDirectory returns a path, and for a pattern the directory that contains its matches.
func patternDirectory(file string) string {
	if i := strings.IndexAny(file, "*?[{"); i >= 0 {
		return path.Clean("./" + file[:strings.LastIndexByte(file[:i], '/')+1])
	}
	return path.Clean(file)
}

// packageDirsOfFiles returns the directories of the packages that contain files, each once; "." stands
// for files in no package.
func packageDirsOfFiles(files []string, r *monorepo.PackageGraph) []string {
	var dirs []string
	seen := map[string]bool{}
	for _, f := range files {
		dir := "."
		if p, ok := r.PackageOf(patternDirectory(f)); ok {
			dir = p.Dir
		}
		if !seen[dir] {
			seen[dir] = true
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// SetStartTiers sets the start tier of tasks from the settings of their packages, if the tasks
// set none.
func SetStartTiers(tasks []nexus.Task, r *monorepo.PackageGraph, set map[string]config.RepositoryPackageSettings) {
	for of, s := range set {
		p, err := r.FindPackage(of)
		for i := range tasks {
			if err == nil && tasks[i].Package == p.Dir {
				tasks[i].SetStartTier(s.Tier, "", false)
			}
		}
	}
}

// mostPackages is the number of packages above which a task is a risk.
const mostPackages = 2

// PackageRisks returns the tasks that touch many packages: they wait for, and delay, the tasks
// of all of them.
func PackageRisks(p nexus.Plan, r *monorepo.PackageGraph) (all []planrisk.IdentifiedPlanRisk) {
	if !r.HasNestedPackages() {
		return nil
	}
	for _, t := range p.Tasks {
		if in := packageDirsOfFiles(t.Files, r); len(in) > mostPackages {
			all = append(all, planrisk.IdentifiedPlanRisk{
				Task: t.ID, Text: fmt.Sprintf("it spans %d packages: %s", len(in), firstIDs(in)), Probability: planrisk.Medium, Impact: planrisk.Medium,
				Mitigation: "split it by package, with what others need first",
			})
		}
	}
	return all
}
