package improveloopworker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/discoveredwork"
	"github.com/nexus-ai-builder/nexus/internal/decide/improveloop"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/discover"
	"github.com/nexus-ai-builder/nexus/internal/work/land"
)

// landItem lands a result, unless people changed the same meanwhile.
func (h *LocalLoopExecutor) landItem(ctx context.Context, f nexus.LoopItemLandingStarted, l *improveloop.ImproveLoop) ([]nexus.Fact, error) {
	i := l.ItemByID(f.Item)
	s, err := h.place.Replay(ctx, f.Item)
	if err != nil {
		return nil, err
	}
	kept := func(rule improveloop.ItemSkipRule, why string) []nexus.Fact {
		return []nexus.Fact{nexus.LoopItemLandingConfirmed{Item: f.Item, Rule: string(rule), Why: why, Spent: max(s.Ledger.SpentMoney()-i.Work.Spent, 0)}}
	}
	if s.Published == nil || s.Published.Target != f.Target {
		if rule, why, err := h.landingConflict(ctx, i, f.Target, l); err != nil || rule != "" {
			return kept(rule, why), err
		}
		if err := h.prepareThemeBranch(ctx, f.Target, l); err != nil {
			return nil, err
		}
		if s, err = h.deliverRun(ctx, s, f.Target); err != nil {
			return nil, err
		}
	}
	if s.Published == nil || s.Published.Target != f.Target {
		why := "it could not be merged"
		if s.Published != nil {
			why = cmp.Or(s.Published.Why, why)
		}
		return kept(improveloop.Unlanded, why), nil
	}
	landed := nexus.LoopItemLanded{
		Item: f.Item, Target: f.Target, Commit: s.Published.Commit, Before: i.Work.Start, Spent: max(s.Ledger.SpentMoney()-i.Work.Spent, 0),
	}
	if s.Published.Merged != "" {
		landed.Commit = s.Published.Merged
		if landed.Before, err = h.place.Repo.Resolve(ctx, landed.Commit+"^1"); err != nil {
			return nil, err
		}
	}
	return []nexus.Fact{landed}, nil
}

// deliverRun requests the delivery of a run's landed work to a branch, once, and executes it.
func (h *LocalLoopExecutor) deliverRun(ctx context.Context, s *state.State, target string) (*state.State, error) {
	asked := slices.ContainsFunc(s.Requests, func(r state.PendingRequest) bool { return r.Verb == nexus.VerbLand && r.ID == target })
	if !asked {
		if _, err := h.place.Journal.Ask(ctx, s.Run, nexus.Request{Verb: nexus.VerbLand, ID: target, By: h.app.UserName()}); err != nil {
			return nil, err
		}
	}
	return h.app.DeliverRun(ctx, h.place, s.Run, nil)
}

// prepareThemeBranch creates the branch of a theme on the newest tip, or moves it there if no
// result on it waits for a person any more. A checkout of the branch is updated, too.
func (h *LocalLoopExecutor) prepareThemeBranch(ctx context.Context, branch string, l *improveloop.ImproveLoop) (err error) {
	if branch == l.Target {
		return nil
	}
	ref := "refs/heads/" + branch
	tip, err := h.place.Repo.Resolve(ctx, "refs/heads/"+l.Target)
	if err != nil {
		return err
	}
	at, err := h.place.Repo.Resolve(ctx, ref)
	if errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
		_, err = h.place.Repo.Run(ctx, "update-ref", "--no-deref", "--end-of-options", ref, tip, strings.Repeat("0", len(tip)))
		return err
	}
	if err != nil {
		return err
	}
	if behind, err := h.isAncestor(ctx, at, tip); err != nil || !behind || at == tip {
		return err
	}
	trees, err := worktree.OpenStore(ctx, h.place.Repo, h.place.State)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, trees.Close()) }()
	if _, err := trees.Fetch(ctx, tip); err != nil {
		return err
	}
	return trees.LandOnUserBranch(ctx, branch, tip, at)
}

