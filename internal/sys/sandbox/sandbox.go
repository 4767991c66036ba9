// Package sandbox runs confined commands: it restricts the files they read and write, their time
// and resources, and the stored part of their output, and makes sure that no process that they
// started outlives them.
//
// A [Box] is a method of confinement. In namespaces (made by this program itself, or by
// bubblewrap) a command sees system files and toolchains read-only, a private /tmp, /proc, /dev
// and home, its own loopback and no other network, no capabilities, few system calls that could
// break out, and only the directories it was given; it dies with this process. Landlock alone
// shows the host's tree, of which little may be read or written, and no network at all. The box
// "off" confines neither files nor network and must be requested explicitly: it limits time and
// output, and kills the remaining processes of a command as far as it can identify them.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"

	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/cgroup"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/jail"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/proc"
)

// ConfinementMode is a method of confinement.
type ConfinementMode string

// The methods of confinement.
const (
	ModeAuto     ConfinementMode = "auto"     // the best that works on this machine; never off
	ModeNative   ConfinementMode = "native"   // namespaces made by this program
	ModeBwrap    ConfinementMode = "bwrap"    // bubblewrap
	ModeLandlock ConfinementMode = "landlock" // Landlock alone, for systems without user namespaces
	ModeOff      ConfinementMode = "off"      // no confinement, only on request
)

// Mark is the environment variable that every process in a box has. [Sweep] finds the remaining
// processes of a dead run by it.
const Mark = proc.Mark

// Command is one program to run.
type Command struct {
	Args []string // program and arguments; never a line for a shell
	// Dir is the worktree: the command starts there and may write there, except to a .git in it. It
	// must come from our own code, never from a model.
	Dir string
	Env []string // the whole environment; HOME is added if missing
	// Over is a directory for the command's writes to Dir, which is then unchanged itself; see
	// [OverlayLayer]. It may be set only if [Box.SupportsWriteOverlay] is true.
	Over     string
	Writable []string // further writable directories
	Readable []string // further readable paths; within a writable directory they are read-only
	Hidden   []string // paths below Dir and Readable that it cannot open, if [Box.HidesHost] is true
	Tmp      string   // directory to use as /tmp; empty means a fresh one for each run
	Mark     string   // name of the owner for [Sweep]; letters, digits and ./-_
	Stdin    io.Reader
	Stdout   *os.File       // gets standard output, which is neither stored nor passed to Heard then; see [Process]
	Limits   ResourceLimits // zero fields have the values of [DefaultLimits]
	Timeout  time.Duration  // 0 means only that of the context
	Cap      int64          // stored bytes of each stream, half from each end; 0 means 64 KiB
	// Keeper creates the storage of each stream. Nil: Cap applies.
	Keeper func() OutputBuffer
	Merge  bool         // standard error is merged into standard output
	Heard  func([]byte) // receives output as it arrives, one call at a time; must not retain it
	// Proxy serves the proxy that the command's environment names, which is its only network
	// access, until ctx ends. Nil: no network.
	Proxy func(ctx context.Context, l net.Listener)
	// Local serves further ports of the command's loopback, if that is its own and there is a
	// Proxy: programs use no proxy for loopback ports.
	Local map[int]func(ctx context.Context, l net.Listener)
}

// localPorts returns the served ports, sorted.
func (c Command) localPorts() []int { return slices.Sorted(maps.Keys(c.Local)) }

// OutputBuffer stores the relevant parts of a stream. Write never fails, and never retains its argument.
type OutputBuffer interface {
	Write(p []byte) (int, error)
	Bytes() (kept []byte, cut bool)
}

// Result is the result of a command.
type Result struct {
	Exit     int // 128+n after signal n; -1 if we killed it
	Stdout   []byte
	Stderr   []byte
	Cut      bool // output was omitted; a note in its middle has the amount
	TimedOut bool
	Over     ExceededLimit // the limit that it was killed for; empty for none
	Exceeded string        // description of that limit, with the setting that raises it
	Duration time.Duration

	crowded bool // the creation of a further process was refused
}

const defaultOutputCap = 64 << 10

// errTimeout is the cause if a command exceeded its own timeout.
var errTimeout = errors.New("out of time")

