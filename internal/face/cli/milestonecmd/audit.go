package milestonecmd

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/check"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/speccmd"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/disk"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/roadmap"
)

// auditFacts returns the facts that milestones are audited against, except the results of their
// checks. The commit is one of the branch, or its last one.
func (r *repoRoadmap) auditFacts(ctx context.Context, settings config.Config, at string) (roadmap.AuditFacts, error) {
	k := roadmap.AuditFacts{Tags: map[string]string{}, Evidence: map[string]nexus.Evidence{}}
	var err error
	if k.Branch, k.Commit, err = r.branchTip(ctx, settings); err != nil {
		return k, err
	}
	k.Commit = cmp.Or(at, k.Commit)
	if k.Specs, err = r.readSpecs(); err != nil {
		return k, err
	}
	for _, m := range r.Milestones {
		if m.Closed == nil {
			continue
		}
		if t, there, err := git.ReadTag(ctx, r.place.Repo, m.Closed.Tag); err != nil {
			return k, err
		} else if there {
			k.Tags[m.Closed.Tag] = t.Commit
		}
	}
	lands, err := r.landedPredicate(ctx, k.Commit)
	if err != nil {
		return k, err
	}
	k.Past, err = speccmd.PastRuns(ctx, r.place, lands)
	return k, err
}

// branchTip returns the branch on which milestones are reached, and its last commit.
func (r *repoRoadmap) branchTip(ctx context.Context, settings config.Config) (branch, commit string, err error) {
	if settings.Target == "" {
		if commit, branch, err = r.place.Repo.Head(ctx); err == nil && branch == "" {
			err = &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "no branch is checked out", Hint: "Name the branch that milestones are compared with: --target.",
			}
		}
		return branch, commit, err
	}
	if branch, err = r.place.ResolveTarget(ctx, nil, settings.Target); err != nil {
		return "", "", err
	}
	commit, err = r.place.Repo.Resolve(ctx, "refs/heads/"+branch)
	return branch, commit, err
}

// maxHistory limits the commits whose trees are compared with a run's tree.
const maxHistory = 1_000

// landedPredicate returns a function that reports whether a commit contains a run's landed changes: its
// commits or, after a squash, its tree. Changes that were reverted since do not count.
func (r *repoRoadmap) landedPredicate(ctx context.Context, commit string) (func(*state.State) bool, error) {
	out, err := r.place.Repo.Run(ctx, "log", "--format=%T", fmt.Sprintf("--max-count=%d", maxHistory), "--end-of-options", commit)
	if err != nil {
		return nil, err
	}
	trees := strings.Fields(out)
	reverted, err := r.revertedCommits(ctx, commit)
	if err != nil {
		return nil, err
	}
	return func(s *state.State) bool {
		if len(s.Landings) == 0 || slices.ContainsFunc(s.Landings, func(l *state.Landing) bool { return reverted[l.Commit] }) {
			return false
		}
		if s.Result != nil && slices.Contains(trees, s.Result.Verdict.Tree) {
			return true
		}
		_, err := r.place.Repo.Run(ctx, "merge-base", "--is-ancestor", s.Tip, commit)
		return err == nil // a missing commit is not part of it
	}, nil
}

// revert matches the commit in the message of git revert.
var revert = regexp.MustCompile(`(?m)^This reverts commit ([0-9a-f]{40,64})`)

// revertedCommits returns the commits that later commits revert, according to the messages of git
// revert, unless the revert was reverted in turn.
func (r *repoRoadmap) revertedCommits(ctx context.Context, commit string) (map[string]bool, error) {
	out, err := r.place.Repo.Run(ctx, "log", "-z", "--format=%H%n%B", "--grep=^This reverts commit ",
		fmt.Sprintf("--max-count=%d", maxHistory), "--end-of-options", commit)
	if err != nil {
		return nil, err
	}
	all := map[string]bool{}
	for text := range strings.SplitSeq(out, "\x00") { // the newest first
		by, body, _ := strings.Cut(text, "\n")
		if all[by] {
			continue
		}
		for _, m := range revert.FindAllStringSubmatch(body, -1) {
			all[m[1]] = true
		}
	}
	return all, nil
}

