package improveloop

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// BlockingRule returns the rule because of which something may not be started now, or "". It
// is for callers that search.
func (l *ImproveLoop) BlockingRule(x nexus.CandidateWorkItem, now time.Time) (ItemSkipRule, string) {
	return l.blockingRule(x, now, l.waitingBranches())
}

// blockingRule returns the rule because of which a finding may not be started, or "".
func (l *ImproveLoop) blockingRule(x nexus.CandidateWorkItem, now time.Time, themes []string) (ItemSkipRule, string) {
	for _, i := range l.Items {
		if i.Waits && i.Wanted.Finding == x.Finding {
			return WaitsFor, fmt.Sprintf("the work of run %s on it waits for a person", i.ID)
		}
	}
	if b, ok := l.bars[x.Finding]; ok && b.isStillValid(x, now) {
		return b.rule, b.why
	}
	for _, mark := range x.Lines {
		if last, ok := l.touched[mark]; ok && now.Sub(last) < Week {
			return Again, fmt.Sprintf("its lines were changed for the same reason on %s", last.Format(time.DateOnly))
		}
	}
	if t := l.themeBranch(x.Strategy); !l.Rules.Direct && l.Rules.Open > 0 && len(themes) >= l.Rules.Open && !slices.Contains(themes, t) {
		return ThemesOpen, fmt.Sprintf("%s for a person, and no more may", waitingBranchesText(len(themes)))
	}
	return "", ""
}

func waitingBranchesText(n int) string {
	if n == 1 {
		return "1 branch waits"
	}
	return fmt.Sprintf("%d branches wait", n)
}

// isStillValid reports whether a block still applies to a finding.
func (b findingExclusion) isStillValid(x nexus.CandidateWorkItem, now time.Time) bool {
	if b.mark != "" && b.mark != x.Mark {
		return false
	}
	return b.until.IsZero() || now.Before(b.until)
}

// OmittedFindings returns the findings of the last cycle that are skipped, with reasons.
func (l *ImproveLoop) OmittedFindings(now time.Time) []nexus.OmittedWorkFinding {
	if l.Looked == nil {
		return nil
	}
	all := slices.Clone(l.Looked.Left)
	themes := l.waitingBranches()
	for _, x := range l.Looked.Wanted {
		taken := func(i *LoopItem) bool { return i.Cycle == l.Cycle && i.Wanted.Finding == x.Finding && l.isOwnItem(i) }
		if slices.ContainsFunc(l.Items, taken) {
			continue // its result is reported with the item
		}
		if rule, why := l.blockingRule(x, now, themes); rule != "" {
			all = append(all, nexus.OmittedWorkFinding{Finding: x.Finding, Title: x.Title, Rule: string(rule), Why: why})
		}
	}
	return all
}

// ruleAgainstLanding returns the rule that prevents the landing of a result, or "".
func (l *ImproveLoop) ruleAgainstLanding(i *LoopItem, now time.Time) (ItemSkipRule, string) {
	c := i.Work.Change
	switch {
	case l.Drain != "":
		return StoppedEarly, "the loop was " + l.Drain
	case len(c.Dependencies) > 0:
		return Dependencies, "it changes the dependencies, which is left to a person: " + listSome(c.Dependencies)
	case len(c.Public) > 0:
		return Public, "it changes a public interface, which is left to a person: " + listSome(c.Public)
	case l.Rules.Lines > 0 && c.Lines > l.Rules.Lines:
		return TooLarge, fmt.Sprintf("it changes %d lines, and more than %d are left to a person (improve.lines)", c.Lines, l.Rules.Lines)
	}
	for _, mark := range c.Touched {
		if last, ok := l.touched[mark]; ok && now.Sub(last) < Week {
			return Again, fmt.Sprintf("it changes lines again that were changed for the same reason on %s", last.Format(time.DateOnly))
		}
	}
	return "", ""
}

