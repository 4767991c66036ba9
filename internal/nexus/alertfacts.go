package nexus

import "time"

// AlertKind is the subject of an alert.
type AlertKind string

// Values of AlertKind.
const (
	AlertDenials  AlertKind = "denials"  // agents repeat calls that they are not allowed to make
	AlertFailures AlertKind = "failures" // calls and attempts fail one after the other
	AlertStuck    AlertKind = "stuck"    // an attempt no longer prints anything
	AlertTokens   AlertKind = "tokens"   // a token budget is nearly used up
	AlertRounds   AlertKind = "rounds"   // a task used too many rounds, and a person may help
	AlertHangs    AlertKind = "hangs"    // tests do not end, although they did before the work began
	AlertMemory   AlertKind = "memory"   // the machine has little memory left
	AlertDisk     AlertKind = "disk"     // the disk of the state directory has little free space left
)

// AlertReaction is the consequence of an alert, besides the notice to people.
type AlertReaction string

// The zero Reaction only notifies.
const (
	ReactTell  AlertReaction = "tell"
	ReactPause AlertReaction = "pause" // until a person resumes the run
	ReactStop  AlertReaction = "stop"  // the run ends and needs a person
)

// AlertThresholds sets when people are notified of a problem that no limit ends. A zero threshold is
// disabled.
type AlertThresholds struct {
	Denials int `json:"denials,omitzero"` // refused tool calls within a minute; one more alerts
	// failed model calls and attempts within a minute; one more alerts
	Failures int           `json:"failures,omitzero"`
	Stuck    time.Duration `json:"stuck,omitzero"`  // time in which an attempt prints nothing
	Tokens   int           `json:"tokens,omitzero"` // percent of a budget of tokens
	Rounds   int           `json:"rounds,omitzero"` // rounds of a task, over all its attempts
	Memory   int           `json:"memory,omitzero"` // percent of the machine's memory in use
	Disk     int64         `json:"disk,omitzero"`   // bytes that must be free
	// how long memory and disk must be past their threshold, or back within it, before it
	// counts
	Lasting time.Duration `json:"lasting,omitzero"`
	Denied  AlertReaction `json:"denied,omitzero"` // the reaction to an alert about denials
}

// Facts about the start and the end of an alert.
type (
	// AlertRaised alerts people to a problem that no limit ends.
	AlertRaised struct {
		Kind AlertKind `json:"kind"`
		Of   string    `json:"of,omitzero"` // the attempt or session; empty for the run
		Why  string    `json:"why"`
	}
	// AlertCleared records that the cause of an alert is gone.
	AlertCleared struct {
		Kind AlertKind `json:"kind"`
		Of   string    `json:"of,omitzero"` // as in AlertRaised
		Why  string    `json:"why"`
	}
)
