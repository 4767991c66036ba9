package nexus

// Outcome is how an attempt ended.
type Outcome string

// The outcomes.
const (
	Accepted     Outcome = "accepted"
	NoProgress   Outcome = "no-progress"  // same failure, same tree, growing red
	Exhausted    Outcome = "exhausted"    // rounds, turns or time are used up
	Stopped      Outcome = "stopped"      // somebody asked
	Refused      Outcome = "refused"      // the budget or a limit said no
	Unverified   Outcome = "unverified"   // no gate could tell
	Conflicted   Outcome = "conflicted"   // the merger could not resolve it
	GaveUp       Outcome = "gave-up"      // the agent says that it cannot
	Inapplicable Outcome = "inapplicable" // the environment is broken for this task
)
