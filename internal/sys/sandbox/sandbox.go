// Package sandbox runs commands confined: what they read, what they write,
// how long they take, how much of their output is kept, and that nothing they
// started outlives them.
//
// A [Box] is a way to confine. In namespaces (made by this program itself, or
// by bubblewrap) a command sees system files and toolchains read-only, a
// private /tmp, /proc, /dev and home, its own loopback and no other network,
// no capability, few system calls that could break out, and only the
// directories it was given; it dies with this process. Landlock alone shows
// the host's tree, of which little may be read or written, and no network at
// all. The box "off" confines no file and no network and must be asked for:
// it bounds time and output, and kills what the command left behind as far as
// it can be recognised.
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

// Mode says how to confine.
type Mode string

// The modes.
const (
	Auto     Mode = "auto"     // the best that works here; never off
	Native   Mode = "native"   // namespaces of our own making
	Bwrap    Mode = "bwrap"    // bubblewrap
	Landlock Mode = "landlock" // Landlock alone, where no namespaces are allowed
	Off      Mode = "off"      // no confinement, explicitly
)

// Mark is the environment variable that every process in a box carries. It
// is how [Sweep] finds what a dead run left.
const Mark = proc.Mark

// Command is one program to run.
type Command struct {
	Args []string // program and arguments; never a line for a shell
	// Dir is the worktree: the command starts there and may write there,
	// except to a .git in it. It must come from us, never from a model.
	Dir string
	Env []string // the whole environment; HOME is added where it is missing
	// Over is a directory for what the command writes to Dir, which then stays
	// as it is: see package layer. Only where [Box.SupportsLayer] says that it can be.
	Over     string
	Writable []string // further directories that it may write to
	Readable []string // further paths that it may read; inside a writable one they are read-only
	Hidden   []string // paths below Dir and Readable that it cannot open, where the box says what is seen; see [Box.HidesHost]
	Tmp      string   // directory that stands for /tmp; empty means a fresh one for each run
	Mark     string   // names the owner to [Sweep]; letters, digits and ./-_
	Stdin    io.Reader
	Stdout   *os.File      // gets standard output, which is not kept and not heard then; see [Process]
	Limits   Limits        // where zero, what [DefaultLimits] says
	Timeout  time.Duration // 0 means none but the context's
	Cap      int64         // bytes kept of each stream, half from each end; 0 means 64 KiB
	// Keeper makes what keeps a stream instead, once for each. Nil: Cap says.
	Keeper func() Keeper
	Merge  bool         // standard error goes into Stdout
	Heard  func([]byte) // gets output as it arrives, one call at a time; must not keep it
	// Proxy serves the proxy that the command's environment then names, its
	// only way out, until ctx ends. Nil: it has no network.
	Proxy func(ctx context.Context, l net.Listener)
	// Local serves further ports of the loopback that the command sees, where that
	// is its own and there is a Proxy: programs do not ask a proxy for these.
	Local map[int]func(ctx context.Context, l net.Listener)
}

// localPorts returns the numbers of the ports that are served, in order.
func (c Command) localPorts() []int { return slices.Sorted(maps.Keys(c.Local)) }

// NetworkHint says so, in a line, where a command in the box prints what clients
// do that found no network. It is empty for other texts, and where the command
// has a way out.
func (b *Box) NetworkHint(c Command, text string) string {
	if c.Proxy != nil || b.Name() == string(Off) || !unreachedIn(text) {
		return ""
	}
	return "[no network here: nothing can be downloaded, and no other host can be reached; use what is installed, or say in finish what is missing]"
}

// Keeper takes a stream as it arrives and keeps what is worth keeping of it.
// Write never fails, and never keeps what it is given.
type Keeper interface {
	Write(p []byte) (int, error)
	Bytes() (kept []byte, cut bool)
}

// Result is what a command did.
type Result struct {
	Exit     int // 128+n after signal n; -1 when we killed it
	Stdout   []byte
	Stderr   []byte
	Cut      bool // output was left out; a note in its middle says how much
	TimedOut bool
	Over     Limit  // which limit it was killed for; empty for none
	Exceeded string // the same in words, with the setting that raises it
	Duration time.Duration

	crowded bool // somebody in it was refused another process
}

const defaultCap = 64 << 10

// errTimeout is the cause when a command ran out of its own time.
var errTimeout = errors.New("out of time")

// Box is a way to confine commands. It may be used by many goroutines.
type Box struct {
	mode   Mode         // empty means off
	bwrap  string       // path of bubblewrap
	filter []byte       // which system calls bubblewrap forbids
	system []jail.Mount // what every command sees
	tools  []string     // toolchains that are bound read-only
	groups *cgroup.Parent
	bounds Limits // usual ones of its commands; zero: see [DefaultLimits]
}

// Run runs a command and returns when it and everything it started is dead.
// A command that fails is no error; an error means that it could not be run,
// or that ctx ended, and then Result holds what it printed until then. A
// program that does not exist is an error with [nexus.CodeNotFound].
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
	if c.Limits = limitsOrDefault(c.Limits, b.bounds); b.Name() != string(Off) {
		c.Limits = limitsOrDefault(c.Limits, DefaultLimits())
	}
	c, done, err := b.addEgress(ctx, c)
	if err != nil {
		return Result{}, err
	}
	defer done()
	r, err := b.run(ctx, c)
	if r.crowded && r.Over == "" && r.Exit != 0 && !r.TimedOut && err == nil {
		r.Over, r.Exit = OverProcesses, -1
	}
	r.Exceeded = exceeded(c.Limits, r.Over)
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

// boxed is environ where the user's home is out of sight, which some tools do not
// look for in HOME.
// Without a way out it has what lets clients of registries fail at once.
func (c Command) boxed(home, mark string) []string {
	var usual []string
	for _, v := range stack.Environments().Private {
		usual = append(usual, strings.ReplaceAll(v, "{home}", home))
	}
	if c.Proxy == nil {
		usual = append(usual, offline()...)
	}
	return c.environ(home, mark, usual...)
}

// environ returns the command's environment with a home and a mark, and what is
// usual where it does not say otherwise.
func (c Command) environ(home, mark string, usual ...string) []string {
	env := make([]string, 0, len(c.Env)+4)
	env = append(append(env, usual...), c.Env...)
	if _, ok := lookup(c.Env, "HOME"); !ok {
		env = append(env, "HOME="+home)
	}
	return lastValues(append(env, "PWD="+c.Dir, Mark+"="+mark))
}

// missing is the error of a program that does not exist.
func missing(program string) error {
	return &nexus.Error{
		Code: nexus.CodeNotFound, Message: fmt.Sprintf("no program %q", program),
		Hint: "Install it, or add it to PATH.", Cause: fs.ErrNotExist,
	}
}

// program finds a command's program as its own PATH says.
func program(c Command) (string, error) {
	name := c.Args[0]
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(c.Dir, name)
		}
		if executable(name) {
			return name, nil
		}
		return "", missing(c.Args[0])
	}
	path, _ := lookup(c.Env, "PATH")
	for _, dir := range filepath.SplitList(path) {
		if full := filepath.Join(dir, name); filepath.IsAbs(dir) && executable(full) {
			return full, nil
		}
	}
	return "", missing(name)
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

func findBwrap() (string, error) {
	if executable("/usr/bin/bwrap") {
		return "/usr/bin/bwrap", nil
	}
	path, err := exec.LookPath("bwrap")
	if err != nil {
		return "", err
	}
	return path, nil
}
