package nexus

// Remembered is an episode of the repository's memory that has to do with a
// task.
type Remembered struct {
	ID     string `json:"id"`
	Why    string `json:"why"`           // it has to do with the task
	Tokens int64  `json:"tokens"`        // about
	Left   string `json:"left,omitzero"` // why the message does not show it
}
