package view

import (
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// describeLoop describes a decision of an improvement loop, or its result.
func describeLoop(f nexus.Fact) (about, text string) {
	switch f := f.(type) {
	case nexus.LoopRulesSet:
		return "", fmt.Sprintf("at most %s for all cycles, %s for one piece of work", f.Rules.Budget, f.Rules.Item)
	case nexus.ImproveCycleStarted:
		return cycleLabel(f.Cycle), WithReason("looking for work", f.Why)
	case nexus.ImproveCycleSearched:
		return cycleLabel(f.Cycle), fmt.Sprintf("%s to do, %d left out, at %.9s", CountWithNoun(len(f.Wanted)+f.More, "thing"), len(f.Left), f.Tip)
	case nexus.ImproveCycleFailed:
		return cycleLabel(f.Cycle), "the search failed: " + f.Why
	case nexus.LoopPauseStarted:
		if f.Until.IsZero() {
			return "", "waiting: " + f.Why
		}
		return "", fmt.Sprintf("waiting %s: %s", FormatDuration(f.For), f.Why)
	default:
		return describeItem(f)
	}
}

func cycleLabel(n int) string { return fmt.Sprintf("cycle %d", n) }

// describeItem describes a change of one work item of a loop.
func describeItem(f nexus.Fact) (about, text string) {
	switch f := f.(type) {
	case nexus.LoopItemWorkStarted:
		return string(f.Item), fmt.Sprintf("started: %s (%s), for at most %s", f.Wanted.Title, f.Wanted.Finding, f.Reserved)
	case nexus.LoopItemWorkEnded:
		if f.Commit == "" {
			return string(f.Item), WithReason(fmt.Sprintf("nothing to land, for %s", f.Spent), f.Why)
		}
		return string(f.Item), fmt.Sprintf("done for %s: %s in %s", f.Spent, CountWithNoun(f.Change.Lines, "line"), CountWithNoun(len(f.Change.Files), "file"))
	case nexus.LoopItemLandingConfirmed:
		return string(f.Item), "does not land: " + f.Why
	case nexus.LoopItemLandingStarted:
		return string(f.Item), "landing on " + f.Target
	case nexus.LoopItemLanded:
		return string(f.Item), fmt.Sprintf("landed on %s as %.9s", f.Target, f.Commit)
	case nexus.CheckAfterLandingStarted:
		return string(f.Item), "checking whether it made anything worse"
	case nexus.LandingCheckEnded:
		switch {
		case f.Why != "":
			return string(f.Item), f.Why
		case len(f.Worse) == 0:
			return string(f.Item), "it made nothing worse"
		}
		return string(f.Item), fmt.Sprintf("it made %s worse", CountWithNoun(len(f.Worse), "finding"))
	case nexus.LoopItemRevertStarted:
		return string(f.Item), "reverting it: " + f.Why
	case nexus.LoopItemReverted:
		return string(f.Item), fmt.Sprintf("reverted as %.9s", f.Commit)
	case nexus.LoopItemRevertFailed:
		return string(f.Item), "could not be reverted: " + f.Why
	case nexus.WaitingResultDecided:
		if f.Left {
			return string(f.Item), "it is already done, in another form"
		}
		return string(f.Item), "a person " + f.How + " it"
	default:
		return describePullRequest(f)
	}
}

// describePullRequest describes the state of a branch on the forge.
func describePullRequest(f nexus.Fact) (about, text string) {
	switch f := f.(type) {
	case nexus.PullRequestUpdateStarted:
		return f.Branch, fmt.Sprintf("pushing it at %.9s, with %s", f.Commit, CountWithNoun(len(f.Items), "result"))
	case nexus.PullRequestUpdated:
		how := "is up to date"
		if f.New {
			how = "was opened"
		}
		return f.Branch, fmt.Sprintf("pull request %d %s: %s", f.Number, how, f.Web)
	case nexus.PullRequestUpdateFailed:
		return f.Branch, "the pull request is not up to date: " + f.Why
	case nexus.PullRequestClosed:
		return f.Branch, fmt.Sprintf("a person %s pull request %d", f.How, f.Number)
	default:
		return "", ""
	}
}
