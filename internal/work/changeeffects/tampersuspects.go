package changeeffects

import (
	"context"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/tamper"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

const (
	maxText  = 1 << 20 // bytes of a file that is compared
	maxFiles = 400     // files that are compared, besides tests and gates
)

// FindSuspects returns the suspicious changes of a commit to its tests and gates: to those at its
// base, and, if tests came first and were red on a tree, to those tests.
func FindSuspects(ctx context.Context, repo git.Repo, base, red, commit string) ([]nexus.Finding, error) {
	found, err := findSuspectsBetween(ctx, repo, base, commit)
	if err != nil || red == "" {
		return found, err
	}
	since, err := findSuspectsBetween(ctx, repo, red, commit)
	for _, f := range since {
		if f.Code != tamper.Suppressed && !slices.Contains(found, f) {
			found = append(found, f)
		}
	}
	return found, err
}

// FindTestsNoLongerRun returns findings about tests that ran on the base and no longer run in gates that
// pass: whatever the cause, the author must explain it.
func FindTestsNoLongerRun(evidence []nexus.GateEvidence) []nexus.Finding {
	var found []nexus.Finding
	for _, e := range evidence {
		for _, f := range e.Findings {
			if e.Passed() && f.Code == parserbase.CodeFewer {
				found = append(found, f)
			}
		}
	}
	return found
}

func findSuspectsBetween(ctx context.Context, repo git.Repo, from, to string) ([]nexus.Finding, error) {
	changed, err := repo.ChangedFiles(ctx, from, to)
	if err != nil {
		return nil, err
	}
	var files []tamper.ChangedFileVersions
	rest := 0
	for _, c := range changed {
		if !tamper.AffectsChecks(c.Path) {
			if rest++; rest > maxFiles {
				files = append(files, tamper.ChangedFileVersions{Path: c.Path}) // its name is enough
				continue
			}
		}
		f, err := readBothVersions(ctx, repo, from, to, c)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return tamper.FindTampering(files), nil
}

// readBothVersions reads both versions of a file that differs between two commits.
func readBothVersions(ctx context.Context, repo git.Repo, from, to string, c git.ChangedTreeFile) (f tamper.ChangedFileVersions, err error) {
	f.Path = c.Path
	if c.Status != "A" {
		if f.Old, err = FileTextAt(ctx, repo, from, c.Path); err != nil {
			return f, err
		}
	}
	if c.Status != "D" {
		f.New, err = FileTextAt(ctx, repo, to, c.Path)
	}
	return f, err
}

// FileTextAt returns a file of a commit or tree, cut if it is too long to be compared.
func FileTextAt(ctx context.Context, repo git.Repo, rev, file string) (*string, error) {
	out, _, err := repo.ReadFile(ctx, rev, file, maxText)
	return &out, err
}