// updateBranch merges the newest commits of the target into a branch with waiting results, so
// that findings on the tip are fixed there, too. If the merge has conflicts, or gates fail on
// it that pass on the tip, nothing moves, and it returns why: a person must decide about the
// waiting results. A checkout of the branch is updated, too.
func (h *LocalLoopExecutor) updateBranch(ctx context.Context, branch, tip string, l *improveloop.ImproveLoop) (why string, err error) {
	at, err := h.place.Repo.Resolve(ctx, "refs/heads/"+branch)
	if err != nil {
		return "", err
	}
	if has, err := h.isAncestor(ctx, tip, at); err != nil || has {
		return "", err
	}
	trees, err := worktree.OpenStore(ctx, h.place.Repo, h.place.State)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, trees.Close()) }()
	for _, commit := range []string{at, tip} {
		if _, err := trees.Fetch(ctx, commit); err != nil {
			return "", err
		}
	}
	const settle = "merge it, or delete it to reject the work"
	base, err := trees.PrivateRepo().MergeBase(ctx, at, tip)
	if err != nil {
		return "", err
	}
	if base == "" {
		return fmt.Sprintf("results wait on %s, which no longer has a commit in common with %s: %s", branch, l.Target, settle), nil
	}
	made, err := trees.Merge(ctx, base, at, tip)
	if err != nil {
		return "", err
	}
	if len(made.Conflicts) > 0 {
		files := strings.Join(made.Conflicts, ", ")
		return fmt.Sprintf("results wait on %s, which conflicts with %s in %s: %s", branch, l.Target, files, settle), nil
	}
	commit, err := trees.Commit(ctx, made.Tree, []string{at, tip}, fmt.Sprintf("Merge %s into %s\n", l.Target, branch), h.app.Now())
	if err != nil {
		return "", err
	}
	red, err := h.newlyRedGates(ctx, commit, tip)
	if err != nil {
		return "", err
	}
	if len(red) == 0 {
		err = trees.LandOnUserBranch(ctx, branch, commit, at)
		if e, ok := errors.AsType[*nexus.Error](err); ok { // such as files of a checkout with changes
			return fmt.Sprintf("results wait on %s, which cannot get the newest commits of %s: %s", branch, l.Target, e.Message), nil
		}
		return "", err
	}
	gates := strings.Join(red, ", ")
	return fmt.Sprintf("results wait on %s, and with the newest commits of %s, %s fails there: %s", branch, l.Target, gates, settle), nil
}

// newlyRedGates returns the gates that pass on one commit and not on the other.
func (h *LocalLoopExecutor) newlyRedGates(ctx context.Context, commit, than string) ([]string, error) {
	red, err := h.order.Judge(ctx, commit)
	if err != nil || len(red) == 0 {
		return nil, err
	}
	before, err := h.order.Judge(ctx, than)
	return slices.DeleteFunc(red, func(name string) bool { return slices.Contains(before, name) }), err
}

// landingConflict returns the rule that keeps a result from landing because of commits of
// others since it was begun.
func (h *LocalLoopExecutor) landingConflict(ctx context.Context, i *improveloop.LoopItem, target string, l *improveloop.ImproveLoop) (improveloop.ItemSkipRule, string, error) {
	branches := []string{l.Target}
	if target != l.Target {
		switch there, err := h.hasRevision(ctx, "refs/heads/"+target); {
		case err != nil:
			return "", "", err
		case there:
			branches = append(branches, target)
		}
	}
	for _, branch := range branches {
		theirs, err := h.nonLoopCommits(ctx, i.Work.Start, "refs/heads/"+branch, l)
		if err != nil {
			return "", "", err
		}
		for _, c := range theirs {
			for _, file := range c.files {
				if slices.Contains(i.Work.Change.Files, file) || slices.Contains(i.Wanted.Files, file) {
					return improveloop.Yielded, fmt.Sprintf("%s changed %s meanwhile, in %.9s", c.by, file, c.commit), nil
				}
			}
		}
		if len(theirs) == 0 || branch != l.Target || discover.IsPaidStrategy(i.Wanted.Strategy) {
			continue
		}
		r, err := h.order.Find(ctx, FindingSearchRequest{At: "refs/heads/" + branch, Only: i.Wanted.Finding, Strategies: []string{i.Wanted.Strategy}})
		if err != nil {
			return "", "", err
		}
		if r.IsFindingDone(i.Wanted.Finding, i.Wanted.Strategy) {
			return improveloop.Fixed, "it is done already: its check passes on " + branch, nil
		}
	}
	return "", "", nil
}

// nonLoopCommit is a commit that no loop made.
type nonLoopCommit struct {
	commit, by string
	files      []string
}

// mostForeign is the number of commits of others that are read.
const mostForeign = 200

// nonLoopCommits returns the commits of others on a branch that are not in a commit's history.
func (h *LocalLoopExecutor) nonLoopCommits(ctx context.Context, since, branch string, l *improveloop.ImproveLoop) ([]nonLoopCommit, error) {
	return h.logNonLoopCommits(ctx, since, branch, l, "--no-merges")
}

// logNonLoopCommits is the same with options of git log.
func (h *LocalLoopExecutor) logNonLoopCommits(ctx context.Context, since, branch string, l *improveloop.ImproveLoop, options ...string) ([]nonLoopCommit, error) {
	const format = "--format=%x00%H%x00%an%x00%(trailers:key=Nexus-Attempt,valueonly)"
	args := append([]string{
		"log", "--no-show-signature", fmt.Sprintf("--max-count=%d", mostForeign), format, "--name-only", "--no-renames", "--no-relative", "-z",
	}, options...)
	out, err := h.place.Repo.Run(ctx, append(args, "--end-of-options", since+".."+branch)...)
	if err != nil {
		return nil, err
	}
	return parseNonLoopCommits(out, l), nil
}

