package improveloop

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// ThemePullRequest is the pull request of a theme's branch.
type ThemePullRequest struct {
	Branch string `json:"branch"`
	Number int    `json:"number,omitzero"` // 0: not opened yet
	Web    string `json:"web,omitzero"`
	Commit string `json:"commit,omitzero"` // commit on the forge
	Why    string `json:"why,omitzero"`    // why the forge is not up to date

	failed string        // commit whose push failed in this cycle
	shown  []nexus.RunID // items that its text lists as waiting
}

// OpenPullRequest returns the pull request of a branch that is open, or is to be opened, or nil.
func (l *ImproveLoop) OpenPullRequest(branch string) *ThemePullRequest {
	for _, p := range l.Pulls {
		if p.Branch == branch {
			return p
		}
	}
	return nil
}

// themeBranch returns the present branch for a strategy's results. A branch whose pull request
// people closed or merged belongs to them, as does one that they merged in another form and
// kept; the next branch has a number.
func (l *ImproveLoop) themeBranch(strategy string) string {
	if n := l.closed[nexus.Theme+strategy]; n > 0 {
		return fmt.Sprintf("%s%s-%d", nexus.Theme, strategy, n+1)
	}
	return nexus.Theme + strategy
}

// LandedItemsOn returns the items that wait for a person on a branch, in order.
func (l *ImproveLoop) LandedItemsOn(branch string) []*LoopItem {
	var all []*LoopItem
	for _, i := range l.ItemsWaitingForPerson() {
		if i.Target == branch && i.Result == DoneLanded {
			all = append(all, i)
		}
	}
	return all
}

// PullRequestEndedFacts returns the facts that follow when people end a pull request: it settles the
// results that it listed. Results that landed on the branch later were not seen, and still
// wait.
func (l *ImproveLoop) PullRequestEndedFacts(p *ThemePullRequest, how string) []nexus.Fact {
	var all []nexus.Fact
	for _, i := range l.LandedItemsOn(p.Branch) {
		if slices.Contains(p.shown, i.ID) {
			all = append(all, nexus.WaitingResultDecided{Item: i.ID, How: how})
		}
	}
	return append(all, nexus.PullRequestClosed{Branch: p.Branch, Number: p.Number, How: how})
}

// pushFacts records the intent to push commits that the forge does not have yet, one branch at
// a time. It pushes nothing without consent, nothing in quiet hours, and never a branch that
// people rejected.
func (l *ImproveLoop) pushFacts(now time.Time, quiet WeeklyHours) []nexus.Fact {
	if _, rests := quiet.EndOfCurrentHours(now); rests || !l.Rules.Pulls || l.Rules.Direct || l.Drain != "" {
		return nil
	}
	branches := l.waitingBranches()
	for _, p := range l.Pulls { // reverts are pushed, too
		if p.Number > 0 && !slices.Contains(branches, p.Branch) {
			branches = append(branches, p.Branch)
		}
	}
	for _, branch := range branches {
		head, p := l.heads[branch], l.OpenPullRequest(branch)
		if head == "" || l.refused[branch] || p != nil && (p.Commit == head || p.failed == head) {
			continue
		}
		f := nexus.PullRequestUpdateStarted{Branch: branch, Commit: head}
		for _, i := range l.LandedItemsOn(branch) {
			f.Items = append(f.Items, i.ID)
		}
		return []nexus.Fact{f}
	}
	return nil
}

// applyPull applies facts about branches on the forge.
func (l *ImproveLoop) applyPull(f nexus.Fact) {
	switch f := f.(type) {
	case nexus.PullRequestUpdateStarted:
		l.pulling = &f
		if l.sought == nil {
			l.sought = map[string]*pushIntent{}
		}
		l.sought[f.Branch] = &pushIntent{f, l.sought[f.Branch]}
	case nexus.PullRequestUpdated:
		p := l.pullRequestFor(f.Branch)
		p.Number, p.Web, p.Commit, p.Why, p.failed = f.Number, f.Web, f.Commit, "", ""
		if s := l.sought[f.Branch].findCommit(f.Commit); s != nil {
			p.shown = s.Items
		}
		delete(l.sought, f.Branch)
		l.pulling = nil
	case nexus.PullRequestUpdateFailed:
		p := l.pullRequestFor(f.Branch)
		p.Why, p.failed = f.Why, f.Commit
		l.pulling = nil
	case nexus.PullRequestClosed:
		l.Pulls = slices.DeleteFunc(l.Pulls, func(p *ThemePullRequest) bool { return p.Branch == f.Branch })
		if l.refused == nil {
			l.refused = map[string]bool{}
		}
		if l.past == nil {
			l.past = map[int]bool{}
		}
		l.past[f.Number] = true
		l.releaseBranch(f.Branch)
		l.refused[f.Branch] = f.How == nexus.ResultRejected
		l.pulling = nil
	default:
	}
}

// releaseBranch gives the branch of a theme to people: later results get another branch.
func (l *ImproveLoop) releaseBranch(branch string) {
	if l.closed == nil {
		l.closed = map[string]int{}
	}
	l.closed[nexus.Theme+strategyOf(branch)]++
}

// IsOwnPullRequest reports whether a pull request of a branch at a commit was opened by a process of
// the loop that could not record it: it died, or did not receive the answer.
func (l *ImproveLoop) IsOwnPullRequest(branch, commit string, number int) bool {
	return !l.past[number] && l.sought[branch].findCommit(commit) != nil
}

// pushIntent is a push to a branch, linked to the earlier ones. It never changes, so that
// copies of a loop share it.
type pushIntent struct {
	nexus.PullRequestUpdateStarted
	before *pushIntent
}

// findCommit returns the last intent to push a commit, or nil.
func (p *pushIntent) findCommit(commit string) *pushIntent {
	for ; p != nil && p.Commit != commit; p = p.before {
	}
	return p
}

// strategyOf returns the strategy of a branch: its name without the number at the end.
func strategyOf(branch string) string {
	name := strings.TrimPrefix(branch, nexus.Theme)
	if at := strings.LastIndexByte(name, '-'); at > 0 && strings.Trim(name[at+1:], "0123456789") == "" {
		return name[:at]
	}
	return name
}

// pullRequestFor returns the pull request of a branch, and creates it if needed.
func (l *ImproveLoop) pullRequestFor(branch string) *ThemePullRequest {
	if p := l.OpenPullRequest(branch); p != nil {
		return p
	}
	p := &ThemePullRequest{Branch: branch}
	l.Pulls = append(l.Pulls, p)
	return p
}
