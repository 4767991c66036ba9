// Package acp runs agent programs of other makers that speak the Agent Client
// Protocol, version 1: JSON-RPC in lines over the program's standard input and
// output.
//
//	start ─▶ initialize ─▶ new, or load what was there ─▶ model, mode ─▶ prompt ─▶ stop reason
//
// What the agent does becomes the events of package stream, so that whoever
// listens to a command line listens to this, too. What it asks of us it gets in
// the worktree only: files by the rules of our own file tools, terminals in the
// sandbox, permission as the policy says. Its questions go to people.
//
// The protocol grows: what is not known here is ignored, or answered as unknown,
// and never ends a prompt.
package acp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli/stream"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
)

// Files is the worktree as the agent sees it through us. Paths are absolute. An
// error is told to the agent.
type Files interface {
	Read(name string) (text string, err error)
	Write(name, text string) error
}

// Launch is a program that is ready to be run.
type Launch struct {
	Program  agentcli.Program
	File     string // the program itself
	Run      func(context.Context, sandbox.Command) (sandbox.Result, error)
	Command  sandbox.Command // where and in what the agent runs; Args is set here
	Terminal sandbox.Command // the same for the commands that it has us run, which see nothing of its home; Args is the shell that gets them
	Files    Files
	Writes   bool          // it may write to the worktree
	Keep     bool          // the process stays for further prompts, until Close
	Silence  time.Duration // without a message; 0: no limit
	Working  time.Duration // without a message while a tool of the agent runs; 0: no limit
}

const (
	cancelTime = 3 * time.Second  // for a prompt to end that is cancelled
	closeTime  = time.Second      // for a conversation to be closed
	loginTime  = 30 * time.Second // for a login that needs nobody
	maxRefused = 20               // requests that are refused in a prompt, one after the other
	maxAsked   = 2000             // requests for permission in a prompt
	maxPeople  = 20               // questions to people in a prompt
	maxUnfit   = 3                // answers to a question that do not fit
)

// Agent is an agent program for one session. One goroutine at a time uses it; Close
// must be called.
type Agent struct {
	launch Launch
	link   *link // nil: it does not run
	able   abilities
	id     string // conversation that the process has, empty for none
}

// New returns an agent that is started at its first prompt.
func New(l Launch) *Agent { return &Agent{launch: l} }

// NewID implements external.Agent: the agent makes identifiers itself.
func (a *Agent) NewID() string { return "" }

// Resumes implements external.Agent. One that cannot says that the conversation is
// lost.
func (a *Agent) Resumes() bool { return true }

// Tells implements external.Agent.
func (a *Agent) Tells() bool { return true }

// Close ends the process and everything that it started.
func (a *Agent) Close() { a.close(context.Background()) }

func (a *Agent) close(ctx context.Context) {
	if a.link == nil {
		return
	}
	if a.able.closes() && a.id != "" && a.link.broken == nil {
		ctx, stop := context.WithTimeoutCause(ctx, closeTime, errSilent)
		_ = a.link.ask(ctx, "session/close", map[string]any{"sessionId": a.id}, nil, ignore)
		stop()
	}
	a.link.close()
	a.link, a.id = nil, ""
}

// fault is an error that says how a prompt ended.
type fault struct {
	nexus.Fault

	why string
}

// Error implements error.
func (f *fault) Error() string { return f.why }

func faulty(f nexus.Fault, format string, args ...any) error {
	return &fault{f, fmt.Sprintf(format, args...)}
}

// errNotRecorded says that what the agent does could not be recorded.
var errNotRecorded = errors.New("the agent's actions could not be recorded")

// Prompt says something to the agent, which is started where it does not run. An
// error means that it could not be run, that Heard failed, or, when ctx ended, is
// the cause of that; Ended is what is known of it all the same.
func (a *Agent) Prompt(ctx context.Context, q agentcli.Prompt) (agentcli.PromptResult, error) {
	if a.link == nil {
		if err := a.start(ctx); err != nil {
			return agentcli.PromptResult{}, err
		}
	}
	t := newTurn(a, q)
	end, err := t.run(ctx)
	stays := err == nil && end.Fault == "" && a.launch.Keep
	if stays {
		a.link.stopTerminals()
		a.link.settleTerminals(ctx)
		return agentcli.PromptResult{End: end}, nil
	}
	if broken := a.link.broken; broken == nil && err == nil && end.Fault == "" {
		a.close(ctx) // in order: what lives on could write to what is judged next
		return agentcli.PromptResult{End: end}, nil
	}
	a.link.close()
	exit := a.link.exit()
	a.link, a.id = nil, ""
	return agentcli.PromptResult{End: end, Exit: exit}, err
}

// run does all of a prompt: the conversation is opened where it is not, and what it came to
// is put into an end.
func (t *turn) run(ctx context.Context) (stream.End, error) {
	err := t.talk(ctx)
	for _, e := range t.flushAll() {
		if err == nil || !errors.Is(err, errNotRecorded) {
			if heard := t.Heard(context.WithoutCancel(ctx), e); heard != nil {
				err = errors.Join(errNotRecorded, heard)
			}
		}
	}
	end := t.end()
	f, named := errors.AsType[*fault](err)
	switch {
	case err == nil:
		return end, nil
	case errors.Is(err, errNotRecorded):
		return end, err
	case named:
		end.Fault, end.Why = f.Fault, stream.Brief(f.why)
		return end, nil
	case ctx.Err() != nil:
		end.Fault, end.Why = nexus.FaultStopped, context.Cause(ctx).Error()
		return end, context.Cause(ctx)
	}
	end, broken := t.agent.broken(end, err)
	return end, broken
}

// broken says how a prompt ended whose process is of no use any more.
func (a *Agent) broken(end stream.End, err error) (stream.End, error) {
	l := a.link
	switch {
	case errors.Is(err, errSilent) && l.garbage == 0:
		end.Fault, end.Why = nexus.FaultSilent, fmt.Sprintf("it sent nothing for %s and was stopped", l.waited)
		return end, nil
	case errors.Is(err, errSilent), errors.Is(err, errGarbage):
		end.Fault, end.Why = nexus.FaultGarbage, "its output is not the protocol: "+stream.Brief(l.lost)
		return end, nil
	}
	l.close()
	r, failed := l.process.Result()
	said := l.lost + "\n" + string(r.Stderr)
	switch known := stream.Classify(said); {
	case r.Over != "":
		end.Fault, end.Why = nexus.FaultCrashed, r.Exceeded
	case failed != nil && !errors.Is(failed, sandbox.ErrPipesClosed):
		return end, failed
	case known != "" && (l.heard == 0 || r.Exit != 0):
		end.Fault, end.Why = known, stream.Brief(said)
	case l.heard == 0 && l.lost != "":
		end.Fault, end.Why = nexus.FaultGarbage, "its output is not the protocol: "+stream.Brief(l.lost)
	case r.Exit > 0:
		end.Fault, end.Why = nexus.FaultCrashed, fmt.Sprintf("it exited with %d in the middle of a prompt: %s", r.Exit, stream.Brief(said))
	default:
		end.Fault, end.Why = nexus.FaultUnfinished, "it ended in the middle of a prompt"
	}
	return end, nil
}