// parseNonLoopCommits parses the output of git log: each commit is an empty text, its name, its author
// and its attempt, and then the names of its files, the first after an end of a line. Each text
// ends with a NUL.
func parseNonLoopCommits(out string, l *improveloop.ImproveLoop) []nonLoopCommit {
	var all []nonLoopCommit
	texts := strings.Split(out, "\x00")
	for len(texts) > 3 {
		c := nonLoopCommit{commit: texts[1], by: texts[2]}
		of, _, _ := strings.Cut(strings.TrimSpace(texts[3]), "/")
		for texts = texts[4:]; len(texts) > 0 && texts[0] != ""; texts = texts[1:] {
			file := texts[0]
			if c.files == nil {
				file = strings.TrimPrefix(file, "\n")
			}
			c.files = append(c.files, file)
		}
		if of == "" || !l.IsLoopItem(nexus.RunID(of)) {
			all = append(all, c)
		}
	}
	return all
}

// isDeterministic reports whether a strategy finds the same in the same tree, independent of
// all else. The list of test-coverage depends on the history: a landing that changes a file
// makes its untested lines count for more.
func isDeterministic(strategy string) bool {
	switch strategy {
	case "working-dir", "flaky-tests", "slow-tests", "test-coverage", "issues", "ideas", "benchmarks", "outdated":
		return false
	}
	return true
}

// compareLanding returns the regressions of a landing.
func (h *LocalLoopExecutor) compareLanding(ctx context.Context, f nexus.CheckAfterLandingStarted, l *improveloop.ImproveLoop) ([]nexus.Fact, error) {
	i := l.ItemByID(f.Item)
	free, err := discover.FreeStrategies(l.Rules.Strategies)
	if err != nil || len(free) == 0 {
		return []nexus.Fact{nexus.LandingCheckEnded{Item: f.Item}}, err
	}
	before, err := h.order.Find(ctx, FindingSearchRequest{At: i.Before, Strategies: free})
	if err != nil {
		return nil, err
	}
	after, err := h.order.Find(ctx, FindingSearchRequest{At: i.Commit, Strategies: free})
	if err != nil {
		return nil, err
	}
	blind := incompleteStrategies(before, after)
	return []nexus.Fact{nexus.LandingCheckEnded{Item: f.Item, Worse: improveloop.FindWorsenedFindings(failingFindings(before, blind), failingFindings(after, blind))}}, nil
}

// incompleteStrategies returns the strategies that did not list everything on one of two trees.
func incompleteStrategies(results ...discover.Result) map[string]bool {
	blind := map[string]bool{}
	for _, r := range results {
		for _, d := range r.Did {
			if d.State == discover.Broke || d.State == discover.Skipped || d.More > 0 {
				blind[d.Strategy] = true
			}
		}
	}
	return blind
}

// failingFindings returns the findings whose checks are red.
func failingFindings(r discover.Result, blind map[string]bool) []improveloop.FailingFinding {
	var all []improveloop.FailingFinding
	add := func(f discoveredwork.WorkFinding) {
		if f.IsRed() && f.No == "" && isDeterministic(f.Strategy) && !blind[f.Strategy] {
			all = append(all, improveloop.FailingFinding{Finding: f.ID, Strategy: f.Strategy, Title: f.Title, Count: max(f.Count, 1)})
		}
	}
	for _, f := range r.Open {
		add(f.WorkFinding)
	}
	for _, f := range r.Left {
		add(f.WorkFinding)
	}
	return all
}

// revertLanding reverts a landing.
func (h *LocalLoopExecutor) revertLanding(ctx context.Context, f nexus.LoopItemRevertStarted, l *improveloop.ImproveLoop) (facts []nexus.Fact, err error) {
	i := l.ItemByID(f.Item)
	trees, err := worktree.OpenStore(ctx, h.place.Repo, h.place.State)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, trees.Close()) }()
	commit, tree, at, done, err := land.MakeRevertCommit(ctx, trees, land.RevertRequest{
		Branch: i.Target, Before: i.Before, Commit: i.Commit, Subject: i.Wanted.Title, Why: "It made something worse: " + f.Why,
		Run: i.ID, At: h.app.Now(),
	})
	if err != nil {
		return nil, err
	}
	if !done {
		if err := h.checkRevert(ctx, commit, tree, at, i); err != nil {
			return nil, err
		}
		if err := trees.LandOnUserBranch(ctx, i.Target, commit, at); err != nil {
			return nil, err
		}
	}
	return []nexus.Fact{nexus.LoopItemReverted{Item: f.Item, Commit: commit}}, nil
}

// checkRevert returns an error for a revert that fails gates which pass without it. The tree
// from before the landing was good enough then.
func (h *LocalLoopExecutor) checkRevert(ctx context.Context, commit, tree, at string, i *improveloop.LoopItem) error {
	if was, err := h.place.Repo.TreeID(ctx, i.Before); err != nil || was == tree {
		return err
	}
	red, err := h.newlyRedGates(ctx, commit, at)
	if err != nil {
		return err
	}
	if len(red) > 0 {
		return fmt.Errorf("without it, %s would fail: later work relies on it", strings.Join(red, ", "))
	}
	return nil
}
