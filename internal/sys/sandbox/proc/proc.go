// Package proc finds, measures and kills the processes that a command started, including those
// that tried to detach from it.
package proc

import "time"

// Mark is the environment variable that every process in a box has. [KillProcessesOf] finds the remaining
// processes of a dead run by it.
const Mark = "NEXUS_MARK"

// Grace limits the wait for dead processes.
const Grace = 2 * time.Second

// ResourceUsage is the resource usage of a group of processes.
type ResourceUsage struct {
	Memory  int64         `json:"memory"` // bytes that are private or shared among them
	Threads int           `json:"threads"`
	CPU     time.Duration `json:"cpu"` // including that of their ended processes; zero if not measured

	Processes int `json:"processes"` // only set by [UsageByOwner] and [ProcessUsage], like Files
	Files     int `json:"files"`     // open files
}

// Add adds the usage of other processes.
func (u *ResourceUsage) Add(v ResourceUsage) {
	u.Memory += v.Memory
	u.Threads += v.Threads
	u.CPU += v.CPU
	u.Processes += v.Processes
	u.Files += v.Files
}
