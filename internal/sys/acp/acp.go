// Package acp runs third-party agent programs that speak the Agent Client Protocol, version 1:
// JSON-RPC in lines over the program's standard input and output.
//
//	start -> initialize -> new or load -> model, mode -> prompt -> stop reason
//
// The agent's actions become events of package stream, so the same consumer handles command-line
// agents and ACP agents. The agent's requests are confined to the worktree: files by the rules of
// our own file tools, terminals in the sandbox, permissions by the policy. Its questions go to
// people.
//
// The protocol grows: unknown messages are ignored, or answered as unknown, and never end a
// prompt.
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

// WorktreeFileAccess is the worktree as the agent accesses it through us. Paths are absolute. Errors are
// reported to the agent.
type WorktreeFileAccess interface {
	Read(name string) (text string, err error)
	Write(name, text string) error
}

// AgentLaunchOptions describes a program that is ready to run.
type AgentLaunchOptions struct {
	Program  agentcli.CLIAgentProgram
	File     string // path of the program
	Run      func(context.Context, sandbox.Command) (sandbox.Result, error)
	Command  sandbox.Command // directory and sandbox of the agent; Args is set here
	Terminal sandbox.Command // the same for commands that the agent has us run; they cannot read its home; Args is their shell
	Files    WorktreeFileAccess
	Writes   bool          // the agent may write to the worktree
	Keep     bool          // keep the process for further prompts, until Close
	Silence  time.Duration // limit without a message; 0: none
	Working  time.Duration // limit without a message while a tool of the agent runs; 0: none
}

const (
	cancelTime = 3 * time.Second  // limit for a cancelled prompt to end
	closeTime  = time.Second      // limit for closing a conversation
	loginTime  = 30 * time.Second // limit for a login without a person
	maxRefused = 20               // consecutive refused requests in a prompt
	maxAsked   = 2000             // permission requests in a prompt
	maxPeople  = 20               // questions to people in a prompt
	maxUnfit   = 3                // invalid answers to a question
)

// Agent is an agent program for one session. It must be used by one goroutine at a time, and
// closed with Close.
type Agent struct {
	launch     AgentLaunchOptions
	connection *agentConnection // nil: not running
	able       agentCapabilities
	id         string // conversation of the process, or ""
}

// NewAgent returns an agent whose process starts at its first prompt.
func NewAgent(l AgentLaunchOptions) *Agent { return &Agent{launch: l} }

// NewConversationID implements external.Agent. It returns "" because the agent makes identifiers itself.
func (a *Agent) NewConversationID() string { return "" }

// CanResume implements external.Agent. It is always true: an agent that cannot resume reports that
// the conversation is lost.
func (a *Agent) CanResume() bool { return true }

// ReportsProgress implements external.Agent.
func (a *Agent) ReportsProgress() bool { return true }

// Close ends the process and all processes that it started.
func (a *Agent) Close() { a.endProcess(context.Background()) }

func (a *Agent) endProcess(ctx context.Context) {
	if a.connection == nil {
		return
	}
	if a.able.canCloseSession() && a.id != "" && a.connection.broken == nil {
		ctx, stop := context.WithTimeoutCause(ctx, closeTime, errSilent)
		_ = a.connection.callAgent(ctx, "session/close", map[string]any{"sessionId": a.id}, nil, ignoreMessage)
		stop()
	}
	a.connection.close()
	a.connection, a.id = nil, ""
}

// promptFaultError is the error with which a prompt ended.
type promptFaultError struct {
	nexus.AgentProgramFault

	why string
}

// Error implements error.
func (f *promptFaultError) Error() string { return f.why }

func newPromptFault(f nexus.AgentProgramFault, format string, args ...any) error {
	return &promptFaultError{f, fmt.Sprintf(format, args...)}
}

// errNotRecorded is returned if the agent's actions could not be recorded.
var errNotRecorded = errors.New("the agent's actions could not be recorded")

