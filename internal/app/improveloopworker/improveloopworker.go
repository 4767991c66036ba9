// Package improveloopworker executes the decisions of an improvement loop on this machine: it finds
// work, runs and lands it, reverts landings, and watches for events.
package improveloopworker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/decide/discoveredwork"
	"github.com/nexus-ai-builder/nexus/internal/decide/improveloop"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/forge"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/work/changeeffects"
	"github.com/nexus-ai-builder/nexus/internal/work/discover"
)

// Options configure a WakingLoopExecutor.
type Options struct {
	Quiet   improveloop.WeeklyHours
	Due     func(after time.Time) time.Time // start of the next cycle; nil: there is no schedule
	Seed    string                          // for names and waits; empty draws at random
	Traffic provider.TrafficRecordingOptions

	Forge  *forge.IssueRef // the project in which pull requests are opened; nil: none are
	Client forge.Client

	// Find searches a commit for work.
	Find func(ctx context.Context, q FindingSearchRequest) (discover.Result, error)
	// Judge returns the gates that fail on a commit.
	Judge func(ctx context.Context, at string) (red []string, err error)
	// Follow returns the watcher of an item's run; nil: none.
	Follow func() app.RunWatcher
}

// FindingSearchRequest describes a search.
type FindingSearchRequest struct {
	At         string   // commit or branch
	Only       string   // the only finding to search for; empty: all
	Strategies []string // that search
	Most       nexus.Money
	Tell       run.LoopRecordFunc // records the cost of models, as it is paid; nil: it is not recorded
}

// LocalLoopExecutor executes a loop's decisions on this machine. It implements [run.LoopIntentExecutor].
type LocalLoopExecutor struct {
	app    *app.App
	place  *app.Repository
	config config.Config
	order  Options
}

// NewLoopExecutor returns the worker of a loop.
func NewLoopExecutor(a *app.App, p *app.Repository, c config.Config, o Options) *LocalLoopExecutor {
	return &LocalLoopExecutor{app: a, place: p, config: c, order: o}
}

// DecisionInputs implements [run.LoopIntentExecutor].
func (h *LocalLoopExecutor) DecisionInputs() improveloop.LoopDecisionInputs {
	return improveloop.LoopDecisionInputs{Now: h.app.Now(), Quiet: h.order.Quiet, Due: h.order.Due}
}

// TimerAt implements [run.LoopIntentExecutor].
func (h *LocalLoopExecutor) TimerAt(t time.Time) <-chan time.Time {
	return time.After(t.Sub(h.app.Now()))
}

// ExecuteIntent implements [run.LoopIntentExecutor].
func (h *LocalLoopExecutor) ExecuteIntent(ctx context.Context, intent nexus.Fact, l *improveloop.ImproveLoop, tell run.LoopRecordFunc) ([]nexus.Fact, error) {
	switch f := intent.(type) {
	case nexus.ImproveCycleStarted:
		return h.findWork(ctx, f, l, tell)
	case nexus.LoopItemWorkStarted:
		return h.workOnItem(ctx, f)
	case nexus.LoopItemLandingStarted:
		return h.landItem(ctx, f, l)
	case nexus.CheckAfterLandingStarted:
		return h.compareLanding(ctx, f, l)
	case nexus.LoopItemRevertStarted:
		return h.revertLanding(ctx, f, l)
	case nexus.PullRequestUpdateStarted:
		return h.updatePullRequest(ctx, f, l)
	default:
		return nil, fmt.Errorf("no worker does %s", nexus.FactKind(intent))
	}
}

// Limits for the recorded facts of a cycle.
const (
	mostWanted = 20
	mostLeft   = 50
)

