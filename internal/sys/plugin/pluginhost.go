package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/usercmd"
)

// PluginHost asks the plugins of a run. A plugin that violates the protocol, is late, or ends is not
// asked again by this process, so that it fails only once. A nil Host has no plugins. It may be
// used by many goroutines.
type PluginHost struct {
	Plugins []DeclaredPlugin
	Runner  *usercmd.UserCommandRunner
	Run     nexus.RunID
	Now     func() time.Time // for measuring response times
	Whole   time.Duration    // limit for all answers of one Ask, or a plugin's timeout if that is longer; 0: 2 minutes

	mu  sync.Mutex // guards the fields below
	out map[string]*Error
}

// allAnswersTime is the default limit for all answers of one Ask: a router's answers for many tasks block
// the run.
const allAnswersTime = 2 * time.Minute

// HostQuestion is a question to a plugin, and the value for its answer.
type HostQuestion struct {
	Input  any
	Output PluginOutput
	For    nexus.Role // role whose prompt it is about; may be empty
}

// PluginsOfKind returns the active plugins of a kind.
func (h *PluginHost) PluginsOfKind(k nexus.PluginKind) []DeclaredPlugin {
	if h == nil {
		return nil
	}
	return PluginsOfKind(h.Plugins, k)
}

// AskPlugin asks a plugin in a process of its own, which may read the directories in trees, and returns
// the result of each question. A question that was not sent has the zero value, and after a
// breakdown of the plugin the later results are missing. It returns an error only if ctx ended, or
// if the plugin is required and a question has no answer.
func (h *PluginHost) AskPlugin(ctx context.Context, p DeclaredPlugin, k nexus.PluginKind, all []HostQuestion, trees ...string) ([]nexus.PluginAnswered, error) {
	if broken := h.brokenError(p); broken != nil || len(all) == 0 {
		return nil, h.errorOfRequired(p, broken)
	}
	began := h.Now()
	s, err := p.StartSession(ctx, h.Runner, trees...)
	if err != nil {
		f, err := h.answerFact(ctx, p, k, began, err)
		return []nexus.PluginAnswered{f}, err
	}
	defer s.Close()
	defer s.killAfter(max(cmp.Or(h.Whole, allAnswersTime), p.AnswerTimeout()))()
	var answers []nexus.PluginAnswered
	for _, q := range all {
		if roles := s.Hello.Capabilities.Roles; q.For != "" && len(roles) > 0 && !slices.Contains(roles, q.For) {
			answers = append(answers, nexus.PluginAnswered{})
			continue
		}
		err := s.Ask(ctx, k, h.Run, q.Input, q.Output)
		f, err := h.answerFact(ctx, p, k, began, err)
		f.Version = s.Hello.Name + " " + s.Hello.Version
		answers = append(answers, f)
		if err != nil || s.broken != nil {
			return answers, err
		}
		began = h.Now()
	}
	return answers, nil
}

// answerFact returns the record of a question's result.
func (h *PluginHost) answerFact(ctx context.Context, p DeclaredPlugin, k nexus.PluginKind, began time.Time, err error) (nexus.PluginAnswered, error) {
	f := nexus.PluginAnswered{Plugin: p.Name, Kind: k, State: nexus.PluginOK, Duration: h.Now().Sub(began)}
	if err == nil {
		return f, nil
	}
	if ctx.Err() != nil {
		return f, context.Cause(ctx)
	}
	failed, ok := errors.AsType[*Error](err)
	if !ok {
		return f, err
	}
	f.State, f.Why = failed.State, failed.Why
	h.rememberFailure(p, failed)
	return f, h.errorOfRequired(p, failed)
}

// errorOfRequired returns the error if a required plugin failed.
func (h *PluginHost) errorOfRequired(p DeclaredPlugin, failed *Error) error {
	if failed == nil || !p.Required {
		return nil
	}
	return RequiredError(failed)
}

// RequiredError returns the error of a required plugin that cannot answer.
func RequiredError(failed *Error) error {
	hint := "Try it with nexus plugins test " + failed.Plugin + ", or take required out of its configuration."
	return unansweredError(failed, "is required and does not answer", hint)
}

// UnansweredError returns the error of a plugin that was asked on request and cannot answer.
func UnansweredError(failed *Error) error {
	return unansweredError(failed, "does not answer", "Try it with nexus plugins test "+failed.Plugin+".")
}

func unansweredError(failed *Error, what, hint string) error {
	code := nexus.CodePlugin
	if failed.State == nexus.PluginUntrusted {
		code, hint = nexus.CodeUntrusted, "Read it with nexus trust, then trust it with nexus trust --yes."
	}
	text := fmt.Sprintf("the plugin %s %s (%s): %s", failed.Plugin, what, failed.State, failed.Why)
	return &nexus.Error{Code: code, Message: text, Hint: hint}
}

// brokenError returns why a plugin is no longer asked, or nil.
func (h *PluginHost) brokenError(p DeclaredPlugin) *Error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.out[p.Name]
}

// rememberFailure records the failure of a plugin. A plugin that only had no answer is asked
// again.
func (h *PluginHost) rememberFailure(p DeclaredPlugin, failed *Error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.out[p.Name] != nil || failed.State == nexus.PluginFailed {
		return
	}
	if h.out == nil {
		h.out = map[string]*Error{}
	}
	h.out[p.Name] = failed
}
