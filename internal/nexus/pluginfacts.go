package nexus

import "time"

// PluginKind is the kind of service that a plugin provides.
type PluginKind string

// The kinds.
const (
	PluginRouter    PluginKind = "router"    // returns the starting tier of a task
	PluginReviewer  PluginKind = "reviewer"  // returns problems in a change
	PluginContext   PluginKind = "context"   // returns context for a task's agent
	PluginReporter  PluginKind = "reporter"  // receives events and returns nothing
	PluginDiscovery PluginKind = "discovery" // returns work to do
)

// PluginKinds returns all kinds.
func PluginKinds() []PluginKind {
	return []PluginKind{PluginRouter, PluginReviewer, PluginContext, PluginReporter, PluginDiscovery}
}

// PluginAnswerState is how a plugin answered. The zero value is none of these.
type PluginAnswerState string

// Values of PluginAnswerState.
const (
	PluginOK     PluginAnswerState = "ok"
	PluginFailed PluginAnswerState = "failed" // it reported that it cannot answer
	// its output does not follow the protocol, or does not fit the request.
	PluginInvalid PluginAnswerState = "invalid"
	PluginEnded   PluginAnswerState = "ended" // it ended before it answered
	// it reached its time limit and was killed with all its child processes.
	PluginTimeout   PluginAnswerState = "timeout"
	PluginKilled    PluginAnswerState = "killed"    // it used too much memory or wrote too much, and was killed
	PluginNotRun    PluginAnswerState = "not run"   // there is no such program, or it could not be started
	PluginUntrusted PluginAnswerState = "untrusted" // nobody has trusted it in its present form
)

// FailureEffect returns the consequence of a plugin's failure, or "" if it did not fail.
func (s PluginAnswerState) FailureEffect() string {
	if s == PluginOK || s == PluginFailed {
		return ""
	}
	return " is left out"
}

// Facts about plugins that take part in a decision.
type (
	// PluginAnswered records the answer of a plugin that takes part in a decision. Reporters
	// and discovery plugins decide nothing and are not recorded.
	PluginAnswered struct {
		Plugin   string            `json:"plugin"` // its name in the configuration
		Kind     PluginKind        `json:"kind"`
		Version  string            `json:"version,omitzero"` // the version that it reports
		Task     TaskID            `json:"task,omitzero"`
		Attempt  AttemptID         `json:"attempt,omitzero"`
		Session  SessionID         `json:"session,omitzero"` // session whose first message contains its text
		State    PluginAnswerState `json:"state"`
		Why      string            `json:"why,omitzero"`    // why there is no answer
		Output   string            `json:"output,omitzero"` // blob: its answer, as JSON, without keys
		About    string            `json:"about,omitzero"`  // the answer in a few words
		Duration time.Duration     `json:"duration"`
	}
)

// Blobs returns the hash of the answer.
func (f PluginAnswered) Blobs() []string { return []string{f.Output} }
