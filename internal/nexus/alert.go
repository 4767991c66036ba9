package nexus

import "time"

// AlertKind says what an alert is about.
type AlertKind string

// The kinds.
const (
	AlertDenials  AlertKind = "denials"  // agents try again and again what they may not
	AlertFailures AlertKind = "failures" // calls and attempts fail one after the other
	AlertStuck    AlertKind = "stuck"    // an attempt says nothing any more
	AlertTokens   AlertKind = "tokens"   // a budget of tokens is nearly used up
	AlertRounds   AlertKind = "rounds"   // a task does not get there, and a person may help
	AlertHangs    AlertKind = "hangs"    // tests do not end, and did not before the work began
	AlertMemory   AlertKind = "memory"   // the machine has little memory left
	AlertDisk     AlertKind = "disk"     // the disk of the state has little room left
)

// Reaction says what follows from an alert, beside telling people.
type Reaction string

// The reactions. The zero Reaction tells only.
const (
	ReactTell  Reaction = "tell"
	ReactPause Reaction = "pause" // until a person resumes the run
	ReactStop  Reaction = "stop"  // it ends, and needs a person
)

// Alerts says when people are told that something continues that no cap ends. A
// zero bound is none.
type Alerts struct {
	Denials  int           `json:"denials,omitzero"`  // refused tool calls within a minute; one more alerts
	Failures int           `json:"failures,omitzero"` // failed model calls and attempts within a minute; one more alerts
	Stuck    time.Duration `json:"stuck,omitzero"`    // in which an attempt says nothing
	Tokens   int           `json:"tokens,omitzero"`   // percent of a budget of tokens
	Rounds   int           `json:"rounds,omitzero"`   // of a task, over all its attempts
	Memory   int           `json:"memory,omitzero"`   // percent of the machine's memory in use
	Disk     int64         `json:"disk,omitzero"`     // bytes that have to be free
	Lasting  time.Duration `json:"lasting,omitzero"`  // for which memory and disk are past their bounds, or back within, before it counts
	Denied   Reaction      `json:"denied,omitzero"`   // what follows from an alert about denials
}

// What is told, and when it is over.
type (
	// AlertRaised alerts people to a problem that no limit ends.
	AlertRaised struct {
		Kind AlertKind `json:"kind"`
		Of   string    `json:"of,omitzero"` // the attempt or session; empty for the run
		Why  string    `json:"why"`
	}
	// AlertCleared says that the cause of an alert is gone.
	AlertCleared struct {
		Kind AlertKind `json:"kind"`
		Of   string    `json:"of,omitzero"` // as in AlertRaised
		Why  string    `json:"why"`
	}
)
