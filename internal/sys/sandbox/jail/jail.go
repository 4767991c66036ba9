// Package jail is the inside of a sandbox: this program, started again by
// itself in namespaces of its own, makes the view of the file system that it
// was told, gives up every privilege, and runs one command as its child.
//
// A program that imports this package becomes a jail when its one argument is
// [Arg]: that is looked at while the program initialises, before the packages
// that make its start slow, and in every test binary alike. What to do comes
// as a [Spec] through file descriptor [SpecFD]; what came of it goes out as
// one [ExitReport] through [wordFD].
//
// The first process of the namespaces stays outside of the walls that it
// builds for its child (they are the calling thread's), but has nothing that
// the child could take over: it cannot be traced, and its memory cannot be
// opened. Its end is the end of every process in the jail.
package jail

import (
	"encoding/json"
	"io"
	"time"
)

// Arg is the only argument of a program that is to be a jail.
const Arg = "__jail"

// File descriptors of a jail.
const (
	SpecFD = 3 // a Spec in JSON, then its end; while another process has it locked the jail waits
	wordFD = 4 // takes a Word
	doorFD = 5 // takes the sockets of the proxy and the other ports, where the Spec has a Door
	joinFD = 6 // and on: the doors of control groups, as many as the Spec says
)

// ProxyPort is where a command with a way out finds its proxy, on the loopback
// of its own. No system gives this port away by itself.
const ProxyPort = 61080

// Home is the private home in a jail with a view of its own.
const Home = "/tmp/home"

// MountMode a path is shown.
type MountMode string

// The ways to show a path.
const (
	Show  MountMode = "show"  // read-only
	Bind  MountMode = "bind"  // writable
	Link  MountMode = "link"  // a symbolic link to From
	Copy  MountMode = "copy"  // a copy of a small file
	Tmpfs MountMode = "tmpfs" // empty, writable, Size bytes at most
	Layer MountMode = "layer" // as it is, and what is written goes to Over/upper
	Cover MountMode = "cover" // there, and nobody may open or change it
)

// Mount is one path of the view. A Show or Copy of what is not there is left
// out.
type Mount struct {
	How  MountMode `json:"how"`
	Path string    `json:"path"`           // inside; clean and absolute
	From string    `json:"from,omitempty"` // outside, or what a link says; empty means Path
	Size int64     `json:"size,omitempty"`
	Over string    `json:"over,omitempty"` // directory outside, with an upper and a work in it
	// Inner is a path below another that may hold links made by those who
	// are to be confined: none is followed.
	Inner bool `json:"inner,omitempty"`
}

// Limits bound what a jail uses. Zero means no limit.
type Limits struct {
	Memory    int64 `json:"memory,omitempty"`    // bytes of all processes together; watched, so a moment late
	Processes int   `json:"processes,omitempty"` // and threads
	// CPU is the processors' time of all processes together, those that have
	// ended included; watched, so a moment late.
	CPU       time.Duration `json:"cpu,omitempty"`
	FileSize  int64         `json:"file_size,omitempty"`  // bytes of each file
	OpenFiles int           `json:"open_files,omitempty"` // of each process
	Disk      int64         `json:"disk,omitempty"`       // bytes it adds to the disk; watched, so a moment late
	Tmp       int64         `json:"tmp,omitempty"`        // bytes of each private directory in memory, such as /tmp
}

// Kind is the kind of walls.
type Kind string

// The kinds.
const (
	Spaces   Kind = "spaces"   // namespaces, Landlock and a filter
	Guard    Kind = "guard"    // owns a Landlock cell and all it starts
	Landlock Kind = "landlock" // Landlock and a filter that knows no sockets
	Door     Kind = "door"     // none: it is inside of a box already, and opens its way out
)

// Spec says what to run, and in what.
type Spec struct {
	Kind     Kind     `json:"kind"`
	Args     []string `json:"args"`
	Dir      string   `json:"dir"`
	Env      []string `json:"env"`
	Mounts   []Mount  `json:"mounts"`   // outer ones first
	Writable []string `json:"writable"` // directories that Landlock lets it write
	Readable []string `json:"readable"` // paths that Landlock shows, where it is the only wall
	Limits   Limits   `json:"limits"`
	Own      string   `json:"own,omitempty"`   // directory that a guard removes at the end
	Door     bool     `json:"door,omitempty"`  // there is a way out, through a proxy
	Local    []int    `json:"local,omitempty"` // further ports of its loopback that are served outside
	Join     int      `json:"join,omitempty"`  // how many control groups it enters
}

// ExitReport is what a jail says at its end.
type ExitReport struct {
	Exit    *int   `json:"exit,omitempty"`    // of the command: 128+n after signal n
	Missing bool   `json:"missing,omitempty"` // there is no such program
	Error   string `json:"error,omitempty"`   // why the command was not started
}

// readSpec reads a Spec to its end.
func readSpec(r io.Reader) (Spec, error) {
	var s Spec
	return s, json.NewDecoder(r).Decode(&s)
}
