package agentcli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli/stream"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
)

// AgentPrompt is a prompt for an agent, with the callbacks that receive its requests and events.
type AgentPrompt struct {
	Text   string
	ID     string // identifier of its conversation; empty: the program makes one
	Resume bool   // the program already has that conversation
	Money  nexus.Money
	Spent  nexus.Money // earlier cost of the conversation, as the program counts it
	Turns  int
	// Permit returns the reason why a call of the agent is refused, or "".
	Permit func(ctx context.Context, c stream.AgentToolCall) (refused string)
	// Ask asks a person on behalf of the agent, and returns the answer, or the question's fallback
	// if no person is there. Nil: questions are never asked.
	Ask func(ctx context.Context, q AgentQuestion) (answer string, err error)
	// Heard receives the events of the agent. An error stops the agent.
	Heard func(ctx context.Context, e stream.AgentEvent) error
}

// AgentQuestion is a question of an agent to a person.
type AgentQuestion struct {
	Text     string
	Fallback string
	Personal bool // no model may answer it
}

// PromptResult describes how the program ended.
type PromptResult struct {
	stream.AgentPromptEnd

	Exit int
}

// ProgramLaunch describes a program that is ready to run.
type ProgramLaunch struct {
	Program CLIAgentProgram
	File    string // path of the program
	Run     func(context.Context, sandbox.Command) (sandbox.Result, error)
	Command sandbox.Command // directory and sandbox; Args, Stdin and Stdout are set here
	Silence time.Duration   // limit without a line; 0: none
	Working time.Duration   // limit without a line while a tool of the agent runs; 0: none
}

const (
	maxLine  = 32 << 20         // bytes of a line; a longer one is skipped
	exitTime = 10 * time.Second // limit for the exit after the prompt is done
)

var (
	errSilent = errors.New("the agent printed nothing for too long")
	errHeard  = errors.New("the agent's actions could not be recorded")
)

// Prompt runs the program for one prompt. It returns an error if the program could not be run, if
// Heard failed, or, once ctx has ended, the cause of that. The result's Ended is filled in as far
// as it is known even with an error.
func (l ProgramLaunch) Prompt(ctx context.Context, q AgentPrompt) (PromptResult, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	c := l.Command
	c.Env = append(slices.Clone(c.Env), l.Program.Env...)
	c.Args = append([]string{l.File}, l.Program.promptArgs(q, HomeDir(c.Env))...)
	p, err := sandbox.StartProcess(ctx, l.Run, c)
	if err != nil {
		return PromptResult{}, err
	}
	defer p.Close() //nolint:errcheck // it is dead then
	s := &cliPromptSession{
		ProgramLaunch: l, AgentPrompt: q, process: p, decoder: stream.NewDecoder(l.Program.Speaks, l.Program.End),
		lines: make(chan []byte), open: map[string]bool{},
	}
	go s.readLines() // ends with the process; Close waits for that
	text, answers := l.Program.promptInput(q)
	go func() { // a program that does not read its input is killed for its silence
		_, _ = p.Write(text)
		if !answers {
			_ = p.CloseInput()
		}
	}()
	if err = s.handleLines(ctx); err != nil {
		stop(err) // immediately on an error; a finished program may exit by itself
	}
	_ = p.Close()
	for range s.lines { // unblocks read
	}
	return s.promptResult(err)
}

// HomeDir returns the home directory of an environment.
func HomeDir(env []string) (dir string) {
	for _, e := range env {
		if is, ok := strings.CutPrefix(e, "HOME="); ok {
			dir = is
		}
	}
	return dir
}

// cliPromptSession is a running prompt. One goroutine owns it; another one reads.
type cliPromptSession struct {
	ProgramLaunch
	AgentPrompt

	process *sandbox.Process
	decoder stream.AgentStreamDecoder
	lines   chan []byte
	open    map[string]bool // calls without a result
	people  int             // questions to people
	acted   int             // messages with tool calls, or calls; see [CLIAgentProgram.printsSingleCalls]
	worked  bool            // it printed something that may be about its work
	done    bool
}

// readLines sends the lines of the program to the channel.
func (s *cliPromptSession) readLines() {
	defer close(s.lines)
	ForEachLine(s.process, func(line []byte) { s.lines <- line })
}

// ForEachLine calls each for every line until the end, including a last line without a line feed. A
// line longer than 32 MiB is replaced by a line that reports it.
func ForEachLine(from io.Reader, each func(line []byte)) {
	r := bufio.NewReaderSize(from, 64<<10)
	for {
		var line []byte
		long := false
		for {
			part, err := r.ReadSlice('\n')
			if long = long || len(line)+len(part) > maxLine; !long {
				line = append(line, part...)
			}
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
			if long {
				line = []byte("(a line that is too long)")
			}
			if len(line) > 0 {
				each(line)
			}
			if err != nil {
				return
			}
			break
		}
	}
}

// handleLines handles the program's lines until the prompt is done or fails.
func (s *cliPromptSession) handleLines(ctx context.Context) error {
	for {
		wait, stop := s.silenceTimer()
		select {
		case line, ok := <-s.lines:
			stop()
			if !ok {
				return nil
			}
			if err := s.handleLine(ctx, line); err != nil {
				return err
			}
		case <-wait:
			if s.done {
				return nil // the program has no reason to run on
			}
			return errSilent
		case <-ctx.Done():
			stop()
			return context.Cause(ctx)
		}
	}
}

