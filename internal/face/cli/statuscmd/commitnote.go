package statuscmd

import (
	"context"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// showCommitNote prints the git note of a commit about its tree. It reads no journal: the repository alone
// is enough.
func showCommitNote(ctx context.Context, a *console.Console, rev string) error {
	p, err := a.OpenRepository(ctx, app.ReadAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	commit, err := p.Repo.Resolve(ctx, rev)
	if err != nil {
		return err
	}
	tree, err := p.Repo.TreeID(ctx, commit)
	if err != nil {
		return err
	}
	text, err := git.ReadNote(ctx, p.Repo, commit)
	if err != nil {
		return err
	}
	all, rest := accept.ParseNotes(text)
	if len(all) == 0 {
		return &nexus.Error{
			Code: nexus.CodeNotFound, Message: "commit " + view.ShortHash(commit) + " has no git note with evidence",
			Hint: "Runs write notes when they publish. To get the notes of others: git fetch origin " + git.NotesRef + ":" + git.NotesRef + ".",
		}
	}
	t := view.CommitEvidence{Commit: commit, Tree: tree, Notes: all, Text: rest}
	if err := a.Answer(t, func(s view.OutputStyle) string { return view.DrawCommitEvidence(s, t) }); err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(n accept.CommitEvidenceNote) bool { return n.Tree != tree }) {
		return console.ExitError(console.CodeFailed)
	}
	return nil
}
