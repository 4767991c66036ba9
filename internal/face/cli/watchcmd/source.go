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
	"github.com/nexus-ai-builder/nexus/internal/face/tui"
	"github.com/nexus-ai-builder/nexus/internal/face/view/hub"
	"github.com/nexus-ai-builder/nexus/internal/face/view/projection"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

// source reads the displayed data from a hub.
type source struct {
	hub     *hub.Hub
	journal *journal.Journal
	now     func() time.Time
	broken  atomic.Pointer[error] // why the journal is no longer followed
	looked  atomic.Int64          // when the run was last seen to exist, in nanoseconds
}

// lost stores why the journal is no longer followed.
func (s *source) lost(err error) {
	if err != nil {
		s.broken.Store(&err)
	}
}

// Changed implements [tui.Source].
func (s *source) Changed(run nexus.RunID) <-chan struct{} { return s.hub.Changed(run) }

// Read implements [tui.Source].
func (s *source) Read(ctx context.Context, ask tui.SnapshotRequest) (snap tui.Snapshot, err error) {
	if err := s.broken.Load(); err != nil {
		return snap, *err
	}
	if err := s.there(ctx, ask.Run); err != nil {
		return snap, err
	}
	err = s.hub.View(ask.Run, func(p *projection.Projection) (err error) {
		snap, err = tui.TakeSnapshot(p, ask, s.now())
		return err
	})
	return snap, err
}

// there returns an error if the run was deleted in the meantime. It checks once a second.
func (s *source) there(ctx context.Context, run nexus.RunID) error {
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
	execute host.Execute
}

// Do implements [tui.CommandRunner]. A command that continues a run in the background runs as at
// a terminal, because the run does not end with this process.
func (v *commandRunner) Do(ctx context.Context, args []string, stdin string) tui.Outcome {
	if slices.Contains(args, "--detach") {
		return v.beside(ctx, args)
	}
	said := ""
	h := host.Host{Console: v.a, Execute: v.execute}
	r := h.Run(ctx, host.Invocation{Args: args, Stdin: stdin, Person: true, Told: func(text string) { said = cmp.Or(text, said) }})
	out := tui.Outcome{Text: r.Text, Data: r.Data, Said: said}
	if r.Failure != nil {
		out.Failed = r.Failure.Message
		if r.Failure.Hint != "" {
			out.Failed += ". " + r.Failure.Hint
		}
	} else if end := r.Ended(); end != "" {
		out.Failed = cmp.Or(said, end)
	}
	return out
}

func (v *commandRunner) beside(ctx context.Context, args []string) tui.Outcome {
	var out, said bytes.Buffer
	if v.a.Dir != "" {
		args = append([]string{"-C", v.a.Dir}, args...) // the process starts in the same directory
	}
	c := console.New(strings.NewReader(""), &out, &said, v.a.App)
	err := v.execute(ctx, c, args)
	c.Fail(err)
	o := tui.Outcome{Text: out.String(), Said: strings.TrimSpace(said.String())}
	if err != nil {
		o.Failed = cmp.Or(o.Said, err.Error())
	}
	return o
}

// Edit implements [tui.CommandRunner].
func (v *commandRunner) Edit(path string) tui.Command {
	return &owner{func() error {
		return console.Edit(cmp.Or(v.a.Env("VISUAL"), v.a.Env("EDITOR"), "vi"), path)
	}}
}

// Terminal implements [tui.CommandRunner].
func (v *commandRunner) Terminal(ctx context.Context, args []string) tui.Command {
	return &owner{func() error {
		c := console.New(v.a.In, v.a.Out, v.a.Err, v.a.App)
		err := v.execute(ctx, c, args)
		if _, told := errors.AsType[console.ExitError](err); told {
			return nil
		}
		return err
	}}
}

// owner is a command that uses the terminal while it runs.
type owner struct{ run func() error }

// Run implements [tui.Command].
func (o *owner) Run() error { return o.run() }

// SetStdin implements [tui.Command]: it uses the process's stream.
func (*owner) SetStdin(io.Reader) {}

// SetStdout implements [tui.Command]: it uses the process's stream.
func (*owner) SetStdout(io.Writer) {}

// SetStderr implements [tui.Command]: it uses the process's stream.
func (*owner) SetStderr(io.Writer) {}
