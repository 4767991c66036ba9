package changeeffects

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/tamper"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// ResolvedMerge names the trees of a merge whose conflicts were resolved.
type ResolvedMerge struct {
	Base, Landed, Change string // the common base, and the two sides
	Made                 string // git's merge of them, with conflict markers
	Result               string
	Conflicts            []string
}

// ResolvedFiles returns the files that show the resolution: those in conflict and those that differ
// from git's merge. If one side moved a file that the other changed, both paths are included.
func (m ResolvedMerge) ResolvedFiles(ctx context.Context, repo git.Repo) ([]string, error) {
	touched, err := repo.ChangedFiles(ctx, m.Made, m.Result)
	if err != nil {
		return nil, err
	}
	files := slices.Clone(m.Conflicts)
	for _, c := range touched {
		files = append(files, c.Path)
	}
	if len(files) > 0 {
		moved, err := m.filesMovedAndChanged(ctx, repo)
		if err != nil {
			return nil, err
		}
		files = append(files, moved...)
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// filesMovedAndChanged returns the files that one side deleted and the other changed, with
// those that the deleting side added.
func (m ResolvedMerge) filesMovedAndChanged(ctx context.Context, repo git.Repo) ([]string, error) {
	landed, err := repo.ChangedFiles(ctx, m.Base, m.Landed)
	if err != nil {
		return nil, err
	}
	change, err := repo.ChangedFiles(ctx, m.Base, m.Change)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, s := range [][2][]git.ChangedTreeFile{{landed, change}, {change, landed}} {
		met := false
		for _, gone := range s[0] {
			other := slices.ContainsFunc(s[1], func(c git.ChangedTreeFile) bool { return c.Path == gone.Path && c.Status != "D" })
			if gone.Status == "D" && other {
				files, met = append(files, gone.Path), true
			}
		}
		for _, c := range s[0] {
			if met && c.Status == "A" {
				files = append(files, c.Path)
			}
		}
	}
	return files, nil
}

// FindLosses returns the lines of the two sides that the result lacks, the lines that one side
// removed and the result has again, and changes to tests and gates that neither side made.
func (m ResolvedMerge) FindLosses(ctx context.Context, repo git.Repo) ([]nexus.Finding, error) {
	files, err := m.ResolvedFiles(ctx, repo)
	if err != nil {
		return nil, err
	}
	var all []tamper.MergedFileVersions
	for _, file := range files[:min(len(files), maxFiles)] {
		s := tamper.MergedFileVersions{Path: file}
		if !slices.Contains(m.Conflicts, file) {
			if s.Made, _, err = readTreeEntry(ctx, repo, m.Made, file); err != nil {
				return nil, err
			}
		}
		for _, v := range []struct {
			rev  string
			to   **string
			mode *string
		}{
			{m.Base, &s.Base, &s.Modes.Base},
			{m.Landed, &s.Landed, &s.Modes.Landed},
			{m.Change, &s.Change, &s.Modes.Change},
			{m.Result, &s.Result, &s.Modes.Result},
		} {
			if *v.to, *v.mode, err = readTreeEntry(ctx, repo, v.rev, file); err != nil {
				return nil, err
			}
		}
		all = append(all, s)
	}
	found := tamper.CheckMerge(all)
	if more := len(files) - maxFiles; more > 0 {
		found = append(found, nexus.Finding{
			Gate: tamper.MergeGate, Severity: nexus.Major, Code: tamper.LostFile, Name: "the other files",
			Message: fmt.Sprintf("%d more files differ from what git made, and were not compared", more),
		})
	}
	return found, nil
}

// readTreeEntry returns the text of a tree at a path, and its mode; nil if there is none. For a binary
// file, or one too long to be compared by lines, the text is its object's name behind a zero
// byte.
func readTreeEntry(ctx context.Context, repo git.Repo, rev, file string) (text *string, mode string, err error) {
	line, err := repo.RunLine(ctx, "ls-tree", "-z", "--full-tree", rev, "--", file)
	if err != nil || line == "" {
		return nil, "", err
	}
	head, _, _ := strings.Cut(line, "\t")
	parts := strings.Fields(head) // mode, kind, name
	if len(parts) != 3 || parts[1] == "tree" {
		return nil, "", nil // a directory, not a file
	}
	name := "\x00" + parts[2]
	if parts[1] != "blob" || parts[0] == "120000" {
		return &name, parts[0], nil
	}
	out, cut, err := repo.RunWithLimit(ctx, maxText, "cat-file", "blob", parts[2])
	if err != nil || !cut && !strings.Contains(out, "\x00") {
		return &out, parts[0], err
	}
	return &name, parts[0], nil
}
