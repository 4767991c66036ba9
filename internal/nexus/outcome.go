package nexus

// Outcome is how an attempt ended.
type Outcome string

// The outcomes.
const (
	Accepted     Outcome = "accepted"
	NoProgress   Outcome = "no-progress"  // same failure, same tree, or a growing number of failures
	Exhausted    Outcome = "exhausted"    // rounds, turns or time are used up
	Stopped      Outcome = "stopped"      // stopped on request
	Refused      Outcome = "refused"      // refused by the budget or a limit
	Unverified   Outcome = "unverified"   // no gate could judge it
	Conflicted   Outcome = "conflicted"   // the merger could not resolve a conflict
	GaveUp       Outcome = "gave-up"      // the agent reported that it cannot do it
	Inapplicable Outcome = "inapplicable" // the environment is broken for this task
)
