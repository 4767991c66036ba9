package checkcmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/secret/leak"
)

// searchesSecrets reports whether the secrets gate is requested. gates.secrets = false turns it off; a command
// there runs beside it.
func (f Options) searchesSecrets(c config.GateSettings) bool {
	command, set := c.Commands[nexus.SecretsGate]
	return (!set || command != "") && (len(f.Gates) == 0 || slices.Contains(f.Gates, nexus.SecretsGate))
}

// addSecretFindings appends the secrets that the change adds. Without a base, the change is what is not
// committed, and what the branch has beyond the branch that it came from; see [changeStart]. Evidence of no
// secrets is added only if nothing else has the gate's name and it is requested by that: it would be the pass
// of a tree that nothing else judged.
func addSecretFindings(ctx context.Context, f Options, c config.GateSettings, dir string, look treeSnapshot, all []nexus.GateEvidence) ([]nexus.GateEvidence, error) {
	if !f.searchesSecrets(c) {
		return all, nil
	}
	named := len(f.Gates) > 0 && c.Commands[nexus.SecretsGate] == ""
	if look.stored == nil {
		look = snapshotTree(ctx, dir)
		defer look.close()
	}
	if look.stored == nil {
		if named {
			all = append(all, nexus.GateEvidence{Gate: nexus.SecretsGate, Command: leak.GateCommand, State: nexus.NotRun, Tree: workingTree, Why: "only changes in a git repository with a commit are searched"})
		}
		return all, nil
	}
	base, err := f.secretsBase(ctx, look.repo)
	if err != nil {
		return nil, err
	}
	patch, whole, err := look.stored.Repo.Patch(ctx, base, look.hash)
	if err != nil {
		return nil, fmt.Errorf("look for secrets: %w", err)
	}
	found, err := new(leak.SecretLeakFinder).FindAdded(ctx, patch)
	if err != nil {
		return nil, fmt.Errorf("look for secrets: %w", err)
	}
	e, red := leak.JudgeLeaks(found, whole || f.Base == "" && !named, look.hash)
	if !red && !named {
		return all, nil
	}
	if !red {
		e.State, e.Exit = nexus.Pass, 0
	}
	return append(all, e), nil
}

// secretsBase returns the commit or tree before the change that is searched.
func (f Options) secretsBase(ctx context.Context, repo git.Repo) (string, error) {
	if f.Base != "" {
		return repo.Resolve(ctx, f.Base)
	}
	return changeStart(ctx, repo)
}

// changeStart returns the commit at which the checked-out branch left its upstream, or the default branch of
// the repository. If it has nothing beyond these, the last commit is the change, and the result is its parent:
// the target branch for the merge that CI checks out for a pull request. In a shallow clone without that
// parent, only what is not committed is the change; a first commit adds all of its tree.
func changeStart(ctx context.Context, repo git.Repo) (string, error) {
	head, err := repo.Resolve(ctx, "HEAD")
	if err != nil {
		return "", err
	}
	for _, of := range []string{"@{upstream}", "refs/remotes/origin/HEAD", "refs/heads/main", "refs/heads/master"} {
		other, err := repo.Resolve(ctx, of)
		if err != nil {
			continue // there is no such branch
		}
		fork, err := repo.MergeBase(ctx, head, other)
		if err != nil {
			return "", err
		}
		if fork != "" && fork != head {
			return fork, nil
		}
	}
	if parent, err := repo.Resolve(ctx, "HEAD~1"); err == nil {
		return parent, nil
	}
	shallow, err := repo.RunLine(ctx, "rev-parse", "--is-shallow-repository")
	if err != nil || strings.TrimSpace(shallow) == "true" {
		return head, err
	}
	return repo.RunLine(ctx, "hash-object", "-t", "tree", "/dev/null") // the empty tree, in the repository's format
}