// findWork reads the decisions of people about results, and searches the newest tip for work.
func (h *LocalLoopExecutor) findWork(ctx context.Context, f nexus.ImproveCycleStarted, l *improveloop.ImproveLoop, tell run.LoopRecordFunc) ([]nexus.Fact, error) {
	tip, err := h.place.Repo.Resolve(ctx, "refs/heads/"+l.Target)
	if err != nil {
		return nil, err
	}
	facts, notes := h.readClosedPullRequests(ctx, l)
	for _, f := range facts {
		l.Apply(nexus.Event{Run: l.Run, At: h.app.Now(), Fact: f})
	}
	settled, err := h.settleResults(ctx, tip, l)
	if err != nil {
		return nil, err
	}
	facts = append(facts, settled...)
	looked := nexus.ImproveCycleSearched{Cycle: f.Cycle, Tip: tip, Notes: notes}
	if l.HasNoFreeSlot() {
		return append(facts, looked), nil
	}
	look := FindingSearchRequest{At: tip, Strategies: l.Rules.Strategies, Most: l.RemainingMoney(), Tell: tell}
	if look.Most == 0 { // the budget was lowered since the cycle began
		if look.Strategies, err = discover.FreeStrategies(look.Strategies); err != nil || len(look.Strategies) == 0 {
			return append(facts, looked), err
		}
	}
	r, err := h.order.Find(ctx, look)
	if err != nil {
		return nil, err
	}
	looked.Spent = r.Spent
	for _, d := range r.Did {
		if d.State == discover.Broke {
			looked.Notes = append(looked.Notes, d.Strategy+": "+d.Why)
		}
	}
	s := &findingsTreeSnapshot{LocalLoopExecutor: h, tip: tip, renewed: map[string]string{}}
	for _, one := range r.Open {
		x, left, err := s.checkFinding(ctx, one.WorkFinding, l)
		switch {
		case err != nil:
			return nil, err
		case left.Rule != "":
			looked.Left = append(looked.Left, left)
		case len(looked.Wanted) == mostWanted:
			looked.More++
		default:
			if x.Plan, err = h.storePlan(one.WorkFinding); err != nil {
				looked.Left = append(looked.Left, newOmittedFinding(x, improveloop.TooLarge, err.Error()))
				continue
			}
			looked.Wanted = append(looked.Wanted, x)
		}
	}
	for _, one := range r.Left {
		if one.Rule != discoveredwork.NoFinding {
			looked.Left = append(looked.Left, nexus.OmittedWorkFinding{Finding: one.ID, Title: one.Title, Rule: string(one.Rule), Why: one.ReasonText()})
		}
	}
	looked.Left = looked.Left[:min(len(looked.Left), mostLeft)]
	return append(facts, looked), nil
}

func newOmittedFinding(x nexus.CandidateWorkItem, rule improveloop.ItemSkipRule, why string) nexus.OmittedWorkFinding {
	return nexus.OmittedWorkFinding{Finding: x.Finding, Title: x.Title, Rule: string(rule), Why: why}
}

// settleResults reads the decisions of people about the waiting results, and updates the loop,
// too.
func (h *LocalLoopExecutor) settleResults(ctx context.Context, tip string, l *improveloop.ImproveLoop) ([]nexus.Fact, error) {
	var facts []nexus.Fact
	for _, i := range l.ItemsWaitingForPerson() {
		branch, commit := i.ResultBranch(), i.Commit
		if i.Result != improveloop.DoneLanded {
			commit = i.Work.Commit
		}
		how, there, err := h.resultOutcome(ctx, l, i, branch, commit, tip)
		if err != nil {
			return nil, err
		}
		if how == "" {
			continue
		}
		f := nexus.WaitingResultDecided{Item: i.ID, How: how, Left: there}
		facts = append(facts, f)
		l.Apply(nexus.Event{Run: l.Run, At: h.app.Now(), Fact: f})
	}
	return facts, nil
}

// resultOutcome returns the decision of people about a result on a branch, "" while it waits.
// Left is true if the branch still exists although they merged its content in another form,
// such as one commit for all.
func (h *LocalLoopExecutor) resultOutcome(ctx context.Context, l *improveloop.ImproveLoop, i *improveloop.LoopItem, branch, commit, tip string) (how string, left bool, err error) {
	if merged, err := h.isAncestor(ctx, commit, tip); err != nil || merged {
		return nexus.ResultMerged, false, err
	}
	if branch == "" {
		return "", false, nil
	}
	if left, err = h.hasRevision(ctx, "refs/heads/"+branch); err != nil {
		return "", false, err
	}
	if left {
		if i.Base != l.Target && !strings.HasPrefix(i.Base, nexus.Theme) {
			return "", false, nil // it is about another branch
		}
		if changed, err := h.hasChanged(ctx, i.Work.Start, tip, i.Work.Change.Files); err != nil || !changed {
			return "", false, err
		}
	}
	if !discover.IsPaidStrategy(i.Wanted.Strategy) { // the same opinion is not paid for twice
		r, err := h.order.Find(ctx, FindingSearchRequest{At: tip, Only: i.Wanted.Finding, Strategies: []string{i.Wanted.Strategy}})
		if err != nil {
			return "", false, err
		}
		if r.IsFindingDone(i.Wanted.Finding, i.Wanted.Strategy) {
			return nexus.ResultMerged, left, nil
		}
	}
	if left {
		return "", false, nil
	}
	return nexus.ResultRejected, false, nil
}

