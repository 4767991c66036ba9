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

// Host asks the plugins of a run. A plugin that does not speak the protocol, is
// late, or ends is not asked again by this process, so that its failure is an
// answer once. A nil
// Host has no plugins. It may be used by many goroutines.
type Host struct {
	Plugins []Plugin
	Runner  *usercmd.Runner
	Run     nexus.RunID
	Now     func() time.Time // measures how long an answer takes
	Whole   time.Duration    // for all answers of one Ask, or a plugin's timeout where that is longer; 0: 2 minutes

	mu  sync.Mutex // guards the rest
	out map[string]*Error
}

// whole is the time for all answers of one Ask: what a router says of many tasks
// holds up the run.
const whole = 2 * time.Minute

// Question is what a plugin is asked, and where its answer goes.
type Question struct {
	Input  any
	Output Output
	For    nexus.Role // whose prompt it is about; empty: nobody's
}

// PluginsOfKind returns the plugins of a kind that are asked.
func (h *Host) PluginsOfKind(k nexus.PluginKind) []Plugin {
	if h == nil {
		return nil
	}
	return OfKind(h.Plugins, k)
}

// Ask asks a plugin in a process of its own, which may read the directories in
// trees, and says how each question was answered. The zero value stands for one
// that was not put to it, and those after one that it broke down at are missing.
// An error means that ctx ended, or that the plugin is required and one of the
// questions has no answer.
func (h *Host) Ask(ctx context.Context, p Plugin, k nexus.PluginKind, all []Question, trees ...string) ([]nexus.PluginAnswered, error) {
	if broken := h.broken(p); broken != nil || len(all) == 0 {
		return nil, h.requiredError(p, broken)
	}
	began := h.Now()
	s, err := p.Open(ctx, h.Runner, trees...)
	if err != nil {
		f, err := h.answerFact(ctx, p, k, began, err)
		return []nexus.PluginAnswered{f}, err
	}
	defer s.Close()
	defer s.killAfter(max(cmp.Or(h.Whole, whole), p.Limit()))()
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

// answerFact says how a question was answered.
func (h *Host) answerFact(ctx context.Context, p Plugin, k nexus.PluginKind, began time.Time, err error) (nexus.PluginAnswered, error) {
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
	return f, h.requiredError(p, failed)
}

// requiredError returns the error of a plugin that is required and failed.
func (h *Host) requiredError(p Plugin, failed *Error) error {
	if failed == nil || !p.Required {
		return nil
	}
	return Required(failed)
}

// Required is the error of a plugin that is required and cannot answer.
func Required(failed *Error) error {
	hint := "Try it with nexus plugins test " + failed.Plugin + ", or take required out of its configuration."
	return unanswered(failed, "is required and does not answer", hint)
}

// Unanswered is the error of a plugin that somebody asked for something, and
// that cannot answer.
func Unanswered(failed *Error) error {
	return unanswered(failed, "does not answer", "Try it with nexus plugins test "+failed.Plugin+".")
}

func unanswered(failed *Error, what, hint string) error {
	code := nexus.CodePlugin
	if failed.State == nexus.PluginUntrusted {
		code, hint = nexus.CodeUntrusted, "Read it with nexus trust, then trust it with nexus trust --yes."
	}
	text := fmt.Sprintf("the plugin %s %s (%s): %s", failed.Plugin, what, failed.State, failed.Why)
	return &nexus.Error{Code: code, Message: text, Hint: hint}
}

// broken returns why a plugin is not asked any more.
func (h *Host) broken(p Plugin) *Error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.out[p.Name]
}

// rememberFailure remembers a plugin that failed. One that only had no answer is asked
// again.
func (h *Host) rememberFailure(p Plugin, failed *Error) {
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