// Prompt sends a prompt to the agent, and starts the agent if it is not running. It returns an
// error if the agent could not be run, if Heard failed, or, once ctx has ended, the cause of that.
// The result's Ended is filled in as far as it is known even with an error.
func (a *Agent) Prompt(ctx context.Context, q agentcli.AgentPrompt) (agentcli.PromptResult, error) {
	if a.connection == nil {
		if err := a.startProgram(ctx); err != nil {
			return agentcli.PromptResult{}, err
		}
	}
	t := newPromptTurn(a, q)
	end, err := t.runPrompt(ctx)
	stays := err == nil && end.Fault == "" && a.launch.Keep
	if stays {
		a.connection.stopTerminals()
		a.connection.answerStoppedTerminals(ctx)
		return agentcli.PromptResult{AgentPromptEnd: end}, nil
	}
	if broken := a.connection.broken; broken == nil && err == nil && end.Fault == "" {
		a.endProcess(ctx) // before anything is judged: a surviving process could still write to the tree
		return agentcli.PromptResult{AgentPromptEnd: end}, nil
	}
	a.connection.close()
	exit := a.connection.exitCode()
	a.connection, a.id = nil, ""
	return agentcli.PromptResult{AgentPromptEnd: end, Exit: exit}, err
}

// runPrompt runs the whole prompt: it opens the conversation if necessary, and turns the result into an
// end.
func (t *runningPromptTurn) runPrompt(ctx context.Context) (stream.AgentPromptEnd, error) {
	err := t.openAndSendPrompt(ctx)
	for _, e := range t.flushAll() {
		if err == nil || !errors.Is(err, errNotRecorded) {
			if heard := t.Heard(context.WithoutCancel(ctx), e); heard != nil {
				err = errors.Join(errNotRecorded, heard)
			}
		}
	}
	end := t.promptEndWithoutFault()
	f, named := errors.AsType[*promptFaultError](err)
	switch {
	case err == nil:
		return end, nil
	case errors.Is(err, errNotRecorded):
		return end, err
	case named:
		end.Fault, end.Why = f.AgentProgramFault, stream.BriefLine(f.why)
		return end, nil
	case ctx.Err() != nil:
		end.Fault, end.Why = nexus.FaultStopped, context.Cause(ctx).Error()
		return end, context.Cause(ctx)
	}
	end, broken := t.agent.endBrokenProcess(end, err)
	return end, broken
}

// endBrokenProcess closes the unusable process and returns how the prompt ended.
func (a *Agent) endBrokenProcess(end stream.AgentPromptEnd, err error) (stream.AgentPromptEnd, error) {
	l := a.connection
	switch {
	case errors.Is(err, errSilent) && l.garbage == 0:
		end.Fault, end.Why = nexus.FaultSilent, fmt.Sprintf("it sent nothing for %s and was stopped", l.waited)
		return end, nil
	case errors.Is(err, errSilent), errors.Is(err, errGarbage):
		end.Fault, end.Why = nexus.FaultGarbage, "its output is not the protocol: "+stream.BriefLine(l.lost)
		return end, nil
	}
	l.close()
	r, failed := l.process.Result()
	said := l.lost + "\n" + string(r.Stderr)
	switch known := stream.ClassifyFault(said); {
	case r.Over != "":
		end.Fault, end.Why = nexus.FaultCrashed, r.Exceeded
	case failed != nil && !errors.Is(failed, sandbox.ErrPipesClosed):
		return end, failed
	case known != "" && (l.heard == 0 || r.Exit != 0):
		end.Fault, end.Why = known, stream.BriefLine(said)
	case l.heard == 0 && l.lost != "":
		end.Fault, end.Why = nexus.FaultGarbage, "its output is not the protocol: "+stream.BriefLine(l.lost)
	case r.Exit > 0:
		end.Fault, end.Why = nexus.FaultCrashed, fmt.Sprintf("it exited with %d in the middle of a prompt: %s", r.Exit, stream.BriefLine(said))
	default:
		end.Fault, end.Why = nexus.FaultUnfinished, "it ended in the middle of a prompt"
	}
	return end, nil
}
