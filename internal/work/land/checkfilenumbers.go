package land

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/numberedfiles"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/work/changeeffects"
)

// CodeTaken is the code of the finding about a file that uses a number of a file that landed
// meanwhile.
const CodeTaken = "taken"

// refuseTakenNumbers returns a change to its author if it uses a number, or another place in a
// sequence, of a file that has landed since the change was begun: git merges the two without a
// conflict. For a change that was returned once, every file of the tip counts.
func (l *attemptLanding) refuseTakenNumbers(ctx context.Context, hash string) (*nexus.LandingRejected, error) {
	if l.with != "" || l.view.Tip == l.a.Base && l.a.Refusals == 0 {
		return nil, nil
	}
	repo := l.Worker.Trees.PrivateRepo()
	theirs, err := addedFiles(ctx, repo, l.a.Base, l.view.Tip)
	if err != nil {
		return nil, err
	}
	ours, err := addedFiles(ctx, repo, l.view.Tip, hash)
	if err != nil || len(ours) == 0 || len(theirs) == 0 && l.a.Refusals == 0 {
		return nil, err
	}
	had, err := filesInSameDirectories(ctx, repo, l.view.Tip, ours)
	if err != nil || len(had) == 0 {
		return nil, err
	}
	added, err := readFiles(ctx, repo, hash, ours)
	if err != nil {
		return nil, err
	}
	f := &nexus.LandingRejected{Task: l.a.Task, Attempt: l.a.ID, Tree: hash, Onto: l.view.Tip}
	for _, c := range numberedfiles.FindCollisions(added, had) {
		if l.a.Refusals == 0 && !slices.Contains(theirs, c.With) {
			continue
		}
		f.Findings = append(f.Findings, nexus.Finding{
			Gate: "train", File: c.Path, Severity: nexus.Major, Code: CodeTaken, Message: c.String() + ", which landed meanwhile",
			Advice: "Take " + c.Next + ", which is free, and change what names the old one.",
		})
		if f.Why == "" {
			f.Why = fmt.Sprintf("%s cannot land: %s, which landed meanwhile; %s is free", c.Path, c, c.Next)
		}
	}
	if len(f.Findings) == 0 {
		return nil, nil
	}
	return f, nil
}

// addedFiles returns the files that only the second commit or tree has.
func addedFiles(ctx context.Context, repo git.Repo, from, to string) ([]string, error) {
	if from == to {
		return nil, nil
	}
	changed, err := repo.ChangedFiles(ctx, from, to)
	if err != nil {
		return nil, fmt.Errorf("look for numbers that are taken: %w", err)
	}
	var all []string
	for _, c := range changed {
		if c.Status == "A" {
			all = append(all, c.Path)
		}
	}
	return all, nil
}

// filesInSameDirectories returns the files of a tree in the directories of others.
func filesInSameDirectories(ctx context.Context, repo git.Repo, tree string, files []string) ([]numberedfiles.SequenceFile, error) {
	var dirs, all []string
	for _, f := range files {
		if dir := path.Dir(f); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	for _, dir := range dirs {
		args := []string{"ls-tree", "--name-only", "-z", "--end-of-options", tree}
		if dir != "." {
			args = append(args, dir+"/")
		}
		out, err := repo.Run(ctx, args...)
		if err != nil {
			return nil, fmt.Errorf("look for numbers that are taken: %w", err)
		}
		for name := range strings.SplitSeq(out, "\x00") {
			if name != "" {
				all = append(all, name)
			}
		}
	}
	return readFiles(ctx, repo, tree, all)
}

// readFiles returns files with their texts, if the texts matter.
func readFiles(ctx context.Context, repo git.Repo, tree string, names []string) ([]numberedfiles.SequenceFile, error) {
	all := make([]numberedfiles.SequenceFile, len(names))
	for i, name := range names {
		all[i].Path = name
		if !numberedfiles.NamesPredecessor(name) {
			continue
		}
		text, err := changeeffects.FileTextAt(ctx, repo, tree, name)
		if err != nil {
			return nil, fmt.Errorf("look for numbers that are taken: %w", err)
		}
		if text != nil {
			all[i].Text = *text
		}
	}
	return all, nil
}