// Box confines commands. It may be used by many goroutines.
type Box struct {
	mode   ConfinementMode  // empty means off
	bwrap  string           // path of bubblewrap
	filter []byte           // system call filter for bubblewrap
	system []jail.PathMount // mounts that every command sees
	tools  []string         // toolchains that are mounted read-only
	groups *cgroup.ControlGroupParent
	bounds ResourceLimits // default limits of its commands; zero: see [DefaultLimits]
}

// Run runs a command and returns when all its processes are dead. A command that fails is no
// error. Run returns an error if the command could not be run, or if ctx ended; the Result then
// has the output until that time. A program that does not exist is an error with
// [nexus.CodeNotFound].
func (b *Box) Run(ctx context.Context, c Command) (Result, error) {
	if err := c.check(); err != nil {
		return Result{}, err
	}
	if c.Timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, c.Timeout, errTimeout)
		defer stop()
	}
	if ctx.Err() != nil {
		return Result{Exit: -1}, context.Cause(ctx)
	}
	if c.Limits = limitsOrDefault(c.Limits, b.bounds); b.Name() != string(ModeOff) {
		c.Limits = limitsOrDefault(c.Limits, DefaultLimits())
	}
	c, done, err := b.addEgress(ctx, c)
	if err != nil {
		return Result{}, err
	}
	defer done()
	r, err := b.runConfined(ctx, c)
	if r.crowded && r.Over == "" && r.Exit != 0 && !r.TimedOut && err == nil {
		r.Over, r.Exit = OverProcesses, -1
	}
	r.Exceeded = exceededReason(c.Limits, r.Over)
	return r, err
}

func (c Command) check() error {
	if len(c.Args) == 0 || c.Args[0] == "" {
		return errors.New("sandbox: no program to run")
	}
	for _, list := range [][]string{{c.Dir}, c.Writable, c.Readable, c.Hidden} {
		for _, p := range list {
			if !filepath.IsAbs(p) || filepath.Clean(p) != p || p == "/" {
				return fmt.Errorf("sandbox: %q is not a clean absolute path below the root", p)
			}
		}
	}
	if c.Tmp != "" && !filepath.IsAbs(c.Tmp) {
		return fmt.Errorf("sandbox: %q is not an absolute path", c.Tmp)
	}
	return nil
}

// boxEnviron returns environ for a box without the user's home, with variables for the tools that do
// not search it in HOME. Without network access, it includes the variables with which clients of
// registries fail at once.
func (c Command) boxEnviron(home, mark string) []string {
	var usual []string
	for _, v := range stack.MergedEnvironment().Private {
		usual = append(usual, strings.ReplaceAll(v, "{home}", home))
	}
	if c.Proxy == nil {
		usual = append(usual, offlineVars()...)
	}
	return c.environ(home, mark, usual...)
}

// environ returns the command's environment with a home and a mark, and with defaults for unset
// variables.
func (c Command) environ(home, mark string, usual ...string) []string {
	env := make([]string, 0, len(c.Env)+4)
	env = append(append(env, usual...), c.Env...)
	if _, ok := lookupVar(c.Env, "HOME"); !ok {
		env = append(env, "HOME="+home)
	}
	return keepLastValues(append(env, "PWD="+c.Dir, Mark+"="+mark))
}

// programNotFoundError returns the error for a program that does not exist.
func programNotFoundError(program string) error {
	return &nexus.Error{
		Code: nexus.CodeNotFound, Message: fmt.Sprintf("no program %q", program),
		Hint: "Install it, or add it to PATH.", Cause: fs.ErrNotExist,
	}
}

// findProgram looks up a command's program in its own PATH.
func findProgram(c Command) (string, error) {
	name := c.Args[0]
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(c.Dir, name)
		}
		if isExecutable(name) {
			return name, nil
		}
		return "", programNotFoundError(c.Args[0])
	}
	path, _ := lookupVar(c.Env, "PATH")
	for _, dir := range filepath.SplitList(path) {
		if full := filepath.Join(dir, name); filepath.IsAbs(dir) && isExecutable(full) {
			return full, nil
		}
	}
	return "", programNotFoundError(name)
}

func isExecutable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

func findBwrap() (string, error) {
	if isExecutable("/usr/bin/bwrap") {
		return "/usr/bin/bwrap", nil
	}
	path, err := exec.LookPath("bwrap")
	if err != nil {
		return "", err
	}
	return path, nil
}
