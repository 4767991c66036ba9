package watchcmd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/host"
	"github.com/nexus-ai-builder/nexus/internal/face/common/projectionhub"
	"github.com/nexus-ai-builder/nexus/internal/face/tui"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// hubSource reads the displayed data from a hub.
type hubSource struct {
	hub     *projectionhub.ProjectionHub
	journal *journal.Journal
	now     func() time.Time
	broken  atomic.Pointer[error] // why the journal is no longer followed
	looked  atomic.Int64          // when the run was last seen to exist, in nanoseconds
}

// recordFailure stores why the journal is no longer followed.
func (s *hubSource) recordFailure(err error) {
	if err != nil {
		s.broken.Store(&err)
	}
}

// Changed implements [tui.SnapshotSource].
func (s *hubSource) Changed(run nexus.RunID) <-chan struct{} { return s.hub.Changed(run) }

// Read implements [tui.SnapshotSource].
func (s *hubSource) Read(ctx context.Context, ask tui.SnapshotRequest) (snap tui.RunSnapshot, err error) {
	if err := s.broken.Load(); err != nil {
		return snap, *err
	}
	if err := s.checkRunExists(ctx, ask.Run); err != nil {
		return snap, err
	}
	err = s.hub.WithProjection(ask.Run, func(p *projection.RunProjection) (err error) {
		snap, err = tui.TakeSnapshot(p, ask, s.now())
		return err
	})
	return snap, err
}

// checkRunExists returns an error if the run was deleted in the meantime. It checks once a second.
func (s *hubSource) checkRunExists(ctx context.Context, run nexus.RunID) error {
	now := s.now().UnixNano()
	if last := s.looked.Load(); now >= last && now < last+int64(time.Second) {
		return nil
	}
	for _, err := range s.journal.Events(ctx, run, 0) {
		s.looked.Store(now)
		return err
	}
	return &nexus.Error{
		Code: nexus.CodeNotFound, Message: "run " + string(run) + " is no longer in the journal",
		Hint: "Somebody deleted it, or its repository's state. nexus runs lists the runs.",
	}
}

// commandRunner runs the command lines of a person in the terminal interface.
type commandRunner struct {
	a       *console.Console
	execute host.ExecuteFunc
}

// Do implements [tui.CommandLineRunner]. A command that continues a run in the background runs as at
// a terminal, because the run does not end with this process.
func (v *commandRunner) Do(ctx context.Context, args []string, stdin string) tui.CommandOutcome {
	if slices.Contains(args, "--detach") {
		return v.runCaptured(ctx, args)
	}
	said := ""
	h := host.Host{Console: v.a, Execute: v.execute}
	r := h.Run(ctx, host.Invocation{Args: args, Stdin: stdin, Person: true, Told: func(text string) { said = cmp.Or(text, said) }})
	out := tui.CommandOutcome{Text: r.Text, Data: r.Data, Said: said}
	if r.Failure != nil {
		out.Failed = r.Failure.Message
		if r.Failure.Hint != "" {
			out.Failed += ". " + r.Failure.Hint
		}
	} else if end := r.ExitText(); end != "" {
		out.Failed = cmp.Or(said, end)
	}
	return out
}

func (v *commandRunner) runCaptured(ctx context.Context, args []string) tui.CommandOutcome {
	var out, said bytes.Buffer
	if v.a.Dir != "" {
		args = append([]string{"-C", v.a.Dir}, args...) // the process starts in the same directory
	}
	c := console.New(strings.NewReader(""), &out, &said, v.a.App)
	err := v.execute(ctx, c, args)
	c.Fail(err)
	o := tui.CommandOutcome{Text: out.String(), Said: strings.TrimSpace(said.String())}
	if err != nil {
		o.Failed = cmp.Or(o.Said, err.Error())
	}
	return o
}

// Edit implements [tui.CommandLineRunner].
func (v *commandRunner) Edit(path string) tui.TerminalCommand {
	return &terminalOwner{func() error {
		return console.OpenEditor(cmp.Or(v.a.Env("VISUAL"), v.a.Env("EDITOR"), "vi"), path)
	}}
}

// Terminal implements [tui.CommandLineRunner].
func (v *commandRunner) Terminal(ctx context.Context, args []string) tui.TerminalCommand {
	return &terminalOwner{func() error {
		c := console.New(v.a.In, v.a.Out, v.a.Err, v.a.App)
		err := v.execute(ctx, c, args)
		if _, told := errors.AsType[console.ExitError](err); told {
			return nil
		}
		return err
	}}
}

// terminalOwner is a command that uses the terminal while it runs.
type terminalOwner struct{ run func() error }

// Run implements [tui.TerminalCommand].
func (o *terminalOwner) Run() error { return o.run() }

// SetStdin implements [tui.TerminalCommand]: it uses the process's stream.
func (*terminalOwner) SetStdin(io.Reader) {}

// SetStdout implements [tui.TerminalCommand]: it uses the process's stream.
func (*terminalOwner) SetStdout(io.Writer) {}

// SetStderr implements [tui.TerminalCommand]: it uses the process's stream.
func (*terminalOwner) SetStderr(io.Writer) {}
