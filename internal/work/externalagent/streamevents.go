package externalagent

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli/stream"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// recordEvent records an event of the agent.
func (c *externalConversation) recordEvent(ctx context.Context, e stream.AgentEvent) error {
	switch e.Kind {
	case stream.ConversationOpened:
		if e.Model != "" {
			c.model = e.Model
		}
		f := nexus.AgentConversationOpened{Session: c.Session, Agent: c.Agent, ID: e.ID, Resumed: e.ID == c.opened.ID, Model: e.Model, Version: e.Version}
		if e.ID != c.opened.ID {
			c.closed = nexus.AgentProgramEnded{} // the program's counts start again
		}
		c.opened = f
		c.facts = append(c.facts, f)
		return c.recordFacts(ctx)
	case stream.MessageSaid:
		return c.recordMessage(ctx, e)
	case stream.CallAnswered:
		return c.recordAnswer(ctx, e)
	case stream.LimitReported:
		f := nexus.AgentQuotaReported{Session: c.Session, Agent: c.Agent, Window: prompt.SingleLine(e.Window), Used: e.Used, Until: e.Until}
		if c.News != nil && c.News(f) {
			c.facts = append(c.facts, f)
			return c.recordFacts(ctx)
		}
	case stream.PermissionAsked, stream.PromptEnded:
	}
	return nil
}

// recordMessage records a message of the agent.
func (c *externalConversation) recordMessage(ctx context.Context, e stream.AgentEvent) error {
	if err := c.addTurnResults(); err != nil {
		return err
	}
	c.heard = true
	m := llm.Message{From: llm.Assistant}
	if strings.TrimSpace(e.Text) != "" {
		m.Parts = append(m.Parts, llm.MessagePart{Text: sanitize.TruncateText(e.Text, maxShown)})
	}
	stop := "end"
	if c.Submit != nil {
		// too long to be parsed, still
		c.texts = append(c.texts, e.Text[:min(len(e.Text), maxMessage+1)])
		c.texts = c.texts[max(len(c.texts)-maxTexts, 0):]
	}
	if len(e.Calls) > 0 {
		c.texts = nil
	}
	for _, one := range e.Calls {
		stop = "tools"
		as := c.callIdentifier(one.ID)
		c.calls[one.ID] = pendingToolCall{AgentToolCall: one, as: as, at: c.Now()}
		m.Parts = append(m.Parts, llm.MessagePart{Call: &llm.ToolCall{ID: as, Tool: one.Tool, Input: shortenInput(one.Input)}})
	}
	hash, err := agent.StoreMessage(c.store, m)
	if err != nil {
		return err
	}
	c.turn++
	c.facts = append(c.facts, nexus.ModelTurnRecorded{Session: c.Session, Turn: c.turn, Message: hash, Stop: stop, Says: prompt.SingleLine(m.Text())})
	for _, one := range e.Calls {
		c.facts = append(c.facts, nexus.ToolCallStarted{Session: c.Session, Call: c.calls[one.ID].as, Tool: one.Tool, About: callSubject(one)})
	}
	return c.recordFacts(ctx)
}

// callIdentifier returns the ID of a call in the session. Codex numbers its calls anew whenever it is
// started.
func (c *externalConversation) callIdentifier(id string) string {
	if c.Old != nil || c.seen[id] {
		return fmt.Sprintf("%s.%d", id, c.turn+1)
	}
	c.seen[id] = true
	return id
}

