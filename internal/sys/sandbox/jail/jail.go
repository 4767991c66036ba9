// Package jail is the inside of a sandbox: this program, started again by itself in namespaces of
// its own, builds the given view of the file system, drops all privileges, and runs one command as
// its child.
//
// A program that imports this package becomes a jail if its only argument is [JailArg]: that is
// checked while the program initializes, before the packages that make its start slow, and in
// every test binary alike. The instructions are a [JailSpec] in file descriptor [SpecFD]; the result
// is one [ExitReport] to [reportFD].
//
// The first process of the namespaces is not subject to the restrictions of its child (which
// belong to the calling thread), but has nothing that the child could take over: it cannot be
// traced, and its memory cannot be opened. Its end is the end of every process in the jail.
package jail

import (
	"encoding/json"
	"io"
	"time"
)

// JailArg is the only argument of a program that is started as a jail.
const JailArg = "__jail"

// File descriptors of a jail.
const (
	SpecFD   = 3 // a Spec in JSON until the end of the file; the jail waits while another process has it locked
	reportFD = 4 // receives an ExitReport
	proxyFD  = 5 // receives the sockets of the proxy and the other ports, if the Spec has a Door
	cgroupFD = 6 // first of the files for entering control groups, as many as the Spec has
)

// ProxyPort is the port of the proxy on the command's own loopback. Systems never assign this port
// automatically.
const ProxyPort = 61080

// BoxHome is the private home in a jail with its own view.
const BoxHome = "/tmp/home"

// PathMountMode is the way in which a path is shown.
type PathMountMode string

// The modes of mounts.
const (
	MountShow  PathMountMode = "show"  // read-only
	MountBind  PathMountMode = "bind"  // writable
	MountLink  PathMountMode = "link"  // a symbolic link to From
	MountCopy  PathMountMode = "copy"  // a copy of a small file
	MountTmpfs PathMountMode = "tmpfs" // empty, writable, limited to Size bytes
	MountLayer PathMountMode = "layer" // the original, with writes going to Over/upper
	MountCover PathMountMode = "cover" // exists, but cannot be opened or changed
)

// PathMount is one path of the view. A Show or Copy of a missing path is skipped.
type PathMount struct {
	How  PathMountMode `json:"how"`
	Path string        `json:"path"`           // inside; clean and absolute
	From string        `json:"from,omitempty"` // outside, or the target of a link; empty means Path
	Size int64         `json:"size,omitempty"`
	Over string        `json:"over,omitempty"` // directory outside, with the directories upper and work
	// Inner marks a path below another that may contain links made by confined processes: no link
	// is followed.
	Inner bool `json:"inner,omitempty"`
}

// ResourceLimits are the limits of a jail. Zero means none.
type ResourceLimits struct {
	Memory    int64 `json:"memory,omitempty"`    // bytes of all processes together; watched, so enforced with a delay
	Processes int   `json:"processes,omitempty"` // processes and threads
	// CPU is the processor time of all processes together, including ended ones; watched, so
	// enforced with a delay.
	CPU       time.Duration `json:"cpu,omitempty"`
	FileSize  int64         `json:"file_size,omitempty"`  // bytes of each file
	OpenFiles int           `json:"open_files,omitempty"` // of each process
	Disk      int64         `json:"disk,omitempty"`       // bytes it adds to the disk; watched, so enforced with a delay
	Tmp       int64         `json:"tmp,omitempty"`        // bytes of each private directory in memory, such as /tmp
}

// ConfinementKind is the kind of confinement.
type ConfinementKind string

// The kinds of confinement.
const (
	KindNamespaces ConfinementKind = "spaces"   // namespaces, Landlock and a filter
	KindGuard      ConfinementKind = "guard"    // owns a Landlock process and all its descendants
	KindLandlock   ConfinementKind = "landlock" // Landlock and a filter without sockets
	KindEgress     ConfinementKind = "door"     // none: inside of another box, only opens the sockets
)

// JailSpec describes a command and its confinement.
type JailSpec struct {
	Kind     ConfinementKind `json:"kind"`
	Args     []string        `json:"args"`
	Dir      string          `json:"dir"`
	Env      []string        `json:"env"`
	Mounts   []PathMount     `json:"mounts"`   // outer ones before inner ones
	Writable []string        `json:"writable"` // directories that Landlock allows it to write
	Readable []string        `json:"readable"` // paths that Landlock allows it to read, without namespaces
	Limits   ResourceLimits  `json:"limits"`
	Own      string          `json:"own,omitempty"`   // directory that a guard removes at the end
	Door     bool            `json:"door,omitempty"`  // network access through a proxy
	Local    []int           `json:"local,omitempty"` // further ports of its loopback that are served from outside
	Join     int             `json:"join,omitempty"`  // number of control groups to enter
}

// ExitReport is the result of a jail.
type ExitReport struct {
	Exit    *int   `json:"exit,omitempty"`    // of the command: 128+n after signal n
	Missing bool   `json:"missing,omitempty"` // the program does not exist
	Error   string `json:"error,omitempty"`   // why the command was not started
}

// readSpec reads a Spec to its end.
func readSpec(r io.Reader) (JailSpec, error) {
	var s JailSpec
	return s, json.NewDecoder(r).Decode(&s)
}
