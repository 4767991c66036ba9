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

// AccountLimitReports stores agent programs' reports about the limits of their accounts. All sessions
// of a process share it, so that each is recorded once. Its zero value is empty.
type AccountLimitReports struct {
	mu    sync.Mutex // guards known
	known []state.AccountQuotaWindow
}

// recordIfNew reports whether a limit is new, and remembers it.
func (w *AccountLimitReports) recordIfNew(f nexus.AgentQuotaReported, now time.Time) bool {
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

// commandLineAgent is an agent program that is prompted from its command line.
type commandLineAgent struct {
	agentcli.ProgramLaunch

	home string
}

// NewConversationID implements [external.ExternalAgentClient].
func (h commandLineAgent) NewConversationID() string { return h.Program.NewConversationID() }

// CanResume implements [external.ExternalAgentClient].
func (h commandLineAgent) CanResume() bool { return h.Program.CanResume() }

// ReportsProgress implements [external.ExternalAgentClient].
func (h commandLineAgent) ReportsProgress() bool { return h.Program.ReportsProgress() }

// Prompt implements [external.ExternalAgentClient]. Limits that the program records in its home are reported
// last.
func (h commandLineAgent) Prompt(ctx context.Context, q agentcli.AgentPrompt) (agentcli.PromptResult, error) {
	e, err := h.ProgramLaunch.Prompt(ctx, q)
	if err != nil {
		return e, err
	}
	var full time.Time
	for _, l := range h.Program.AccountLimits(h.home) {
		if err := q.Heard(ctx, l); err != nil {
			return e, err
		}
		if l.Kind == stream.LimitReported && l.Used >= 100 && l.Until.After(full) {
			full = l.Until
		}
	}
	if e.Fault == nexus.FaultQuota && e.Until.IsZero() {
		e.Until = full
	}
	return e, nil
}
