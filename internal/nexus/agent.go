package nexus

import "time"

// Fault is why an agent program of another maker did not finish. The empty
// Fault is none.
type Fault string

// The faults.
const (
	FaultSilent     Fault = "silent"     // it printed nothing for too long
	FaultGarbage    Fault = "garbage"    // it printed something else than its stream
	FaultUnfinished Fault = "unfinished" // it exited without reporting an end
	FaultCrashed    Fault = "crashed"    // it exited with an error, or reported one
	FaultLogin      Fault = "login"      // it is not logged in, or not any more
	FaultQuota      Fault = "quota"      // its account's window is used up
	FaultOverload   Fault = "overload"   // its provider does not answer
	FaultContext    Fault = "context"    // its conversation is too long
	FaultBudget     Fault = "budget"     // it reached the limit of money that it was given
	FaultTurns      Fault = "turns"      // it reached the limit of turns that it was given
	FaultTime       Fault = "time"       // the session's time is up
	FaultLost       Fault = "lost"       // it does not know its conversation any more
	FaultSetup      Fault = "setup"      // it cannot be run like this: a wrong model, an unknown option
	FaultRefused    Fault = "refused"    // its model refuses to continue
	FaultAsking     Fault = "asking"     // it asks again and again for what it may not do
	FaultStopped    Fault = "stopped"    // Nexus stopped it
)

// An agent program of another maker that has a conversation.
type (
	// AgentOpened says which conversation of its own an agent program uses for a session.
	AgentOpened struct {
		Session SessionID `json:"session"`
		Agent   string    `json:"agent"`            // its name in the configuration
		ID      string    `json:"id"`               // of its own conversation, which it can resume
		Resumed bool      `json:"resumed,omitzero"` // the session continues an existing conversation
		Model   string    `json:"model,omitzero"`   // as it names it
		Version string    `json:"version,omitzero"`
	}
	// AgentLimited says how much of a quota window of its account is used, as
	// the program reported it. It is recorded when that is news: see
	// state.Window.
	AgentLimited struct {
		Session SessionID `json:"session"`
		Agent   string    `json:"agent"`
		Window  string    `json:"window"` // 5h, 7d, or as the program names it
		Used    int       `json:"used"`   // percent
		Until   time.Time `json:"until"`  // when it starts anew
	}
	// AgentRenewed says that a program renewed its login in its home, and
	// whether it was written back.
	AgentRenewed struct {
		Session SessionID `json:"session"`
		Agent   string    `json:"agent"`
		File    string    `json:"file"`          // below the user's home
		Kept    string    `json:"kept,omitzero"` // why the user's own login was not replaced; empty: it was
	}
	// AgentEnded says how its program ended.
	AgentEnded struct {
		Session SessionID `json:"session"`
		Agent   string    `json:"agent"`
		Fault   Fault     `json:"fault,omitzero"` // empty: it was done
		Why     string    `json:"why,omitzero"`
		Exit    int       `json:"exit,omitzero"`   // its exit code, which proves nothing
		Total   Money     `json:"total,omitzero"`  // of its whole conversation so far, as it counts
		Usage   Usage     `json:"usage,omitzero"`  // the same in tokens
		Denied  int       `json:"denied,omitzero"` // calls that it was not allowed
	}
)
