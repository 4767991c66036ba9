package view

import (
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// describeLanding describes how the landed changes are merged onto a branch that moved.
func describeLanding(f nexus.Fact) string {
	switch f := f.(type) {
	case nexus.TargetLandingRequested:
		return f.Target + " will move to the result, requested" + byText(f.By)
	case nexus.TargetBranchMoved:
		return fmt.Sprintf("%s has new commits, up to %s", f.Target, ShortHash(f.Commit))
	case nexus.TargetMergeStarted:
		return fmt.Sprintf("merging the result into %s at %s", f.Target, ShortHash(f.Onto))
	case nexus.TargetMergeCommitted:
		return "merged as " + ShortHash(f.Commit)
	case nexus.TargetMergeRefused:
		return "not merged: " + f.Why
	default:
		return ""
	}
}

// describeHook describes the questions to hooks and plugins, and their answers.
func describeHook(f nexus.Fact) string {
	switch f := f.(type) {
	case nexus.StartHooksAsked:
		return "asking hooks whether work may start"
	case nexus.StartHooksAnswered:
		if f.Allowed {
			return "hooks let work start"
		}
		return WithReason("work does not start", f.Why)
	case nexus.HookRan:
		return WithReason(fmt.Sprintf("hook %s at %s: %s after %s", f.Hook, f.Point, f.State, FormatDuration(f.Duration)), f.Why)
	case nexus.PluginAnswered:
		ended := fmt.Sprintf("%s after %s", f.State, FormatDuration(f.Duration))
		return WithReason(fmt.Sprintf("plugin %s (%s)%s: %s", f.Plugin, f.Kind, f.State.FailureEffect(), ended), f.Why+f.About)
	default:
		return ""
	}
}
