package discover

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/discoveredwork"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/stack/toolreport"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// findOutdatedDependencies asks the package managers for newer versions of the project's direct dependencies.
// A note reports a package manager that is not installed or not reachable.
func findOutdatedDependencies(ctx context.Context, s *SourceTree) (StrategyResult, error) {
	found := StrategyResult{Quick: true}
	asked := false
	for _, file := range slices.Concat(s.files, s.locks) {
		for _, l := range toolreport.OutdatedPackageListers() {
			if path.Base(file.path) != l.File || !isSafeInCheck(file.path) {
				continue
			}
			asked = true
			all, note, err := s.findNewerVersions(ctx, file.path, l)
			if err != nil {
				return found, err
			}
			if note != "" {
				found.Notes = append(found.Notes, note)
			}
			found.Findings = append(found.Findings, all...)
		}
	}
	loose, err := s.unlockedManifestNotes(ctx)
	if err != nil {
		return found, err
	}
	found.Notes = append(found.Notes, loose...)
	if !asked && len(loose) == 0 {
		found.Skipped = "no file here for which a package manager lists newer versions"
	}
	return found, nil
}

// unlockedManifestNotes returns a note for each manifest whose packages cannot be checked,
// since no lock file beside it or above it lists the used versions.
func (s *SourceTree) unlockedManifestNotes(ctx context.Context) (notes []string, err error) {
	there := map[string]bool{}
	for _, f := range slices.Concat(s.files, s.locks) {
		there[f.path] = true
	}
	for _, f := range s.files {
		for _, l := range toolreport.LockDependentManifests() {
			if path.Base(f.path) != l.File || !isSafeInCheck(f.path) || hasLockFileAbove(there, path.Dir(f.path), l.With) {
				continue
			}
			lines, err := s.readTextLines(ctx, f.path)
			if err != nil {
				return nil, err
			}
			if slices.ContainsFunc(lines, func(text string) bool { return strings.Contains(text, l.Names) }) {
				const why = "%s was not checked: newer versions are listed only where there is %s"
				notes = append(notes, fmt.Sprintf(why, f.path, strings.Join(l.With, " or ")))
			}
		}
	}
	return notes, nil
}

// hasLockFileAbove reports whether one of some files is in a directory, or above it.
func hasLockFileAbove(there map[string]bool, dir string, names []string) bool {
	for ; ; dir = path.Dir(dir) {
		if slices.ContainsFunc(names, func(name string) bool { return there[path.Join(dir, name)] }) {
			return true
		}
		if dir == "." || dir == "/" {
			return false
		}
	}
}

// findNewerVersions checks one file. The note is the reason if that failed.
func (s *SourceTree) findNewerVersions(ctx context.Context, name string, l toolreport.OutdatedPackageLister) (all []discoveredwork.WorkFinding, note string, err error) {
	s.programs[l.Program] = true
	if s.programVersion(l.Program) == "none" {
		return nil, fmt.Sprintf("%s was not checked: %s is not installed", name, l.Program), nil
	}
	if _, err := s.checkOutTree(ctx); err != nil {
		return nil, "", err
	}
	text, err := s.root.ReadFile(name)
	if err != nil {
		return nil, fmt.Sprintf("%s was not checked: it cannot be read", name), nil //nolint:nilerr // the note says it
	}
	g := gate.QualityGate{Name: "outdated: " + name, Args: l.Args, Dir: path.Dir(name), Format: outputparser.Exit}
	e, printed, err := s.runGate(ctx, g)
	if err != nil {
		return nil, "", err
	}
	old := l.Read(printed, string(text))
	if why := networkRefusalLine(printed); why != "" || len(old) == 0 && e.State != nexus.Pass {
		note = fmt.Sprintf("%s was not checked: %s could not tell (is its registry reached? docs/improve.md says how): %s",
			name, l.Program, cmp.Or(why, failureLine(printed, e.Why)))
	}
	if note == "" && len(old) == 0 && strings.Contains(string(text), l.Names) && s.bench.Silent != nil && s.bench.Silent(g.Name) {
		const why = "%s was not checked: %s asked no registry (docs/improve.md says how it reaches one)"
		note = fmt.Sprintf(why, name, l.Program)
	}
	for _, o := range old {
		if !isSafeInCheck(o.Name) || !isSafeInCheck(o.Has) || !isSafeInCheck(o.Newest) {
			continue
		}
		f := discoveredwork.WorkFinding{
			ID: discoveredwork.FindingID("outdated", name, o.Name), Strategy: "outdated", Kind: discoveredwork.Deps, Severity: nexus.PriorityLow,
			Title:   fmt.Sprintf("Update %s in %s from %s to %s", o.Name, name, o.Has, o.Newest),
			Why:     l.Program + " lists " + o.Newest + " as the newest version",
			Minutes: discoveredwork.EstimateMinutes("outdated", 1), Places: []discoveredwork.FindingPlace{{File: name}}, Check: "! " + l.Still(name, o),
		}
		if strings.Contains(f.Check, " | ") {
			f.Check = "! { " + l.Still(name, o) + "; }"
		}
		if majorVersion(o.Has) != majorVersion(o.Newest) {
			f.Why += ", another major one"
		}
		all = append(all, f)
	}
	return all, note, nil
}

// networkRefusalLine returns the line that names a host which a command did not reach, or "". npm skips
// packages whose request is refused, and reports nothing newer.
func networkRefusalLine(printed string) string {
	for line := range strings.Lines(printed) {
		if strings.HasPrefix(line, "[network: ") && strings.Contains(line, " refused ") {
			return truncateRunes(strings.Trim(strings.TrimSpace(line), "[]"), 120)
		}
	}
	return ""
}

// majorVersion returns the first number of a version.
func majorVersion(version string) string {
	first, _, _ := strings.Cut(strings.TrimLeft(version, "vV"), ".")
	return first
}