// recordedChecks holds the last check results of a milestone, with their commit. It saves time and decides
// nothing: it does not apply to any other commit.
type recordedChecks struct {
	Commit   string                    `json:"commit"`
	Evidence map[string]nexus.Evidence `json:"evidence"`
}

func (r *repoRoadmap) recordedChecksFile() string {
	return filepath.Join(r.place.State, "milestones.json")
}

// readRecordedChecks returns the last check results of milestones.
func (r *repoRoadmap) readRecordedChecks() map[string]recordedChecks {
	all := map[string]recordedChecks{}
	data, err := os.ReadFile(r.recordedChecksFile())
	if err != nil || json.Unmarshal(data, &all) != nil {
		return map[string]recordedChecks{} // they run again
	}
	return all
}

// recordChecks stores the check results of a milestone. If that fails, the checks run again.
func (r *repoRoadmap) recordChecks(ctx context.Context, name string, t recordedChecks) {
	for check, e := range t.Evidence {
		e.Findings, e.Old = e.Findings[:min(len(e.Findings), 1)], nil
		t.Evidence[check] = e
	}
	_ = disk.WithLock(ctx, filepath.Join(r.place.State, "roadmap.lock"), func(context.Context) error {
		all := r.readRecordedChecks()
		maps.DeleteFunc(all, func(name string, _ recordedChecks) bool { return r.Find(name) < 0 })
		all[name] = t
		data, err := json.Marshal(all)
		if err != nil {
			return err
		}
		return disk.ReplaceFile(r.recordedChecksFile(), data)
	})
}

// auditMilestone audits one milestone against a commit of the branch, or its last one. The checks run on a
// clean checkout of it.
func (r *repoRoadmap) auditMilestone(
	ctx context.Context, a *console.Console, settings config.Config, i int, at string,
) (roadmap.MilestoneAudit, roadmap.AuditFacts, error) {
	m := r.Milestones[i]
	k, err := r.auditFacts(ctx, settings, at)
	if err != nil {
		return roadmap.MilestoneAudit{}, k, err
	}
	var checks []string
	for _, c := range m.Criteria {
		if c.Check != "" && m.Closed == nil {
			checks = append(checks, c.Check)
		}
	}
	if k.Evidence, err = check.RunCriteriaChecks(ctx, a, r.place, settings, k.Commit, checks); err != nil {
		return roadmap.MilestoneAudit{}, k, err
	}
	if len(checks) > 0 {
		r.recordChecks(ctx, m.Name, recordedChecks{k.Commit, maps.Clone(k.Evidence)})
	}
	return roadmap.AuditMilestone(m, k), k, nil
}

func auditCommand(a *console.Console) *cobra.Command {
	const short = "run the checks of a milestone, and list its gaps"
	c := a.Command("audit NAME [--target BRANCH] [--json]", short, func(ctx context.Context, args []string) error {
		got, _, err := auditNamed(ctx, a, args[0])
		if err != nil {
			return err
		}
		return printAudit(a, got)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodePartial, console.CodeInterrupted)
	c.Args = console.ArgCount(1, 1)
	a.JSONFlag(c)
	a.SettingFlags(c, "sandbox", "target")
	return c
}

// auditNamed audits the milestone with that name.
func auditNamed(ctx context.Context, a *console.Console, name string) (roadmap.MilestoneAudit, roadmap.AuditFacts, error) {
	settings, _, err := a.LoadSettings()
	if err != nil {
		return roadmap.MilestoneAudit{}, roadmap.AuditFacts{}, err
	}
	r, err := openRoadmap(ctx, a)
	if err != nil {
		return roadmap.MilestoneAudit{}, roadmap.AuditFacts{}, err
	}
	defer r.place.Close()
	i, err := r.findMilestone(name)
	if err != nil {
		return roadmap.MilestoneAudit{}, roadmap.AuditFacts{}, err
	}
	return r.auditMilestone(ctx, a, settings, i, "")
}

// printAudit prints an audit, and returns the exit code for its gaps.
func printAudit(a *console.Console, got roadmap.MilestoneAudit) error {
	if err := a.Answer(got, func(s view.Style) string { return drawAudit(s, got) }); err != nil {
		return err
	}
	if len(got.Gaps) > 0 {
		return console.ExitError(console.CodePartial)
	}
	return nil
}