// hasChanged reports whether one of some files differs between the tip and the start of the
// work.
func (h *LocalLoopExecutor) hasChanged(ctx context.Context, since, tip string, files []string) (bool, error) {
	if there, err := h.hasRevision(ctx, since); err != nil || !there || since == "" {
		return false, err
	}
	all, err := h.place.Repo.ChangedFiles(ctx, since, tip)
	return slices.ContainsFunc(all, func(c git.ChangedTreeFile) bool { return slices.Contains(files, c.Path) }), err
}

// isAncestor reports whether one commit is an ancestor of another in the user's repository.
func (h *LocalLoopExecutor) isAncestor(ctx context.Context, commit, tip string) (bool, error) {
	if commit == "" {
		return false, nil
	}
	if there, err := h.hasRevision(ctx, commit); err != nil || !there {
		return false, err
	}
	_, err := h.place.Repo.Run(ctx, "merge-base", "--is-ancestor", "--end-of-options", commit, tip)
	if x, ok := errors.AsType[*git.ExitError](err); ok && x.Status == 1 {
		return false, nil
	}
	return err == nil, err
}

// hasRevision reports whether the user's repository has a commit or a ref.
func (h *LocalLoopExecutor) hasRevision(ctx context.Context, rev string) (bool, error) {
	_, err := h.place.Repo.Resolve(ctx, rev)
	if e, ok := errors.AsType[*git.ExitError](err); ok && e.Status != 1 {
		return false, err
	}
	if errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
		return false, nil
	}
	return err == nil, err
}

// findingsTreeSnapshot is the tree that findings are about.
type findingsTreeSnapshot struct {
	*LocalLoopExecutor

	tip     string
	blobs   map[string]string
	marks   map[string][]string // the marks of a file's lines, for a strategy
	renewed map[string]string   // branches that could not get the newest commits, with the reason
}

// checkFinding returns the description of a finding, and the rule that excludes it; none if it
// may be worked on.
func (s *findingsTreeSnapshot) checkFinding(ctx context.Context, f discoveredwork.WorkFinding, l *improveloop.ImproveLoop) (nexus.CandidateWorkItem, nexus.OmittedWorkFinding, error) {
	x, err := s.describeFinding(ctx, f)
	if err != nil {
		return x, nexus.OmittedWorkFinding{}, err
	}
	if f.Kind == discoveredwork.Deps {
		return x, newOmittedFinding(x, improveloop.Dependencies, "a change of dependencies is left to a person"), nil
	}
	if rule, why := l.BlockingRule(x, s.app.Now()); rule != "" {
		return x, newOmittedFinding(x, rule, why), nil
	}
	base := l.BaseBranch(x.Strategy)
	why, tried := s.renewed[base]
	if base != l.Target && !tried {
		if why, err = s.updateBranch(ctx, base, s.tip, l); err != nil {
			return x, nexus.OmittedWorkFinding{}, err
		}
		s.renewed[base] = why
	}
	if why != "" {
		return x, newOmittedFinding(x, improveloop.Behind, why), nil
	}
	return x, nexus.OmittedWorkFinding{}, nil
}

// describeFinding returns the loop's description of a finding.
func (s *findingsTreeSnapshot) describeFinding(ctx context.Context, f discoveredwork.WorkFinding) (nexus.CandidateWorkItem, error) {
	x := nexus.CandidateWorkItem{Finding: f.ID, Strategy: f.Strategy, Title: f.Title, Files: f.FilePaths()}
	if s.blobs == nil {
		out, err := s.place.Repo.Run(ctx, "ls-tree", "-r", "-z", "--full-tree", "--end-of-options", s.tip)
		if err != nil {
			return x, err
		}
		s.blobs, s.marks = map[string]string{}, map[string][]string{}
		for line := range strings.SplitSeq(out, "\x00") {
			if meta, name, ok := strings.Cut(line, "\t"); ok {
				s.blobs[name] = meta
			}
		}
	}
	sum := sha256.New()
	for _, file := range x.Files {
		_, _ = fmt.Fprintf(sum, "%s %s\n", s.blobs[file], file) // a hash accepts all
	}
	x.Mark = hex.EncodeToString(sum.Sum(nil)[:8])
	for _, at := range f.Places[:min(len(f.Places), 50)] {
		if at.Line == 0 {
			continue
		}
		marks, err := s.lineMarks(ctx, f.Strategy, at.File)
		if err != nil {
			return x, err
		}
		if at.Line <= len(marks) && marks[at.Line-1] != "" {
			x.Lines = append(x.Lines, marks[at.Line-1])
		}
	}
	return x, nil
}