// silenceTimer returns a channel that fires after the program has been silent for too long, and a
// function that stops the timer.
func (s *cliPromptSession) silenceTimer() (<-chan time.Time, func()) {
	limit := s.Silence
	switch {
	case s.done:
		limit = exitTime
	case len(s.open) > 0:
		limit = s.Working
	}
	if limit <= 0 {
		return nil, func() {}
	}
	t := time.NewTimer(limit)
	return t.C, func() { t.Stop() }
}

func (s *cliPromptSession) handleLine(ctx context.Context, line []byte) error {
	formless := slices.Contains([]string{"aider", "crush", "text"}, s.Program.Speaks)
	s.worked = s.worked || formless || bytes.HasPrefix(line, []byte("{"))
	for _, e := range s.decoder.DecodeLine(line) {
		switch e.Kind {
		case stream.ConversationOpened:
			e.ID = cmp.Or(e.ID, s.ID)
		case stream.MessageSaid:
			for _, c := range e.Calls {
				s.open[c.ID] = true
			}
			if len(e.Calls) > 0 {
				s.acted++
			}
		case stream.CallAnswered:
			delete(s.open, e.ID)
		case stream.PermissionAsked:
			if err := s.handleRequest(ctx, e); err != nil {
				return err
			}
			continue
		case stream.PromptEnded:
			s.done = true
			_ = s.process.CloseInput()
		default:
		}
		if err := s.Heard(ctx, e); err != nil {
			return errors.Join(errHeard, err)
		}
	}
	return s.limitError()
}

// promptLimitError is returned if the agent exceeded a limit of the prompt.
type promptLimitError struct {
	fault nexus.AgentProgramFault
	why   string
}

// Error implements error.
func (e *promptLimitError) Error() string { return e.why }

// costReportingDecoder is a decoder that knows the cost of the prompt before its end.
type costReportingDecoder interface{ Cost() nexus.Money }

// limitError returns an error if the agent reached a limit, because most programs have no limit of
// their own. An agent that is already done may still report that.
func (s *cliPromptSession) limitError() error {
	if s.done {
		return nil
	}
	most, what := s.Turns, "turns"
	if s.Program.printsSingleCalls() {
		most, what = most*callsPerTurn, "tool calls"
	}
	if !s.Program.hasTurnLimit() && most > 0 && s.acted > most {
		return &promptLimitError{nexus.FaultTurns, fmt.Sprintf("it did more than %d %s", most, what)}
	}
	if c, ok := s.decoder.(costReportingDecoder); ok && s.Money > 0 && c.Cost() > s.Money {
		return &promptLimitError{nexus.FaultBudget, "it cost more than was set aside for it"}
	}
	return nil
}

// handleRequest answers a request of the agent: for permission of a call, or for the answer of a
// person.
func (s *cliPromptSession) handleRequest(ctx context.Context, e stream.AgentEvent) error {
	c := e.Calls[0]
	refused := s.Permit(ctx, c)
	if refused == "" && c.Tool == AskTool {
		var err error
		if c.Input, refused, err = s.answerQuestion(ctx, c); err != nil {
			return err
		}
	}
	s.answerPermission(e.ID, c.Input, refused)
	return nil
}

// answerPermission sends the decision about a call. A program that does not read it counts as silent from
// then on.
func (s *cliPromptSession) answerPermission(id string, input json.RawMessage, refused string) {
	decision := map[string]any{"behavior": "allow", "updatedInput": input}
	if refused != "" {
		decision = map[string]any{"behavior": "deny", "message": refused}
	}
	_, _ = s.process.Write(append(encodeJSON(map[string]any{
		"type": "control_response", "response": map[string]any{"subtype": "success", "request_id": id, "response": decision},
	}), '\n'))
}

// promptResult returns how the program ended, after it is dead.
func (s *cliPromptSession) promptResult(err error) (PromptResult, error) {
	r, broken := s.process.Result()
	e := PromptResult{AgentPromptEnd: s.decoder.Close(r.Exit, string(r.Stderr)), Exit: r.Exit}
	over, isOver := errors.AsType[*promptLimitError](err)
	switch {
	case errors.Is(err, errHeard):
		return e, err
	case isOver:
		e.Fault, e.Why = over.fault, over.why
		return e, nil
	case errors.Is(err, errSilent) && e.Fault == nexus.FaultLogin && s.isWaitingForLogin(r.Stderr):
		return e, nil
	case errors.Is(err, errSilent) && !s.done:
		e.Fault, e.Why = nexus.FaultSilent, fmt.Sprintf("it printed nothing for %s and was stopped", s.silenceLimit())
		return e, nil
	case err != nil && !s.done:
		e.Fault, e.Why = nexus.FaultStopped, err.Error()
		return e, err
	case r.Over != "" && !s.done:
		e.Fault, e.Why = nexus.FaultCrashed, r.Exceeded
	case broken != nil && !s.done && !errors.Is(broken, sandbox.ErrPipesClosed) && !errors.Is(broken, io.EOF):
		return e, broken
	}
	return e, nil
}

// isWaitingForLogin reports whether a silent program that printed about a login waits for a person to
// log in. While it works, such words may be about the task: for example, a server that it started
// prints them.
func (s *cliPromptSession) isWaitingForLogin(stderr []byte) bool {
	return !s.worked || stream.ClassifyFault(string(stderr)) == nexus.FaultLogin
}

func (s *cliPromptSession) silenceLimit() time.Duration {
	if len(s.open) > 0 {
		return s.Working
	}
	return s.Silence
}
