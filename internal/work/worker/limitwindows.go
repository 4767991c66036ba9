package worker

import (
	"context"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli/stream"
)

// LimitWindows stores agent programs' reports about the limits of their accounts. All sessions
// of a process share it, so that each is recorded once. Its zero value is empty.
type LimitWindows struct {
	mu    sync.Mutex // guards known
	known []state.QuotaWindow
}

// news reports whether a limit is new, and remembers it.
func (w *LimitWindows) news(f nexus.AgentLimited, now time.Time) bool {
	if w == nil {
		return state.IsNewUsage(nil, f, now)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !state.IsNewUsage(w.known, f, now) {
		return false
	}
	w.known = state.UpdateWindows(w.known, f)
	return true
}

// program is an agent program that is prompted from its command line.
type program struct {
	agentcli.Launch

	home string
}

// NewID implements [external.Agent].
func (h program) NewID() string { return h.Program.NewID() }

// Resumes implements [external.Agent].
func (h program) Resumes() bool { return h.Program.Resumes() }

// Tells implements [external.Agent].
func (h program) Tells() bool { return h.Program.Tells() }

// Prompt implements [external.Agent]. Limits that the program records in its home are reported
// last.
func (h program) Prompt(ctx context.Context, q agentcli.Prompt) (agentcli.PromptResult, error) {
	e, err := h.Launch.Prompt(ctx, q)
	if err != nil {
		return e, err
	}
	var full time.Time
	for _, l := range h.Program.Limits(h.home) {
		if err := q.Heard(ctx, l); err != nil {
			return e, err
		}
		if l.Kind == stream.Limited && l.Used >= 100 && l.Until.After(full) {
			full = l.Until
		}
	}
	if e.Fault == nexus.FaultQuota && e.Until.IsZero() {
		e.Until = full
	}
	return e, nil
}
