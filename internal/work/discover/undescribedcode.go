package discover

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/discoveredwork"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/missingdocs"
	"github.com/nexus-ai-builder/nexus/internal/stack/scriptcommands"
)

// manyFiles is the number of source files that an undocumented directory may have (the
// predecessor's figure).
const manyFiles = 2

// directoryDocInfo describes a directory.
type directoryDocInfo struct {
	sources int
	told    bool            // its purpose is documented
	ends    map[string]bool // extensions of its source files
}

// undescribedDirectories finds directories below the root with more than two source files,
// without a README or a file that documents their purpose.
func (s *SourceTree) undescribedDirectories(ctx context.Context) ([]discoveredwork.WorkFinding, error) {
	all := map[string]*directoryDocInfo{}
	var dirs []string
	for _, f := range s.files {
		dir, base := path.Dir(f.path), path.Base(f.path)
		if dir == "." || isHiddenDirectory(dir) {
			continue
		}
		if all[dir] == nil {
			all[dir] = &directoryDocInfo{ends: map[string]bool{}}
			dirs = append(dirs, dir)
		}
		d := all[dir]
		d.told = d.told || strings.HasPrefix(strings.ToLower(base), "readme")
		if _, ok := stack.SyntaxOf(base); !ok || isAuxiliaryFile(f.path) || !isSafeInCheck(f.path) {
			continue
		}
		lines, err := s.readTextLines(ctx, f.path)
		if err != nil {
			return nil, err
		}
		if strings.Join(lines, "") != "" {
			d.sources++
			d.ends[path.Ext(base)] = true
			d.told = d.told || missingdocs.DescribesDirectory(base, lines)
		}
	}
	var found []discoveredwork.WorkFinding
	for _, dir := range dirs {
		if d := all[dir]; d.sources > manyFiles && !d.told {
			found = append(found, d.undescribedDirectoryFinding(dir))
		}
	}
	return found, nil
}

// isHiddenDirectory reports whether a directory belongs to a tool.
func isHiddenDirectory(dir string) bool {
	return slices.ContainsFunc(strings.Split(dir, "/"), func(part string) bool { return strings.HasPrefix(part, ".") })
}

// undescribedDirectoryFinding makes a finding of an undocumented directory.
func (d directoryDocInfo) undescribedDirectoryFinding(dir string) discoveredwork.WorkFinding {
	says := "ls | grep -qi ^readme"
	for _, ending := range slices.Sorted(maps.Keys(d.ends)) {
		if line := missingdocs.DirectoryDocCommand(ending); line != "" {
			says += " || " + line
		}
	}
	file := "README.md"
	if len(d.ends) == 1 {
		file = missingdocs.DirectoryDocFile(slices.Collect(maps.Keys(d.ends))[0])
	}
	return discoveredwork.WorkFinding{
		ID: discoveredwork.FindingID("documentation", dir, "README"), Strategy: "documentation", Kind: discoveredwork.Docs, Severity: nexus.PriorityTrivial,
		Title: fmt.Sprintf("Describe in %s the contents of %s", path.Join(dir, file), dir), Minutes: 10, Count: d.sources,
		Why:    fmt.Sprintf("it has %d source files and no description", d.sources),
		Places: []discoveredwork.FindingPlace{{File: path.Join(dir, file)}},
		Check:  fmt.Sprintf("cd %s && { %s; }", scriptcommands.QuoteShellWord("./"+dir), says),
	}
}

// undescribedNamesFinding makes a finding of the undocumented public names of a file.
func undescribedNamesFinding(d missingdocs.DocPatterns, name string, lines []string) (discoveredwork.WorkFinding, bool) {
	f := discoveredwork.WorkFinding{Strategy: "documentation", Kind: discoveredwork.Docs, Severity: nexus.PriorityTrivial}
	parts := []string{name}
	for _, n := range d.UndescribedLines(lines) {
		f.Places = append(f.Places, discoveredwork.FindingPlace{File: name, Line: n + 1})
		parts = append(parts, lines[n])
	}
	if f.Count = len(f.Places); f.Count == 0 {
		return f, false
	}
	f.Places = f.Places[:min(f.Count, 20)]
	f.ID, f.Minutes = discoveredwork.FindingID("documentation", parts...), discoveredwork.EstimateMinutes("documentation", f.Count)
	f.Title = fmt.Sprintf("Describe %s of %s", pluralCount(f.Count, "public name"), name)
	f.Why = "others use them, and they have no comments"
	f.Evidence = truncateRunes(strings.TrimSpace(parts[1]), 200)
	f.Check = d.MissingDocsCommand(name)
	return f, len(f.Check) <= longestCheck
}
