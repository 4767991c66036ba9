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

// Prompt is what an agent is told, and who listens.
type Prompt struct {
	Text   string
	ID     string // of its conversation; empty: it makes one
	Resume bool   // it has that conversation already
	Money  nexus.Money
	Spent  nexus.Money // what the conversation cost before, as it counts
	Turns  int
	// Permit says why a call that the agent asks for is not allowed, empty
	// where it is.
	Permit func(ctx context.Context, c stream.Call) (refused string)
	// Ask asks a person in the agent's name, and returns what is answered: the
	// question's fallback where nobody is there. Nil: nobody is ever asked.
	Ask func(ctx context.Context, q Question) (answer string, err error)
	// Heard gets what the agent does. An error stops it.
	Heard func(ctx context.Context, e stream.Event) error
}

// Question is what an agent wants to know from a person.
type Question struct {
	Text     string
	Fallback string
	Personal bool // no model may answer it
}

// PromptResult is how the program ended.
type PromptResult struct {
	stream.End

	Exit int
}

// Launch is a program that is ready to be run.
type Launch struct {
	Program Program
	File    string // the program itself
	Run     func(context.Context, sandbox.Command) (sandbox.Result, error)
	Command sandbox.Command // where and in what; Args, Stdin and Stdout are set here
	Silence time.Duration   // without a line; 0: no limit
	Working time.Duration   // without a line while a tool of the agent runs; 0: no limit
}

const (
	maxLine  = 32 << 20         // bytes of a line that is read; a longer one is skipped
	exitTime = 10 * time.Second // for a program to exit after its prompt is done
)

var (
	errSilent = errors.New("the agent printed nothing for too long")
	errHeard  = errors.New("the agent's actions could not be recorded")
)

// Prompt runs the program for one prompt. An error means that it could not be
// run, that Heard failed, or, when ctx ended, is the cause of that; Ended is
// what is known of it all the same.
func (l Launch) Prompt(ctx context.Context, q Prompt) (PromptResult, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	c := l.Command
	c.Env = append(slices.Clone(c.Env), l.Program.Env...)
	c.Args = append([]string{l.File}, l.Program.args(q, HomeOf(c.Env))...)
	p, err := sandbox.StartProcess(ctx, l.Run, c)
	if err != nil {
		return PromptResult{}, err
	}
	defer p.Close() //nolint:errcheck // it is dead then
	s := &talk{
		Launch: l, Prompt: q, process: p, decoder: stream.New(l.Program.Speaks, l.Program.End),
		lines: make(chan []byte), open: map[string]bool{},
	}
	go s.read() // ends with the process, which Close waits for
	text, answers := l.Program.stdin(q)
	go func() { // a program that does not read is killed for its silence
		_, _ = p.Write(text)
		if !answers {
			_ = p.CloseInput()
		}
	}()
	if err = s.listen(ctx); err != nil {
		stop(err) // at once; who is done may exit by itself
	}
	_ = p.Close()
	for range s.lines { // so that read ends
	}
	return s.promptResult(err)
}

// HomeOf returns the home of an environment.
func HomeOf(env []string) (dir string) {
	for _, e := range env {
		if is, ok := strings.CutPrefix(e, "HOME="); ok {
			dir = is
		}
	}
	return dir
}

// talk is a prompt under way. One goroutine owns it; another one reads.
type talk struct {
	Launch
	Prompt

	process *sandbox.Process
	decoder stream.Decoder
	lines   chan []byte
	open    map[string]bool // calls that are not answered
	people  int             // questions to people
	acted   int             // messages in which it called tools, or its calls; see [Program.printsCalls]
	worked  bool            // it printed something that may be about its work
	done    bool
}

// read passes on the lines of the program.
func (s *talk) read() {
	defer close(s.lines)
	ReadLines(s.process, func(line []byte) { s.lines <- line })
}

