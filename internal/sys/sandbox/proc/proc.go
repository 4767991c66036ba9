// Package proc finds, watches and kills the processes that a command started,
// also those that tried to detach from it.
package proc

import "time"

// Mark is the environment variable that every process in a box carries. It
// is how [Sweep] finds what a dead run left.
const Mark = "NEXUS_MARK"

// Grace is the longest that anybody waits for the dead.
const Grace = 2 * time.Second

// Usage is what some processes use together.
type Usage struct {
	Memory  int64         `json:"memory"` // bytes that are theirs alone or shared among them
	Threads int           `json:"threads"`
	CPU     time.Duration `json:"cpu"` // that they used, with those of them that have ended; zero where nobody asked

	Processes int `json:"processes"` // only of [Owned] and [One], as Files
	Files     int `json:"files"`     // open ones
}

// Add adds what others use.
func (u *Usage) Add(v Usage) {
	u.Memory += v.Memory
	u.Threads += v.Threads
	u.CPU += v.CPU
	u.Processes += v.Processes
	u.Files += v.Files
}
