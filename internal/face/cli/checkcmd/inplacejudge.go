package checkcmd

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// InPlace returns a function that lets one gate judge the user's checkout as nexus check does,
// without output. It judges only a checkout that has a commit and no changes.
func InPlace(a *console.Console, repo git.Repo) func(ctx context.Context, commit, gate string) (nexus.GateEvidence, bool, error) {
	return func(ctx context.Context, commit, gate string) (none nexus.GateEvidence, ok bool, err error) {
		head, _, err := repo.Head(ctx)
		if err != nil || head != commit {
			return none, false, err
		}
		changes, err := git.FindUncommittedChanges(ctx, repo)
		if err != nil || !changes.IsEmpty() {
			return none, false, err
		}
		settings, _, err := a.LoadSettings()
		if err != nil {
			return none, false, err
		}
		gates, err := pickGates(repo.Work, settings.Gates, []string{gate})
		if err != nil || len(gates) == 0 {
			return none, false, err
		}
		quiet := a.Copy()
		quiet.Quiet = true
		got, err := judgeWorkingTree(ctx, quiet, Options{}, "text", repo.Work, settings, gates[:1])
		defer func() { got.looked.close() }()
		if err != nil || len(got.all) == 0 {
			return none, false, err
		}
		return got.all[0], true, nil
	}
}
