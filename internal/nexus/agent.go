package nexus

import "time"

// AgentFault is the reason why another maker's agent program did not finish. The empty Fault means
// that it finished.
type AgentFault string

// Values of Fault.
const (
	FaultSilent     AgentFault = "silent"     // it printed nothing until its timeout
	FaultGarbage    AgentFault = "garbage"    // its output was not the expected stream
	FaultUnfinished AgentFault = "unfinished" // it exited without reporting an end
	FaultCrashed    AgentFault = "crashed"    // it exited with an error, or reported one
	FaultLogin      AgentFault = "login"      // it is not logged in, or its login expired
	FaultQuota      AgentFault = "quota"      // the quota window of its account is used up
	FaultOverload   AgentFault = "overload"   // its provider does not answer
	FaultContext    AgentFault = "context"    // its conversation is too long
	FaultBudget     AgentFault = "budget"     // it reached its money limit
	FaultTurns      AgentFault = "turns"      // it reached its turn limit
	FaultTime       AgentFault = "time"       // the session reached its time limit
	FaultLost       AgentFault = "lost"       // it no longer has its conversation
	FaultSetup      AgentFault = "setup"      // it cannot run with these settings: a wrong model, an unknown option
	FaultRefused    AgentFault = "refused"    // its model refuses to continue
	FaultAsking     AgentFault = "asking"     // it keeps requesting a forbidden action
	FaultStopped    AgentFault = "stopped"    // Nexus stopped it
)

// Facts about a conversation with another maker's agent program.
type (
	// AgentOpened records the agent program's own conversation that a session uses.
	AgentOpened struct {
		Session SessionID `json:"session"`
		Agent   string    `json:"agent"`            // its name in the configuration
		ID      string    `json:"id"`               // of the program's own conversation, which it can resume
		Resumed bool      `json:"resumed,omitzero"` // the session continues an existing conversation
		Model   string    `json:"model,omitzero"`   // the program's name for the model
		Version string    `json:"version,omitzero"`
	}
	// AgentLimited records how much of an account's quota window is used, as the program
	// reported it. It is recorded only when the value has changed enough: see state.Window.
	AgentLimited struct {
		Session SessionID `json:"session"`
		Agent   string    `json:"agent"`
		Window  string    `json:"window"` // 5h, 7d, or as the program names it
		Used    int       `json:"used"`   // percent used
		Until   time.Time `json:"until"`  // when the window starts again
	}
	// AgentRenewed records that a program renewed its login in its own home directory, and
	// whether the new login was written back to the user's home directory.
	AgentRenewed struct {
		Session SessionID `json:"session"`
		Agent   string    `json:"agent"`
		File    string    `json:"file"`          // below the user's home
		Kept    string    `json:"kept,omitzero"` // why the user's own login was not replaced; empty: it was
	}
	// AgentEnded records how the agent's program ended.
	AgentEnded struct {
		Session SessionID  `json:"session"`
		Agent   string     `json:"agent"`
		Fault   AgentFault `json:"fault,omitzero"` // empty: it finished
		Why     string     `json:"why,omitzero"`
		Exit    int        `json:"exit,omitzero"` // its exit code, which proves nothing
		// cost of the whole conversation so far, as the program counts it
		Total  Money `json:"total,omitzero"`
		Usage  Usage `json:"usage,omitzero"`  // the same in tokens
		Denied int   `json:"denied,omitzero"` // calls that were denied
	}
)
