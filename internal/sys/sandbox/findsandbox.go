package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// FindSandbox returns a box that was tested, or an error with [nexus.CodeSandbox] and the next step. It
// runs one or two programs: call it once.
func FindSandbox(ctx context.Context, m ConfinementMode) (*Box, error) {
	var tries []ConfinementMode
	switch m {
	case ModeOff:
		return &Box{mode: ModeOff}, nil
	case ModeAuto, "":
		tries = []ConfinementMode{ModeNative, ModeBwrap, ModeLandlock} // docs/decisions explains the order
	case ModeNative, ModeBwrap, ModeLandlock:
		tries = []ConfinementMode{m}
	default:
		return nil, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("no sandbox %q", m), Hint: "Choose auto, native, bwrap, landlock or off.",
		}
	}
	var why []error
	for _, try := range tries {
		b, err := openBox(try)
		if err == nil {
			if err = b.probeConfinement(ctx); err == nil {
				return b, nil
			}
		}
		why = append(why, fmt.Errorf("%s: %w", try, err))
	}
	return nil, noSandboxError(errors.Join(why...))
}

func noSandboxError(cause error) error {
	return &nexus.Error{
		Code: nexus.CodeSandbox, Message: "no sandbox works here", Cause: cause,
		Hint: "Allow user namespaces (Ubuntu: sysctl kernel.apparmor_restrict_unprivileged_userns=0), or install bubblewrap " +
			"(apt install bubblewrap, dnf install bubblewrap, pacman -S bubblewrap), " +
			"or accept that agents can touch everything you can: --sandbox=off.",
	}
}

// Name returns the box's mode, such as "native".
func (b *Box) Name() string {
	if b.mode == "" {
		return string(ModeOff)
	}
	return string(b.mode)
}

// HidesHost reports whether the box hides all of the host that was not explicitly shown.
func (b *Box) HidesHost() bool { return b.mode == ModeNative || b.mode == ModeBwrap }

// SupportsWriteOverlay tests whether commands in dir can write to a layer in over instead.
func (b *Box) SupportsWriteOverlay(ctx context.Context, dir, over string) bool {
	if b.mode != ModeNative {
		return false
	}
	r, err := b.Run(ctx, Command{Args: []string{"/bin/sh", "-c", "exit 7"}, Dir: dir, Over: over, Env: []string{"PATH=/usr/bin:/bin"}, Timeout: secondTrial})
	return err == nil && r.Exit == 7
}

// DescribeLimits describes for people how resource limits are enforced: if the kernel does not
// enforce them immediately, usage is checked five times a second.
func (b *Box) DescribeLimits() string {
	own := b.DefaultLimits()
	by := func(kind string) string {
		if slices.Contains(b.groups.LimitedResources(), kind) {
			return " by a control group"
		}
		return " by polling"
	}
	all := []string{
		"memory " + FormatSize(own.Memory) + by("memory"), fmt.Sprintf("%d processes%s", own.Processes, by("pids")), "disk " + FormatSize(own.Disk) + " by polling",
	}
	if b.Name() == string(ModeOff) {
		all = nil
		if b.bounds == (ResourceLimits{}) {
			return "none: there is no sandbox, and no limits.memory, limits.cpu, limits.disk or limits.processes is set"
		}
		for _, x := range []struct {
			set  bool
			text string
		}{
			{b.bounds.Memory > 0, "memory " + FormatSize(own.Memory) + " by polling"},
			{b.bounds.Processes > 0, fmt.Sprintf("%d processes by polling", own.Processes)},
			{b.bounds.Disk > 0, "disk " + FormatSize(own.Disk) + " by polling"},
		} {
			if x.set {
				all = append(all, x.text)
			}
		}
	}
	if own.CPU > 0 {
		all = append(all, fmt.Sprintf("%s of processor time by polling", own.CPU))
	}
	if b.Name() != string(ModeOff) {
		all = append(all, fmt.Sprintf("files of %s and %d open ones by rlimits", FormatSize(own.FileSize), own.OpenFiles))
	}
	return strings.Join(all, ", ")
}

// KnownGaps lists the attacks that the box cannot stop, one line each, for people.
func (b *Box) KnownGaps() []string {
	switch b.mode {
	case ModeNative, ModeBwrap:
		return nil
	case ModeLandlock:
		return []string{
			"a worktree's .git, and what else is read-only in it, can be written to",
			"modes, owners and times of files that are yours can be changed",
			"names of files, processes and network interfaces can be seen",
			"files of the worktree that are hidden from agents can be opened by their commands",
			"programs have no loopback of their own either: tests that listen on one fail",
			"/tmp is the host's and cannot be written to; TMPDIR names a directory of the command's own",
		}
	default:
		return []string{"agents can touch everything that you can"}
	}
}

// probeConfinement tests that the box confines commands and that commands still work in it: a box that starts
// nothing confines everything. On a busy machine it may take long, so it gets a second attempt.
func (b *Box) probeConfinement(ctx context.Context) error {
	return runTrialTwice(func(limit time.Duration) error { return b.runProbeCommand(ctx, limit) })
}

func runTrialTwice(try func(limit time.Duration) error) error {
	err := try(firstTrial)
	if errors.Is(err, errSlow) {
		err = try(secondTrial)
	}
	return err
}

// Time limits of a test.
const (
	firstTrial  = 10 * time.Second
	secondTrial = time.Minute
)

var errSlow = errors.New("a trial took too long")

// runProbeCommand runs one test.
func (b *Box) runProbeCommand(ctx context.Context, limit time.Duration) error {
	dir, err := os.MkdirTemp("", "nexus-probe-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	for _, d := range []string{in, out} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(out, "secret"), []byte("secret"), 0o600); err != nil {
		return err
	}
	r, err := b.Run(ctx, Command{
		Args:    []string{"/bin/sh", "-c", `echo ok >made && ! cat "$0/secret" && ! echo x >"$0/made" && echo x >"$HOME/x" && exit 7`, out},
		Dir:     in,
		Env:     []string{"PATH=/usr/bin:/bin"},
		Timeout: limit,
	})
	if err != nil && !errors.Is(err, errTimeout) {
		return err
	}
	if err != nil || r.TimedOut {
		return fmt.Errorf("%w, %s: %s", errSlow, limit, sanitize.TruncateText(string(r.Stderr), 300))
	}
	made, err := os.ReadFile(filepath.Join(in, "made"))
	if r.Exit != 7 || err != nil || string(made) != "ok\n" {
		return fmt.Errorf("a trial exited with %d: %s", r.Exit, sanitize.TruncateText(string(r.Stderr), 300))
	}
	return nil
}
