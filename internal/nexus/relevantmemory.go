package nexus

// RelevantMemoryEntry is an entry of the repository's memory that is relevant to a task.
type RelevantMemoryEntry struct {
	ID     string `json:"id"`
	Why    string `json:"why"`           // why it is relevant
	Tokens int64  `json:"tokens"`        // estimated
	Left   string `json:"left,omitzero"` // why the message omits it
}
