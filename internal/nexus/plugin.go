package nexus

import "time"

// PluginKind is what a plugin is asked for.
type PluginKind string

// The kinds.
const (
	PluginRouter    PluginKind = "router"    // where work on a task begins
	PluginReviewer  PluginKind = "reviewer"  // what is wrong with a change
	PluginContext   PluginKind = "context"   // what the agent of a task should know
	PluginReporter  PluginKind = "reporter"  // nothing: it is told what happens
	PluginDiscovery PluginKind = "discovery" // what there is to do
)

// PluginKinds returns all kinds.
func PluginKinds() []PluginKind {
	return []PluginKind{PluginRouter, PluginReviewer, PluginContext, PluginReporter, PluginDiscovery}
}

// PluginState is how a plugin answered. The zero PluginState is none of these.
type PluginState string

// The states.
const (
	PluginOK        PluginState = "ok"
	PluginFailed    PluginState = "failed"    // it said that it cannot answer
	PluginInvalid   PluginState = "invalid"   // what it said is not the protocol, or not what it was asked
	PluginEnded     PluginState = "ended"     // it ended before it answered
	PluginTimeout   PluginState = "timeout"   // its time was over; it was killed with all that it started
	PluginKilled    PluginState = "killed"    // it used too much memory or wrote too much, and was killed
	PluginNotRun    PluginState = "not run"   // there is no such program, or it could not be started
	PluginUntrusted PluginState = "untrusted" // nobody agreed to it as it is now
)

// Means says what follows where a plugin broke down; empty where it did not.
func (s PluginState) Means() string {
	if s == PluginOK || s == PluginFailed {
		return ""
	}
	return " is left out"
}

// Plugins that take part in a decision.
type (
	// PluginAnswered says what a plugin answered that takes part in a decision. A
	// reporter and a discovery decide nothing, and are not recorded.
	PluginAnswered struct {
		Plugin   string        `json:"plugin"` // its name in the configuration
		Kind     PluginKind    `json:"kind"`
		Version  string        `json:"version,omitzero"` // what it says it is
		Task     TaskID        `json:"task,omitzero"`
		Attempt  AttemptID     `json:"attempt,omitzero"`
		Session  SessionID     `json:"session,omitzero"` // whose first message has its text
		State    PluginState   `json:"state"`
		Why      string        `json:"why,omitzero"`    // why there is no answer
		Output   string        `json:"output,omitzero"` // blob: its answer, as JSON, without keys
		About    string        `json:"about,omitzero"`  // the answer in a few words
		Duration time.Duration `json:"duration"`
	}
)

// Blobs returns the answer.
func (f PluginAnswered) Blobs() []string { return []string{f.Output} }
