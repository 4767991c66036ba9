// Package changemetrics measures a change for the definition of done: its lines, and the licences of
// the dependencies that it adds. It runs nothing, and uses no network.
//
// The coverage of lines is read from the reports that tools write: LCOV, Cobertura, JaCoCo and
// the profiles of Go. A line that is not in a report is unknown, neither tested nor untested.
// Dependencies are those that lock files and manifests name; others are not known. Licences
// are read from this machine: installed packages and the caches of their managers. A package
// that is not here has no known licence.
package changemetrics

import (
	"context"
	"errors"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/definitionofdone"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// ChangeMeasurer measures changes. The zero value has no limits.
type ChangeMeasurer struct {
	Rules  nexus.DefinitionOfDone
	Places stack.PackageSearchPaths          // directories of packages, except those of a tree
	Get    func(hash string) ([]byte, error) // returns the output of gates; nil: it is not stored
}

// MeasureRequest is the change to measure.
type MeasureRequest struct {
	Repo  git.Repo
	Base  string   // commit; empty: none, and only the limits on the tree itself apply
	Tree  string   // git tree
	Files []string // files in the task's plan; nil: there is no plan
	Run   bool     // it is the result of a run

	Task   *definitionofdone.TaskWording // the task of the change, with its explanations; nil: none
	Agreed bool                          // the removals were approved before

	Taken GateMeasurements // the gates' measurements
	Dirs  []string         // directories in which packages may be installed

	about func(file string) bool // selects the files whose new lines are reported; nil: all files
}

// JudgeChange checks a change against the rules. It returns all findings, and those that decide.
func (m *ChangeMeasurer) JudgeChange(ctx context.Context, c MeasureRequest) (all, decides []nexus.GateEvidence, err error) {
	if m == nil || len(m.Rules.Modes) == 0 {
		return nil, nil, nil
	}
	patch, whole := "", true
	if c.Base != "" {
		if patch, whole, err = c.Repo.Patch(ctx, c.Base, c.Tree); err != nil {
			return nil, nil, err
		}
	}
	found := definitionofdone.MeasuredChange{Tree: c.Tree, Files: definitionofdone.ParsePatch(patch), Whole: whole, Planned: c.Files, Run: c.Run, Cover: c.Taken.Cover, Audit: c.Taken.Audit}
	found.Task = c.Task
	if c.Agreed {
		rules := m.Rules
		rules.Modes = maps.Clone(rules.Modes)
		rules.Modes[nexus.DeletionBound], rules.Modes[nexus.BuiltBound] = nexus.BoundOff, nexus.BoundOff
		with := *m
		with.Rules = rules
		m = &with
	}
	if err := m.countDeletedLines(ctx, c, found.Files); err != nil {
		return nil, nil, err
	}
	if found.Caches, err = baseCacheDirectories(ctx, c, found.Files); err != nil {
		return nil, nil, err
	}
	if found.Unnamed, err = unreferencedFiles(ctx, c, found.UnnamedDataFiles()); err != nil {
		return nil, nil, err
	}
	if err := m.measureLines(ctx, c, &found); err != nil {
		return nil, nil, err
	}
	if mode := m.Rules.Modes[nexus.LicencesBound]; mode == nexus.BoundWarn || mode == nexus.BoundBlock {
		if found.Deps, err = m.addedDependencies(ctx, c, found.Files); err != nil {
			return nil, nil, err
		}
	}
	all = definitionofdone.CheckBounds(m.Rules, found)
	for _, e := range all {
		if definitionofdone.DecidesAboutChange(m.Rules, e) {
			decides = append(decides, e)
		}
	}
	return all, decides, nil
}

// countDeletedLines adds to files how many lines they had and how many were only moved, if the limit on
// deletions needs that.
func (m *ChangeMeasurer) countDeletedLines(ctx context.Context, c MeasureRequest, files []definitionofdone.FileChange) error {
	mode := m.Rules.Modes[nexus.DeletionBound]
	if mode != nexus.BoundWarn && mode != nexus.BoundBlock || c.Base == "" || c.Run {
		return nil
	}
	gone := false
	for i, f := range files {
		gone = gone || f.Gone
		if !f.NeedsLineCount(m.Rules) {
			continue
		}
		old, err := readFileText(ctx, c.Repo, c.Base, f.Path)
		if err != nil {
			return err
		}
		files[i].Was = max(f.Removed, strings.Count(strings.TrimSuffix(old, "\n"), "\n")+1)
	}
	if !gone {
		return nil
	}
	moved, err := c.Repo.RenamedPaths(ctx, c.Base, c.Tree)
	for i, f := range files {
		if f.Gone {
			files[i].MovedTo = moved[f.Path]
		}
	}
	return err
}

// baseCacheDirectories returns the cache directories of the base: a project that commits its packages adds
// some of them.
func baseCacheDirectories(ctx context.Context, c MeasureRequest, files []definitionofdone.FileChange) ([]string, error) {
	var all []string
	for _, dir := range definitionofdone.CacheDirectories(files) {
		if c.Base == "" {
			continue
		}
		out, err := c.Repo.Run(ctx, "ls-tree", "--name-only", "-z", "--end-of-options", c.Base, strings.TrimSuffix(dir, "/"))
		if err != nil {
			return nil, err
		}
		if out != "" {
			all = append(all, dir)
		}
	}
	return all, nil
}

// unreferencedFiles returns the new files that no other file of the tree names, by name or by
// directory, and that resemble no file in their directory on the base.
func unreferencedFiles(ctx context.Context, c MeasureRequest, files []string) ([]string, error) {
	if c.Base == "" || c.Run {
		return nil, nil
	}
	var all []string
	for _, file := range files {
		list, where := []string{"ls-tree", "--name-only", "-z", "--end-of-options", c.Base}, path.Dir(file)
		if where != "." {
			list = append(list, where+"/")
		}
		names, err := c.Repo.Run(ctx, list...)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(strings.Split(names, "\x00"), func(name string) bool { return path.Ext(name) == path.Ext(file) }) {
			continue
		}
		args := []string{"grep", "--quiet", "-I", "-w", "-F", "-e", path.Base(file)}
		if where != "." {
			args = append(args, "-e", path.Base(where))
		}
		_, err = c.Repo.Run(ctx, append(args, c.Tree, "--", ":(exclude,literal)"+file)...)
		if x, ok := errors.AsType[*git.ExitError](err); ok && x.Status == 1 {
			all = append(all, file)
		} else if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// maxLock limits the size of a dependency file that is read.
const maxLock = 32 << 20

// addedDependencies returns the dependencies that a change adds.
func (m *ChangeMeasurer) addedDependencies(ctx context.Context, c MeasureRequest, files []definitionofdone.FileChange) ([]definitionofdone.AddedDependency, error) {
	places := m.Places
	for _, dir := range c.Dirs {
		if filepath.IsAbs(dir) {
			places.Trees = append(places.Trees, dir)
		}
	}
	var all []definitionofdone.AddedDependency
	for _, f := range files {
		read := stack.PackageListReader(f.Path)
		if read == nil || f.Gone {
			continue
		}
		now, err := readFileText(ctx, c.Repo, c.Tree, f.Path)
		if err != nil {
			return nil, err
		}
		var had []stack.ListedPackage
		if !f.New {
			before, err := readFileText(ctx, c.Repo, c.Base, f.Path)
			if err != nil {
				return nil, err
			}
			had = read(before)
		}
		for _, p := range stack.AddedPackages(had, read(now)) {
			d := definitionofdone.AddedDependency{Name: p.String(), File: f.Path, Line: p.Line, Licence: places.LicenceOf(p)}
			if !slices.ContainsFunc(all, func(o definitionofdone.AddedDependency) bool { return o.Name == d.Name && o.Licence == d.Licence }) {
				all = append(all, d) // a manifest repeats the entries of its lock file
			}
		}
	}
	return all, nil
}