// lineMarks returns the marks of the lines of a file.
func (s *findingsTreeSnapshot) lineMarks(ctx context.Context, strategy, file string) ([]string, error) {
	key := strategy + "\x00" + file
	if all, ok := s.marks[key]; ok {
		return all, nil
	}
	text, err := changeeffects.FileTextAt(ctx, s.place.Repo, s.tip, file)
	if err != nil || text == nil {
		return nil, err
	}
	s.marks[key] = changeeffects.LineMarks(strategy, file, *text)
	return s.marks[key], nil
}

// workOnItem works on an item in a run of its own. It resumes the run of a dead process; of a
// run that ended it only reports the result.
func (h *LocalLoopExecutor) workOnItem(ctx context.Context, f nexus.LoopItemWorkStarted) ([]nexus.Fact, error) {
	s, err := h.executeItemRun(ctx, f)
	stopped := errors.Is(context.Cause(ctx), run.ErrStopped)
	if ctx.Err() != nil && !stopped {
		return nil, context.Cause(ctx)
	}
	if s == nil {
		return nil, err
	}
	if stopped && !s.Status.HasEnded() {
		if s, err = h.app.StopRun(context.WithoutCancel(ctx), h.place, f.Item, "the loop was stopped", nil); err != nil {
			return nil, err
		}
	}
	w := nexus.LoopItemWorkEnded{Item: f.Item, Status: s.Status, Spent: s.Ledger.SpentMoney(), Start: s.Goal.Base, Why: s.Why}
	if err != nil {
		w.Status, w.Why = nexus.StatusFailed, err.Error()
	}
	if s.Published != nil {
		w.Branch = s.Published.Branch
	}
	if err != nil || s.Status != nexus.StatusDone || w.Branch == "" || len(s.Landings) == 0 {
		w.Why = failureReason(s, w.Why)
		w.Outside, w.Again = externalFailure(s, err, h.app.Now())
		return []nexus.Fact{w}, nil
	}
	w.Commit = s.Published.Commit
	w.Change, err = changeeffects.SummarizeChange(ctx, h.place.Repo, w.Start, w.Commit, f.Wanted.Strategy)
	return []nexus.Fact{w}, err
}

// externalFailure reports whether a run failed for a reason unrelated to its work, and from
// when on it may succeed, if that is known.
func externalFailure(s *state.State, err error, now time.Time) (is bool, again time.Time) {
	if c := s.OverCap; c != nil && c.Cap == "day" {
		return true, now.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1)
	}
	halted := s.Drain != nil && s.Drain.Code != "" // an error ended it, such as that of a wrong key
	return err != nil || halted || s.FailedOnlyByMachine(), time.Time{}
}

// failureReason returns why a run failed.
func failureReason(s *state.State, why string) string {
	for _, t := range s.Tasks {
		if t.Why != "" && t.Status != nexus.Landed {
			return t.Why
		}
	}
	if why == "" {
		why = fmt.Sprintf("run %s is %s", s.Run, s.Status)
	}
	return why
}

// executeItemRun executes the run of an item to its end.
func (h *LocalLoopExecutor) executeItemRun(ctx context.Context, f nexus.LoopItemWorkStarted) (*state.State, error) {
	o := app.RunOptions{Headless: true, Seed: h.itemSeed(f.Item), Traffic: h.order.Traffic}
	there, err := h.hasRun(ctx, f.Item)
	if err != nil {
		return nil, err
	}
	if there {
		s, err := h.place.Replay(ctx, f.Item)
		if err != nil || s.Status.HasEnded() {
			return s, err
		}
		o.Run = f.Item
	} else {
		o.Name, o.Goal = f.Item, nexus.Goal{Text: f.Wanted.Title, Mode: nexus.Quick}
		if o.Plan, err = h.loadPlan(f.Wanted.Plan); err != nil {
			return nil, err
		}
	}
	c := h.config
	c.Target, c.Land, c.StatusFile = f.Base, false, ""
	c.Limits.RunMoney = f.Reserved
	if c.Limits.Approval == nexus.ApproveCommits { // publishing waits for a person there
		c.Limits.Approval = nexus.ApproveDestructive
	}
	var w app.RunWatcher
	if h.order.Follow != nil {
		w = h.order.Follow()
	}
	return h.app.ConductRun(ctx, h.place, c, &o, w)
}

// itemSeed returns the same seed for an item each time.
func (h *LocalLoopExecutor) itemSeed(item nexus.RunID) string {
	if h.order.Seed == "" {
		return ""
	}
	return h.order.Seed + string(item[strings.LastIndexByte(string(item), '-'):])
}

// hasRun reports whether a run has begun.
func (h *LocalLoopExecutor) hasRun(ctx context.Context, id nexus.RunID) (bool, error) {
	all, err := h.place.Runs(ctx)
	return slices.ContainsFunc(all, func(r journal.RecordedRun) bool { return r.ID == id }), err
}
