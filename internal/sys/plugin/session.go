package plugin

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
	"github.com/nexus-ai-builder/nexus/internal/sys/usercmd"
)

// errLate is the cause of death of a plugin that exceeded the timeout of an answer.
var errLate = errors.New("it did not answer in time")

// errWhole is the cause of death of a plugin that exceeded the limit for several answers.
var errWhole = errors.New("it did not answer all in time")

// Session is a running plugin. It must be used by one goroutine at a time, and closed with Close.
type Session struct {
	Hello Hello

	plugin  Plugin
	runner  *usercmd.Runner
	process *sandbox.Process
	lines   *bufio.Reader
	kill    context.CancelCauseFunc
	asked   int
	bound   time.Duration // limit for all answers; 0: none
	broken  *Error        // why it is no longer asked
}

// Open starts a plugin, which may read the directories in trees besides the repository, and
// exchanges greetings with it. Its error is an [*Error], unless ctx ended. The plugin dies with
// ctx and with the session.
func (p Plugin) Open(ctx context.Context, r *usercmd.Runner, trees ...string) (*Session, error) {
	state, err := p.TrustState(r)
	switch {
	case err != nil:
		return nil, &Error{p.Name, nexus.PluginNotRun, err.Error()}
	case state != trust.Trusted:
		return nil, &Error{p.Name, nexus.PluginUntrusted, fmt.Sprintf("it is not trusted (%s), see nexus trust", state)}
	}
	own := r.Own("plugins", p.Name)
	box, c, err := r.Prepare(p.declared(), own, []string{"NEXUS_PLUGIN=" + p.Name, "NEXUS_PLUGIN_DIR=" + own}, trees...)
	if err != nil {
		return nil, &Error{p.Name, nexus.PluginNotRun, err.Error()}
	}
	life, kill := context.WithCancelCause(ctx)
	process, err := sandbox.StartProcess(life, box.Run, c)
	if err != nil {
		kill(err)
		return nil, &Error{p.Name, nexus.PluginNotRun, err.Error()}
	}
	s := &Session{plugin: p, runner: r, process: process, lines: bufio.NewReader(process), kill: kill}
	m, err := s.exchange(ctx, greeting{typeHello, Protocol, p.Name, own})
	if err == nil {
		if s.Hello, err = m.hello(p); err != nil {
			err = s.fail(nexus.PluginInvalid, err.Error())
		}
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Ask sends a question of a kind, and decodes the answer into output. Its error is an [*Error],
// unless ctx ended. After any error but [nexus.PluginFailed] the plugin is dead, and each further
// question fails in the same way.
func (s *Session) Ask(ctx context.Context, k nexus.PluginKind, run nexus.RunID, input any, output Output) error {
	if s.broken != nil {
		return s.broken
	}
	s.asked++
	m, err := s.exchange(ctx, question{typeAsk, s.asked, k, run, input})
	if err != nil {
		return err
	}
	data, refused, err := m.answer(s.asked)
	switch {
	case err != nil:
		return s.fail(nexus.PluginInvalid, err.Error())
	case refused != "":
		return &Error{s.plugin.Name, nexus.PluginFailed, refused}
	}
	if err := Decode(data, output); err != nil {
		return s.fail(nexus.PluginInvalid, err.Error())
	}
	return nil
}

// exchange writes a line, and reads the line that answers it.
func (s *Session) exchange(ctx context.Context, say any) (message, error) {
	data, err := json.Marshal(say)
	if err != nil {
		return message{}, fmt.Errorf("write a question: %w", err)
	}
	late := time.AfterFunc(s.plugin.Limit(), func() { s.kill(errLate) })
	defer late.Stop()
	if _, err := s.process.Write(append(data, '\n')); err != nil {
		return message{}, s.exitError(ctx)
	}
	line, err := readLine(s.lines)
	switch {
	case errors.Is(err, errLong):
		return message{}, s.fail(nexus.PluginInvalid, err.Error())
	case err != nil:
		return message{}, s.exitError(ctx)
	}
	if s.runner.Mask != nil {
		line = s.runner.Mask(line) // before it is stored, shown or sent
	}
	m, err := parse(line)
	if err != nil {
		return message{}, s.fail(nexus.PluginInvalid, err.Error())
	}
	return m, nil
}

// killAfter kills the plugin after a time, however fast its answers are. The returned function
// cancels that.
func (s *Session) killAfter(most time.Duration) (stop func()) {
	s.bound = most
	late := time.AfterFunc(most, func() { s.kill(errWhole) })
	return func() { late.Stop() }
}

// fail ends a broken plugin.
func (s *Session) fail(state nexus.PluginState, why string) error {
	s.broken = &Error{s.plugin.Name, state, why}
	s.kill(errors.New(why))
	return s.broken
}

// exitError returns why a plugin died instead of answering. Its output ends only when it is dead,
// because we have the other end open as well.
func (s *Session) exitError(ctx context.Context) error {
	if ctx.Err() != nil {
		s.Close()
		return context.Cause(ctx)
	}
	result, err := s.process.Result()
	said := strings.TrimSpace(s.runner.Text(result.Stderr))
	after := func(why string) string {
		if said == "" {
			return why
		}
		return why + ": " + sanitize.Cut(sanitize.Show(said), maxWhy)
	}
	switch {
	case errors.Is(err, errLate):
		return s.fail(nexus.PluginTimeout, after(fmt.Sprintf("it was killed after %s", s.plugin.Limit())))
	case errors.Is(err, errWhole):
		return s.fail(nexus.PluginTimeout, after(fmt.Sprintf("it was killed after %s, at question %d", s.bound, s.asked)))
	case errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}):
		return s.fail(nexus.PluginNotRun, fmt.Sprintf("there is no program %q", sanitize.Cut(s.plugin.Command, maxName)))
	case result.Over != "":
		return s.fail(nexus.PluginKilled, result.Exceeded)
	case err != nil && result.Exit <= 0 && said == "":
		return s.fail(nexus.PluginNotRun, err.Error())
	default:
		return s.fail(nexus.PluginEnded, after(fmt.Sprintf("it ended before it answered, with exit code %d", result.Exit)))
	}
}

// Close ends the plugin, and returns when it and all processes that it started are dead.
func (s *Session) Close() {
	if s.broken != nil {
		s.kill(sandbox.ErrPipesClosed)
	}
	_ = s.process.Close() // never fails
	s.kill(sandbox.ErrPipesClosed)
}