// ReadLines reads lines until there are no more, the last of them without an end where it
// has none. In place of one that is longer than 32 MiB there is a line that says so.
func ReadLines(from io.Reader, each func(line []byte)) {
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

// listen hears what the program prints until it has nothing more to say.
func (s *talk) listen(ctx context.Context) error {
	for {
		wait, stop := s.silenceTimer()
		select {
		case line, ok := <-s.lines:
			stop()
			if !ok {
				return nil
			}
			if err := s.line(ctx, line); err != nil {
				return err
			}
		case <-wait:
			if s.done {
				return nil // it stays for no reason
			}
			return errSilent
		case <-ctx.Done():
			stop()
			return context.Cause(ctx)
		}
	}
}

// silenceTimer returns what ends when the program has been silent for too long.
func (s *talk) silenceTimer() (<-chan time.Time, func()) {
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

func (s *talk) line(ctx context.Context, line []byte) error {
	formless := slices.Contains([]string{"aider", "crush", "text"}, s.Program.Speaks)
	s.worked = s.worked || formless || bytes.HasPrefix(line, []byte("{"))
	for _, e := range s.decoder.Line(line) {
		switch e.Kind {
		case stream.Opened:
			e.ID = cmp.Or(e.ID, s.ID)
		case stream.Said:
			for _, c := range e.Calls {
				s.open[c.ID] = true
			}
			if len(e.Calls) > 0 {
				s.acted++
			}
		case stream.Answered:
			delete(s.open, e.ID)
		case stream.Asked:
			if err := s.handleRequest(ctx, e); err != nil {
				return err
			}
			continue
		case stream.Ended:
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

// overError says that the agent did more than it may in a prompt.
type overError struct {
	fault nexus.Fault
	why   string
}

// Error implements error.
func (e *overError) Error() string { return e.why }

// counter is a decoder of a stream that tells before its end what the prompt cost.
type counter interface{ Cost() nexus.Money }

// limitError is an error when the agent did as much as it may: most programs have no
// limit of their own. One that is done already may say so.
func (s *talk) limitError() error {
	if s.done {
		return nil
	}
	most, what := s.Turns, "turns"
	if s.Program.printsCalls() {
		most, what = most*callsPerTurn, "tool calls"
	}
	if !s.Program.limitsTurns() && most > 0 && s.acted > most {
		return &overError{nexus.FaultTurns, fmt.Sprintf("it did more than %d %s", most, what)}
	}
	if c, ok := s.decoder.(counter); ok && s.Money > 0 && c.Cost() > s.Money {
		return &overError{nexus.FaultBudget, "it cost more than was set aside for it"}
	}
	return nil
}

// handleRequest answers what the agent asks: whether it may make a call, or a question to a
// person.
func (s *talk) handleRequest(ctx context.Context, e stream.Event) error {
	c := e.Calls[0]
	refused := s.Permit(ctx, c)
	if refused == "" && c.Tool == AskTool {
		var err error
		if c.Input, refused, err = s.question(ctx, c); err != nil {
			return err
		}
	}
	s.answer(e.ID, c.Input, refused)
	return nil
}

// answer says whether the agent may make a call. One that does not read the
// answer is silent from then on.
func (s *talk) answer(id string, input json.RawMessage, refused string) {
	decision := map[string]any{"behavior": "allow", "updatedInput": input}
	if refused != "" {
		decision = map[string]any{"behavior": "deny", "message": refused}
	}
	_, _ = s.process.Write(append(message(map[string]any{
		"type": "control_response", "response": map[string]any{"subtype": "success", "request_id": id, "response": decision},
	}), '\n'))
}

// promptResult says how the program ended, after it is dead.
func (s *talk) promptResult(err error) (PromptResult, error) {
	r, broken := s.process.Result()
	e := PromptResult{End: s.decoder.Close(r.Exit, string(r.Stderr)), Exit: r.Exit}
	over, isOver := errors.AsType[*overError](err)
	switch {
	case errors.Is(err, errHeard):
		return e, err
	case isOver:
		e.Fault, e.Why = over.fault, over.why
		return e, nil
	case errors.Is(err, errSilent) && e.Fault == nexus.FaultLogin && s.waitsForLogin(r.Stderr):
		return e, nil
	case errors.Is(err, errSilent) && !s.done:
		e.Fault, e.Why = nexus.FaultSilent, fmt.Sprintf("it printed nothing for %s and was stopped", s.silent())
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

// waitsForLogin reports whether a program that was silent, and talked about a login,
// waits for somebody to log in. While it works it may print such words about the
// task, as a server does that it has started.
func (s *talk) waitsForLogin(stderr []byte) bool {
	return !s.worked || stream.Classify(string(stderr)) == nexus.FaultLogin
}

func (s *talk) silent() time.Duration {
	if len(s.open) > 0 {
		return s.Working
	}
	return s.Silence
}
