package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/cgroup"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/jail"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/proc"
)

// ResourceLimits limit the resources of a command. Zero fields of a [Command]'s Limits have default
// values.
type ResourceLimits = jail.ResourceLimits

// ExceededLimit is the limit that a killed command exceeded.
type ExceededLimit string

// The limits that are watched: a command above one is killed.
const (
	OverMemory    ExceededLimit = "memory"
	OverProcesses ExceededLimit = "processes"
	OverDisk      ExceededLimit = "disk"
	OverCPU       ExceededLimit = "cpu"
)

// DefaultLimits returns the default limits of a command: high enough for compilers and tests, and
// low enough to keep the machine alive.
func DefaultLimits() ResourceLimits {
	return ResourceLimits{
		Memory:    defaultMemoryLimit(),
		Processes: 512 + 128*runtime.NumCPU(),
		FileSize:  4 << 30,
		OpenFiles: 16384,
		Disk:      8 << 30,
		Tmp:       2 << 30,
	}
}

// WithLimits returns the box with other default limits for its commands; zero fields are
// unchanged. Without a sandbox, only the limits that are set here are watched.
func (b *Box) WithLimits(l ResourceLimits) *Box {
	own := *b
	own.bounds = l
	return &own
}

// DefaultLimits returns the box's default limits for a command.
func (b *Box) DefaultLimits() ResourceLimits { return limitsOrDefault(b.bounds, DefaultLimits()) }

// exceededReason describes the limit that a command exceeded, with the setting that raises it, or
// returns "".
func exceededReason(own ResourceLimits, by ExceededLimit) string {
	switch by {
	case OverMemory:
		return "it was killed because it used more than " + FormatSize(own.Memory) + " of memory (limits.memory)"
	case OverProcesses:
		return fmt.Sprintf("it was killed because it ran more than %d processes and threads (limits.processes)", own.Processes)
	case OverDisk:
		return "it was killed because it wrote more than " + FormatSize(own.Disk) + " to the disk (limits.disk)"
	case OverCPU:
		return fmt.Sprintf("it was killed because it used more than %s of processor time (limits.cpu)", own.CPU)
	default:
		return ""
	}
}

// FormatSize formats a number of bytes for people, with the units of settings.
func FormatSize(n int64) string {
	for _, u := range []struct {
		shift int
		name  string
	}{{40, "T"}, {30, "G"}, {20, "M"}, {10, "K"}} {
		if n >= 1<<u.shift {
			return strings.TrimSuffix(strconv.FormatFloat(float64(n)/float64(int64(1)<<u.shift), 'f', 1, 64), ".0") + u.name
		}
	}
	return strconv.FormatInt(n, 10)
}

// defaultMemoryLimit returns three quarters of the machine's memory, or 8 GiB if unknown.
func defaultMemoryLimit() int64 {
	if all := proc.MachineMemory(); all > 0 {
		return max(all/4*3, 1<<30)
	}
	return 8 << 30
}

// limitsOrDefault returns the limits with the zero ones replaced by usual.
func limitsOrDefault(l, usual ResourceLimits) ResourceLimits {
	l.CPU = cmp.Or(l.CPU, usual.CPU)
	l.Memory = cmp.Or(l.Memory, usual.Memory)
	l.Processes = cmp.Or(l.Processes, usual.Processes)
	l.FileSize = cmp.Or(l.FileSize, usual.FileSize)
	l.OpenFiles = cmp.Or(l.OpenFiles, usual.OpenFiles)
	l.Disk = cmp.Or(l.Disk, usual.Disk)
	l.Tmp = cmp.Or(l.Tmp, usual.Tmp)
	return l
}

// limitCheckInterval is the interval of measuring a command's usage.
const limitCheckInterval = 200 * time.Millisecond

// commandLimitWatch kills a command that exceeds its limits. One thread at a time may call it.
type commandLimitWatch struct {
	limits ResourceLimits
	dirs   []string // writable directories on disks
	began  time.Time
	free   []int64 // free bytes of each disk at the start
	kill   func()
	use    func() (proc.ResourceUsage, bool)
	over   ExceededLimit
}

// newLimitWatch measures the state before a command starts; the caller sets began, kill and use.
func newLimitWatch(c Command) *commandLimitWatch {
	w := &commandLimitWatch{limits: c.Limits, dirs: append([]string{c.Dir}, c.Writable...)}
	if c.Over != "" {
		w.dirs[0] = c.Over
	}
	if c.Tmp != "" {
		w.dirs = append(w.dirs, c.Tmp)
	}
	for _, dir := range w.dirs {
		w.free = append(w.free, proc.FreeDiskBytes(dir))
	}
	return w
}

// killIfOver kills the command if it exceeds a limit.
func (w *commandLimitWatch) killIfOver() {
	if w.over != "" {
		return
	}
	var use proc.ResourceUsage
	ok := w.limits.Memory > 0 || w.limits.Processes > 0 || w.limits.CPU > 0
	if ok {
		use, ok = w.use()
	}
	switch l := w.limits; {
	case ok && l.Memory > 0 && use.Memory > l.Memory:
		w.over = OverMemory
	case ok && l.Processes > 0 && use.Threads > l.Processes:
		w.over = OverProcesses
	case ok && l.CPU > 0 && use.CPU > l.CPU:
		w.over = OverCPU
	case l.Disk > 0 && w.isOverDiskLimit():
		w.over = OverDisk
	default:
		return
	}
	w.kill()
}

// finishGroup removes a command's group, and reports whether we or the kernel killed the command
// because of a limit.
func (w *commandLimitWatch) finishGroup(ctx context.Context, g *cgroup.ControlGroup, r *Result) bool {
	met := g.KillAndRemove()
	if met.Memory && w.over == "" && ctx.Err() == nil {
		w.over = OverMemory
	}
	r.crowded = met.Processes
	if r.Over = w.over; r.Over != "" {
		r.Exit = -1
	}
	return r.Over != ""
}

// isOverDiskLimit reports whether the command wrote more than it may. The files are counted only if the
// free space of the disk has shrunk; deleted open files are detected only through the disk, when
// it is nearly full.
func (w *commandLimitWatch) isOverDiskLimit() bool {
	for i, dir := range w.dirs {
		free := proc.FreeDiskBytes(dir)
		if w.free[i]-free <= w.limits.Disk {
			continue
		}
		if free < w.limits.Disk/8 {
			return true
		}
		var sum int64
		for _, d := range w.dirs {
			sum += proc.WrittenBytes(d, w.began, w.limits.Disk)
		}
		if sum > w.limits.Disk {
			return true
		}
	}
	return false
}
