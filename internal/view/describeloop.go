package view

import (
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// describeLoop describes a decision of an improvement loop, or its result.
func describeLoop(f nexus.Fact) (about, text string) {
	switch f := f.(type) {
	case nexus.LoopOpened:
		return "", fmt.Sprintf("at most %s for all cycles, %s for one piece of work", f.Rules.Budget, f.Rules.Item)
	case nexus.CycleStarted:
		return cycleLabel(f.Cycle), WithReason("looking for work", f.Why)
	case nexus.CycleLooked:
		return cycleLabel(f.Cycle), fmt.Sprintf("%s to do, %d left out, at %.9s", Count(len(f.Wanted)+f.More, "thing"), len(f.Left), f.Tip)
	case nexus.CycleFailed:
		return cycleLabel(f.Cycle), "the search failed: " + f.Why
	case nexus.LoopRested:
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
	case nexus.ItemTaken:
		return string(f.Item), fmt.Sprintf("started: %s (%s), for at most %s", f.Wanted.Title, f.Wanted.Finding, f.Reserved)
	case nexus.ItemWorked:
		if f.Commit == "" {
			return string(f.Item), WithReason(fmt.Sprintf("nothing to land, for %s", f.Spent), f.Why)
		}
		return string(f.Item), fmt.Sprintf("done for %s: %s in %s", f.Spent, Count(f.Change.Lines, "line"), Count(len(f.Change.Files), "file"))
	case nexus.ItemKept:
		return string(f.Item), "does not land: " + f.Why
	case nexus.ItemOffered:
		return string(f.Item), "landing on " + f.Target
	case nexus.ItemLanded:
		return string(f.Item), fmt.Sprintf("landed on %s as %.9s", f.Target, f.Commit)
	case nexus.LandingWatched:
		return string(f.Item), "checking whether it made anything worse"
	case nexus.LandingWeighed:
		switch {
		case f.Why != "":
			return string(f.Item), f.Why
		case len(f.Worse) == 0:
			return string(f.Item), "it made nothing worse"
		}
		return string(f.Item), fmt.Sprintf("it made %s worse", Count(len(f.Worse), "finding"))
	case nexus.RevertSought:
		return string(f.Item), "reverting it: " + f.Why
	case nexus.ItemReverted:
		return string(f.Item), fmt.Sprintf("reverted as %.9s", f.Commit)
	case nexus.RevertFailed:
		return string(f.Item), "could not be reverted: " + f.Why
	case nexus.ResultSettled:
		if f.Left {
			return string(f.Item), "it is already done, in another form"
		}
		return string(f.Item), "a person " + f.How + " it"
	default:
		return describePull(f)
	}
}

// describePull describes the state of a branch on the forge.
func describePull(f nexus.Fact) (about, text string) {
	switch f := f.(type) {
	case nexus.PullSought:
		return f.Branch, fmt.Sprintf("pushing it at %.9s, with %s", f.Commit, Count(len(f.Items), "result"))
	case nexus.PullTold:
		how := "is up to date"
		if f.New {
			how = "was opened"
		}
		return f.Branch, fmt.Sprintf("pull request %d %s: %s", f.Number, how, f.Web)
	case nexus.PullFailed:
		return f.Branch, "the pull request is not up to date: " + f.Why
	case nexus.PullClosed:
		return f.Branch, fmt.Sprintf("a person %s pull request %d", f.How, f.Number)
	default:
		return "", ""
	}
}
