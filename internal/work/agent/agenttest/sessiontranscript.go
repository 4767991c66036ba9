package agenttest

import (
	"fmt"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
)

// SessionTranscript is a session as rebuilt from its facts.
type SessionTranscript struct {
	nexus.SessionStarted
	System   string
	Tools    []llm.ToolDescription
	Messages []llm.Message
	Turn     int           // turns taken
	Used     nexus.Usage   // failed calls included
	Elapsed  time.Duration // of calls and tools, while a process was running
	Over     bool          // it ended, for now
	Last     nexus.TreeSnapshotted
	Compact  nexus.SessionCompacted // the last compaction
	Foreign  int                    // messages that the present model did not see
}

// ReplaySession rebuilds a session from the events of its run; it ignores events of other sessions.
// The matching worktree is Last.
func ReplaySession(id nexus.SessionID, events []nexus.Event, s agent.MessageStore) (SessionTranscript, error) {
	r := transcriptReplay{SessionTranscript: SessionTranscript{SessionStarted: nexus.SessionStarted{Session: id}}, open: map[string]bool{}}
	for _, e := range events {
		r.apply(e)
	}
	if r.Prompt == "" {
		return r.SessionTranscript, &nexus.Error{Code: nexus.CodeNotFound, Message: fmt.Sprintf("there is no session %s", id)}
	}
	return r.SessionTranscript, r.loadMessages(s, r.hashes)
}

// transcriptReplay is a transcript that is being built.
type transcriptReplay struct {
	SessionTranscript
	hashes []string
	open   map[string]bool // reservations of the session
	since  time.Time       // when the current call or tools began
}

func (r *transcriptReplay) apply(e nexus.Event) {
	switch f := e.Fact.(type) {
	case nexus.RunRecovered, nexus.AttemptResumed:
		r.since = time.Time{}
		return
	case nexus.BudgetSettled:
		if r.open[f.ID] {
			delete(r.open, f.ID)
			r.Used = r.Used.Add(f.Usage)
			r.addElapsed(e.At)
		}
		return
	case nexus.TreeSnapshotted:
		if f.Attempt == r.Attempt {
			r.Last = f
		}
		return
	default:
	}
	if sessionOf(e.Fact) == r.Session {
		r.applyFact(e)
	}
}

// applyFact applies a fact of the session.
func (r *transcriptReplay) applyFact(e nexus.Event) {
	switch f := e.Fact.(type) {
	case nexus.SessionStarted:
		r.SessionStarted = f
	case nexus.BudgetReserved:
		r.open[f.ID], r.since = true, e.At
	case nexus.PromptSent:
		r.hashes, r.Over = append(r.hashes, f.Message), false
	case nexus.ModelTurnRecorded:
		r.hashes, r.Turn, r.since = append(r.hashes, f.Message), f.Turn, e.At
	case nexus.ToolResultsSent:
		r.hashes = append(r.hashes, f.Message)
		r.addElapsed(e.At)
	case nexus.SessionCompacted:
		r.hashes, r.Compact = slices.Clone(f.Messages), f
		if r.Foreign > 0 {
			r.Foreign = len(r.hashes)
		}
	case nexus.SessionModelSwitched:
		r.Model, r.Foreign, r.Compact.Row = f.To, len(r.hashes), 0
	case nexus.SessionEnded:
		r.Over, r.since = true, time.Time{}
	default:
	}
}

// addElapsed adds the time since the current step began.
func (r *transcriptReplay) addElapsed(at time.Time) {
	if !r.since.IsZero() && at.After(r.since) {
		r.Elapsed += at.Sub(r.since)
	}
	r.since = time.Time{}
}

func sessionOf(f nexus.Fact) nexus.SessionID {
	switch f := f.(type) {
	case nexus.SessionStarted:
		return f.Session
	case nexus.BudgetReserved:
		return f.Session
	case nexus.PromptSent:
		return f.Session
	case nexus.ModelTurnRecorded:
		return f.Session
	case nexus.ToolResultsSent:
		return f.Session
	case nexus.SessionCompacted:
		return f.Session
	case nexus.SessionModelSwitched:
		return f.Session
	case nexus.SessionEnded:
		return f.Session
	default:
		return ""
	}
}

// loadMessages loads the messages from the blobs.
func (t *SessionTranscript) loadMessages(s agent.MessageStore, hashes []string) error {
	o, err := agent.LoadSessionStart(s, t.Prompt)
	if err != nil {
		return fmt.Errorf("session %s: %w", t.Session, err)
	}
	t.System, t.Tools = o.System, o.Tools
	t.Messages, err = agent.LoadMessages(s, hashes)
	if err != nil {
		return fmt.Errorf("read session %s: %w", t.Session, err)
	}
	return nil
}