// listSome returns the first few of many names.
func listSome(all []string) string {
	const most = 3
	if len(all) <= most {
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(all[:most], ", "), len(all)-most)
}

// OpenIntents returns the intents without a result, in the order in which they were recorded:
// left by a process that died, or in progress.
func (l *ImproveLoop) OpenIntents() []nexus.Fact {
	var all []nexus.Fact
	if l.looking {
		all = append(all, nexus.ImproveCycleStarted{Cycle: l.Cycle})
	}
	if l.pulling != nil {
		all = append(all, *l.pulling)
	}
	for _, i := range l.Items {
		switch i.Stage {
		case Working:
			all = append(all, nexus.LoopItemWorkStarted{Item: i.ID, Cycle: i.Cycle, Wanted: i.Wanted, Reserved: i.Reserved, Base: i.Base})
		case Offered:
			all = append(all, nexus.LoopItemLandingStarted{Item: i.ID, Target: i.Target})
		case Watched:
			all = append(all, nexus.CheckAfterLandingStarted{Item: i.ID})
		case Reverting:
			all = append(all, nexus.LoopItemRevertStarted{Item: i.ID, Why: i.Why})
		case Worked, Landed, Weighed, Over:
		}
	}
	return all
}

// FailureFacts returns the facts for an intent that Nexus or the machine could not carry out.
// The cost of the work is unknown then: it counts at its worst case.
func FailureFacts(intent nexus.Fact, why string) []nexus.Fact {
	switch f := intent.(type) {
	case nexus.PullRequestUpdateStarted:
		return []nexus.Fact{nexus.PullRequestUpdateFailed{Branch: f.Branch, Commit: f.Commit, Why: why}}
	case nexus.ImproveCycleStarted:
		return []nexus.Fact{nexus.ImproveCycleFailed{Cycle: f.Cycle, Why: why}}
	case nexus.LoopItemWorkStarted:
		return []nexus.Fact{nexus.LoopItemWorkEnded{Item: f.Item, Status: nexus.StatusFailed, Spent: f.Reserved, Why: why, Outside: true}}
	case nexus.LoopItemLandingStarted:
		return []nexus.Fact{nexus.LoopItemLandingConfirmed{Item: f.Item, Rule: string(Unlanded), Why: "it is unknown whether it landed: " + why}}
	case nexus.CheckAfterLandingStarted:
		return []nexus.Fact{nexus.LandingCheckEnded{Item: f.Item, Why: "it is unknown whether it made anything worse: " + why}}
	case nexus.LoopItemRevertStarted:
		return []nexus.Fact{nexus.LoopItemRevertFailed{Item: f.Item, Why: why}}
	default:
		return nil
	}
}

// ItemOfIntent returns the item of an intent, or "" for a cycle.
func ItemOfIntent(intent nexus.Fact) nexus.RunID {
	switch f := intent.(type) {
	case nexus.LoopItemWorkStarted:
		return f.Item
	case nexus.LoopItemLandingStarted:
		return f.Item
	case nexus.CheckAfterLandingStarted:
		return f.Item
	case nexus.LoopItemRevertStarted:
		return f.Item
	default:
		return ""
	}
}

// FindWorsenedFindings returns the findings that a landing made worse: those that are new after
// it, or stand for more problems. The finding that the landing was to fix is not included
// unless it is worse itself.
func FindWorsenedFindings(before, after []FailingFinding) []nexus.WorsenedFinding {
	was := map[string]FailingFinding{}
	for _, s := range before {
		was[s.Finding] = s
	}
	var all []nexus.WorsenedFinding
	for _, s := range after {
		if b := was[s.Finding]; s.Count > b.Count {
			all = append(all, nexus.WorsenedFinding{Finding: s.Finding, Strategy: s.Strategy, Title: s.Title, Before: b.Count, After: s.Count})
		}
	}
	return all
}

// FailingFinding is a finding whose check fails on a tree.
type FailingFinding struct {
	Finding, Strategy, Title string
	Count                    int // at least 1
}
