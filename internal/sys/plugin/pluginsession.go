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

// PluginSession is a running plugin. It must be used by one goroutine at a time, and closed with Close.
type PluginSession struct {
	Hello PluginHello

	plugin  DeclaredPlugin
	runner  *usercmd.UserCommandRunner
	process *sandbox.Process
	lines   *bufio.Reader
	kill    context.CancelCauseFunc
	asked   int
	bound   time.Duration // limit for all answers; 0: none
	broken  *Error        // why it is no longer asked
}

// StartSession starts a plugin, which may read the directories in trees besides the repository, and
// exchanges greetings with it. Its error is an [*Error], unless ctx ended. The plugin dies with
// ctx and with the session.
func (p DeclaredPlugin) StartSession(ctx context.Context, r *usercmd.UserCommandRunner, trees ...string) (*PluginSession, error) {
	state, err := p.ReadTrustState(r)
	switch {
	case err != nil:
		return nil, &Error{p.Name, nexus.PluginNotRun, err.Error()}
	case state != trust.StateTrusted:
		return nil, &Error{p.Name, nexus.PluginUntrusted, fmt.Sprintf("it is not trusted (%s), see nexus trust", state)}
	}
	own := r.CommandDataDir("plugins", p.Name)
	box, c, err := r.PrepareCommand(p.userCommand(), own, []string{"NEXUS_PLUGIN=" + p.Name, "NEXUS_PLUGIN_DIR=" + own}, trees...)
	if err != nil {
		return nil, &Error{p.Name, nexus.PluginNotRun, err.Error()}
	}
	life, kill := context.WithCancelCause(ctx)
	process, err := sandbox.StartProcess(life, box.Run, c)
	if err != nil {
		kill(err)
		return nil, &Error{p.Name, nexus.PluginNotRun, err.Error()}
	}
	s := &PluginSession{plugin: p, runner: r, process: process, lines: bufio.NewReader(process), kill: kill}
	m, err := s.exchangeLines(ctx, pluginGreetingLine{typeHello, ProtocolVersion, p.Name, own})
	if err == nil {
		if s.Hello, err = m.toHello(p); err != nil {
			err = s.endBrokenPlugin(nexus.PluginInvalid, err.Error())
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
func (s *PluginSession) Ask(ctx context.Context, k nexus.PluginKind, run nexus.RunID, input any, output PluginOutput) error {
	if s.broken != nil {
		return s.broken
	}
	s.asked++
	m, err := s.exchangeLines(ctx, pluginQuestionLine{typeAsk, s.asked, k, run, input})
	if err != nil {
		return err
	}
	data, refused, err := m.toAnswer(s.asked)
	switch {
	case err != nil:
		return s.endBrokenPlugin(nexus.PluginInvalid, err.Error())
	case refused != "":
		return &Error{s.plugin.Name, nexus.PluginFailed, refused}
	}
	if err := DecodeAnswer(data, output); err != nil {
		return s.endBrokenPlugin(nexus.PluginInvalid, err.Error())
	}
	return nil
}

// exchangeLines writes a line, and reads the line that answers it.
func (s *PluginSession) exchangeLines(ctx context.Context, say any) (pluginMessage, error) {
	data, err := json.Marshal(say)
	if err != nil {
		return pluginMessage{}, fmt.Errorf("write a question: %w", err)
	}
	late := time.AfterFunc(s.plugin.AnswerTimeout(), func() { s.kill(errLate) })
	defer late.Stop()
	if _, err := s.process.Write(append(data, '\n')); err != nil {
		return pluginMessage{}, s.exitError(ctx)
	}
	line, err := readLine(s.lines)
	switch {
	case errors.Is(err, errLong):
		return pluginMessage{}, s.endBrokenPlugin(nexus.PluginInvalid, err.Error())
	case err != nil:
		return pluginMessage{}, s.exitError(ctx)
	}
	if s.runner.Mask != nil {
		line = s.runner.Mask(line) // before it is stored, shown or sent
	}
	m, err := parseMessage(line)
	if err != nil {
		return pluginMessage{}, s.endBrokenPlugin(nexus.PluginInvalid, err.Error())
	}
	return m, nil
}

// killAfter kills the plugin after a time, however fast its answers are. The returned function
// cancels that.
func (s *PluginSession) killAfter(most time.Duration) (stop func()) {
	s.bound = most
	late := time.AfterFunc(most, func() { s.kill(errWhole) })
	return func() { late.Stop() }
}

// endBrokenPlugin ends a broken plugin.
func (s *PluginSession) endBrokenPlugin(state nexus.PluginAnswerState, why string) error {
	s.broken = &Error{s.plugin.Name, state, why}
	s.kill(errors.New(why))
	return s.broken
}

// exitError returns why a plugin died instead of answering. Its output ends only when it is dead,
// because we have the other end open as well.
func (s *PluginSession) exitError(ctx context.Context) error {
	if ctx.Err() != nil {
		s.Close()
		return context.Cause(ctx)
	}
	result, err := s.process.Result()
	said := strings.TrimSpace(s.runner.MaskText(result.Stderr))
	after := func(why string) string {
		if said == "" {
			return why
		}
		return why + ": " + sanitize.TruncateText(sanitize.RevealHidden(said), maxWhy)
	}
	switch {
	case errors.Is(err, errLate):
		return s.endBrokenPlugin(nexus.PluginTimeout, after(fmt.Sprintf("it was killed after %s", s.plugin.AnswerTimeout())))
	case errors.Is(err, errWhole):
		return s.endBrokenPlugin(nexus.PluginTimeout, after(fmt.Sprintf("it was killed after %s, at question %d", s.bound, s.asked)))
	case errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}):
		return s.endBrokenPlugin(nexus.PluginNotRun, fmt.Sprintf("there is no program %q", sanitize.TruncateText(s.plugin.Command, maxName)))
	case result.Over != "":
		return s.endBrokenPlugin(nexus.PluginKilled, result.Exceeded)
	case err != nil && result.Exit <= 0 && said == "":
		return s.endBrokenPlugin(nexus.PluginNotRun, err.Error())
	default:
		return s.endBrokenPlugin(nexus.PluginEnded, after(fmt.Sprintf("it ended before it answered, with exit code %d", result.Exit)))
	}
}

// Close ends the plugin, and returns when it and all processes that it started are dead.
func (s *PluginSession) Close() {
	if s.broken != nil {
		s.kill(sandbox.ErrPipesClosed)
	}
	_ = s.process.Close() // never fails
	s.kill(sandbox.ErrPipesClosed)
}
