package nexus

import "time"

// AgentProgramFault is the reason why another maker's agent program did not finish. The empty Fault means
// that it finished.
type AgentProgramFault string

// Values of Fault.
const (
	FaultSilent     AgentProgramFault = "silent"     // it printed nothing until its timeout
	FaultGarbage    AgentProgramFault = "garbage"    // its output was not the expected stream
	FaultUnfinished AgentProgramFault = "unfinished" // it exited without reporting an end
	FaultCrashed    AgentProgramFault = "crashed"    // it exited with an error, or reported one
	FaultLogin      AgentProgramFault = "login"      // it is not logged in, or its login expired
	FaultQuota      AgentProgramFault = "quota"      // the quota window of its account is used up
	FaultOverload   AgentProgramFault = "overload"   // its provider does not answer
	FaultContext    AgentProgramFault = "context"    // its conversation is too long
	FaultBudget     AgentProgramFault = "budget"     // it reached its money limit
	FaultTurns      AgentProgramFault = "turns"      // it reached its turn limit
	FaultTime       AgentProgramFault = "time"       // the session reached its time limit
	FaultLost       AgentProgramFault = "lost"       // it no longer has its conversation
	FaultSetup      AgentProgramFault = "setup"      // it cannot run with these settings: a wrong model, an unknown option
	FaultRefused    AgentProgramFault = "refused"    // its model refuses to continue
	FaultAsking     AgentProgramFault = "asking"     // it keeps requesting a forbidden action
	FaultStopped    AgentProgramFault = "stopped"    // Nexus stopped it
)

// Facts about a conversation with another maker's agent program.
type (
	// AgentConversationOpened records the agent program's own conversation that a session uses.
	AgentConversationOpened struct {
		Session SessionID `json:"session"`
		Agent   string    `json:"agent"`            // its name in the configuration
		ID      string    `json:"id"`               // of the program's own conversation, which it can resume
		Resumed bool      `json:"resumed,omitzero"` // the session continues an existing conversation
		Model   string    `json:"model,omitzero"`   // the program's name for the model
		Version string    `json:"version,omitzero"`
	}
	// AgentQuotaReported records how much of an account's quota window is used, as the program
	// reported it. It is recorded only when the value has changed enough: see state.Window.
	AgentQuotaReported struct {
		Session SessionID `json:"session"`
		Agent   string    `json:"agent"`
		Window  string    `json:"window"` // 5h, 7d, or as the program names it
		Used    int       `json:"used"`   // percent used
		Until   time.Time `json:"until"`  // when the window starts again
	}
	// AgentLoginRenewed records that a program renewed its login in its own home directory, and
	// whether the new login was written back to the user's home directory.
	AgentLoginRenewed struct {
		Session SessionID `json:"session"`
		Agent   string    `json:"agent"`
		File    string    `json:"file"`          // below the user's home
		Kept    string    `json:"kept,omitzero"` // why the user's own login was not replaced; empty: it was
	}
	// AgentProgramEnded records how the agent's program ended.
	AgentProgramEnded struct {
		Session SessionID         `json:"session"`
		Agent   string            `json:"agent"`
		Fault   AgentProgramFault `json:"fault,omitzero"` // empty: it finished
		Why     string            `json:"why,omitzero"`
		Exit    int               `json:"exit,omitzero"` // its exit code, which proves nothing
		// cost of the whole conversation so far, as the program counts it
		Total  Money `json:"total,omitzero"`
		Usage  Usage `json:"usage,omitzero"`  // the same in tokens
		Denied int   `json:"denied,omitzero"` // calls that were denied
	}
)