// recordAnswer records the result of a call.
func (c *externalConversation) recordAnswer(ctx context.Context, e stream.AgentEvent) error {
	was, ok := c.calls[e.ID]
	if !ok {
		return nil // the result of an unknown call, which the transcript could not pair
	}
	delete(c.calls, e.ID)
	text := sanitize.TruncateText(e.Text, maxShown)
	if e.Refused && !was.judged.Refused {
		was.judged = nexus.ToolCallDecision{Decision: "deny", Rule: "agent.files", Why: prompt.SingleLine(text), By: "policy", Refused: true}
	}
	c.results = append(c.results, llm.MessagePart{Result: &llm.ToolResult{ID: was.as, Text: text, Failed: e.Failed}})
	c.facts = append(c.facts, nexus.ToolCallEnded{
		Session: c.Session, Call: was.as, Failed: e.Failed, Duration: c.Now().Sub(was.at), About: prompt.SingleLine(text), Judged: was.judged,
	})
	c.changed = c.changed || !changesNoFile(was.Tool)
	if len(c.calls) > 0 {
		return nil
	}
	if err := c.addTurnResults(); err != nil {
		return err
	}
	if c.changed {
		if err := c.snapshotTree(ctx); err != nil {
			return err
		}
	}
	return c.recordFacts(ctx)
}

// addTurnResults adds the message with the results of the last turn. A call without a result, because
// the agent was stopped, gets a result that states this.
func (c *externalConversation) addTurnResults() error {
	for _, id := range slices.Sorted(maps.Keys(c.calls)) {
		was := c.calls[id]
		c.results = append(c.results, llm.MessagePart{Result: &llm.ToolResult{ID: was.as, Text: "(no result was reported)", Failed: true}})
		c.facts = append(c.facts, nexus.ToolCallEnded{
			Session: c.Session, Call: was.as, Failed: true, Duration: c.Now().Sub(was.at), About: "no result was reported", Judged: was.judged,
		})
		c.changed = c.changed || !changesNoFile(was.Tool)
	}
	clear(c.calls)
	if len(c.results) == 0 {
		return nil
	}
	hash, err := agent.StoreMessage(c.store, llm.Message{From: llm.User, Parts: c.results})
	c.results = nil
	c.facts = append(c.facts, nexus.ToolResultsSent{Session: c.Session, Message: hash})
	return err
}

// snapshotTree takes a snapshot of the tree.
func (c *externalConversation) snapshotTree(ctx context.Context) error {
	if c.Snapshot == nil {
		return nil
	}
	snap, err := c.Snapshot(ctx)
	if err != nil {
		return fmt.Errorf("pin the tree: %w", err)
	}
	c.changed = false
	c.facts = append(c.facts, snap)
	return nil
}

// permitCall decides whether the agent may make a call. A call that the stream has not reported
// yet is recorded here.
func (c *externalConversation) permitCall(ctx context.Context, asked stream.AgentToolCall) string {
	release := c.clock.pauseClock() // the policy may ask a person
	j, why := c.Permit(ctx, asked)
	release()
	was, ok := c.calls[asked.ID]
	if !ok {
		if asked.ID == "" || c.recordMessage(ctx, stream.AgentEvent{Calls: []stream.AgentToolCall{asked}}) != nil {
			return why
		}
		was = c.calls[asked.ID]
	}
	if !was.judged.Refused { // a refused call that runs all the same stays refused
		was.judged = j
	}
	c.calls[asked.ID] = was
	return why
}

// changesNoFile reports whether an agent's tool is known to change no file.
func changesNoFile(tool string) bool {
	return slices.Contains([]string{
		"Read", "Grep", "Glob", "LS", "TodoWrite", "WebFetch", "WebSearch", "AskUserQuestion", "web_search",
		"read", "grep", "glob", "list", "todowrite", "webfetch",
		"read_file", "read_many_files", "list_directory", "search_file_content", "google_web_search",
	}, tool)
}

// callSubject describes a call in one line.
func callSubject(c stream.AgentToolCall) string {
	var in map[string]json.RawMessage
	if json.Unmarshal(c.Input, &in) != nil {
		return ""
	}
	for _, name := range []string{"command", "file_path", "filePath", "path", "notebook_path", "pattern", "query", "url", "description"} {
		var s string
		if json.Unmarshal(in[name], &s) == nil && s != "" {
			return prompt.SingleLine(s)
		}
	}
	return ""
}

// shortenInput returns an input, or a short replacement if it is too long to be stored.
func shortenInput(input json.RawMessage) json.RawMessage {
	if len(input) <= maxShown {
		return input
	}
	return json.RawMessage(fmt.Sprintf(`{"bytes":%d}`, len(input)))
}
