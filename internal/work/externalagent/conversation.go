package externalagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/diffreview"
	"github.com/nexus-ai-builder/nexus/internal/decide/landingupdates"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli/stream"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// Messages and limits of Nexus.
const (
	sayResume = "Your program was stopped. What you did last may be missing from the files, and what ran in the background is gone.\n" +
		"Look at what is done already, then continue with the task."
	sayAgain  = "Your program ended before you were done: %s.\nThe files are as you left them. Continue with the task."
	sayMoved  = "The files are as another agent left them.\nLook at what is done already, then continue with the task."
	sayFresh  = "Another conversation worked on this task before. The files are as it left them. It said:\n\n%s\n\n"
	sayUnread = "Your last message does not contain what you should submit: %s.\n" +
		"Send it again: one message with only the JSON object in a ```json block."
	sayQuota = "Your account has quota again. The files are as you left them. Continue with the task."
)

const (
	maxShown   = 30_000 // most bytes of a result that are stored
	recordTime = time.Minute
)

var errRecord = errors.New("what the agent did could not be recorded in time")

// pendingToolCall is a call without a result so far.
type pendingToolCall struct {
	stream.AgentToolCall

	as     string // its ID in the session: the agent may use one again
	judged nexus.ToolCallDecision
	at     time.Time
}

// externalConversation is one stretch of a session. One goroutine owns it.
type externalConversation struct {
	ExternalSessionBrief

	agent  ExternalAgentClient
	desk   agent.SessionRecorder
	store  agent.MessageStore
	opened nexus.AgentConversationOpened
	closed nexus.AgentProgramEnded
	facts  []nexus.Fact
	turn   int
	usage  nexus.Usage // usage of this stretch
	left   time.Duration
	clock  *promptClock // clock of the current prompt
	faults map[nexus.AgentProgramFault]int
	unread int // consecutive messages without a submission

	calls   map[string]pendingToolCall
	seen    map[string]bool   // IDs of calls in this stretch
	results []llm.MessagePart // answers to the last message
	changed bool              // the tree may have changed
	heard   bool              // the agent was active in the present prompt
	texts   []string          // its messages in the present prompt after its last call
	missed  []string          // messages of Nexus that did not reach it, in order
	model   string            // the agent's name for it
}

// runUntilEnding prompts the agent until there is an ending.
func (c *externalConversation) runUntilEnding(ctx context.Context) (*externalSessionEnd, error) {
	next, why, err := c.beginSession()
	if err != nil {
		return nil, err
	}
	for {
		if end := c.limitEnding(); end != nil {
			return c.recordEnd(ctx, end)
		}
		if next != "" {
			if err := c.addMessage(next, why, 0); err != nil {
				return nil, err
			}
		}
		id, err := c.reservePrompt(ctx)
		if agent.IsSpendingRefused(err) {
			return c.recordEnd(ctx, &externalSessionEnd{outcome: nexus.Refused, why: err.Error(), refusal: err})
		}
		if err != nil {
			return nil, err
		}
		text := strings.Join(c.missed, "\n\n")
		ended, err := c.promptAgent(ctx, text, id)
		if err != nil {
			return nil, err
		}
		if c.heard {
			c.missed = nil
		}
		end, again, err := c.handlePromptEnd(ctx, ended, text)
		if err != nil || end != nil {
			if err != nil {
				return nil, err
			}
			return c.recordEnd(ctx, end)
		}
		next, why = again, "nudge"
	}
}

// beginSession starts or resumes a session, and returns the first message and its kind.
func (c *externalConversation) beginSession() (next, why string, err error) {
	if c.Old == nil {
		err = c.startTranscript()
	} else {
		err = c.loadUndeliveredMessages()
	}
	if err != nil || c.Next != "" {
		return c.Next, c.Why, err
	}
	next, why = c.continueMessage()
	return next, why, nil
}

// isOtherAgent reports whether the session's last conversation was another agent's.
func (c *externalConversation) isOtherAgent() bool {
	return c.Old != nil && c.Old.Opened.Agent != "" && c.Old.Opened.Agent != c.Agent
}

// loadUndeliveredMessages finds in the journal the messages that are not known to have reached an agent: the
// agent was stopped before, or did nothing.
func (c *externalConversation) loadUndeliveredMessages() error {
	n := len(c.Old.Messages)
	said, err := agent.LoadMessages(c.store, c.Old.Messages[n-min(n, c.Old.Unheard):])
	if err != nil {
		return err
	}
	for _, m := range said {
		if m.From == llm.User {
			c.queueMessage(m.Text())
		}
	}
	return nil
}

// queueMessage stores a message of Nexus that still has to be delivered, once.
func (c *externalConversation) queueMessage(text string) {
	if text != "" && !slices.Contains(c.missed, text) {
		c.missed = append(c.missed, text)
	}
}

// continueMessage returns the message for continuing a session that already received its task.
// It is "" if no agent received the task: then the task is sent.
func (c *externalConversation) continueMessage() (next, why string) {
	first := c.firstMessage()
	switch {
	case c.Old != nil && c.Old.Turns == 0 && c.opened.ID == "" && (first != "" || len(c.missed) > 0):
		if len(c.missed) == 0 {
			c.queueMessage(first)
		}
		return "", ""
	case c.isOtherAgent():
		return sayMoved, "resume"
	default:
		return sayResume, "resume"
	}
}

// firstMessage returns the first message of the session.
func (c *externalConversation) firstMessage() string {
	if c.Old == nil {
		return c.Next
	}
	if c.Told == nil {
		return ""
	}
	return c.Told()
}

// newConversationMessage returns the first message of a new conversation: a summary of the session so far, if
// it is not the first conversation, and the current message.
func (c *externalConversation) newConversationMessage(text string) string {
	parts := []string{strings.TrimSpace(c.Guide)}
	if first := c.firstMessage(); first != "" && !strings.Contains(text, first) {
		parts = append(parts, first)
	}
	if c.turn > 0 && c.Earlier != nil {
		if notes := c.Earlier(); notes != "" {
			text = fmt.Sprintf(sayFresh, notes) + text
		}
	}
	return strings.Join(append(parts, text), "\n\n")
}

// startTranscript opens the session's transcript.
func (c *externalConversation) startTranscript() error {
	data, err := json.Marshal(agent.StoredSessionStart{System: c.Guide, Agent: c.Agent})
	if err != nil {
		return fmt.Errorf("encode the guide: %w", err)
	}
	hash, err := c.store.Put(data)
	if err != nil {
		return fmt.Errorf("keep the guide: %w", err)
	}
	c.facts = append(c.facts, nexus.SessionStarted{Session: c.Session, Attempt: c.Attempt, Role: c.Role, Model: c.Model, Prompt: hash})
	return nil
}

// limitEnding returns an ending if a limit of the session is reached.
func (c *externalConversation) limitEnding() *externalSessionEnd {
	switch {
	case c.Limits.Turns > 0 && c.turn >= c.Limits.Turns:
		return &externalSessionEnd{outcome: nexus.Exhausted, why: fmt.Sprintf("%d turns are used up", c.turn)}
	case c.Limits.SessionTime > 0 && c.left <= 0:
		return &externalSessionEnd{outcome: nexus.Exhausted, why: fmt.Sprintf("the session's %s are used up", c.Limits.SessionTime)}
	case c.Left != nil && c.Left() <= 0:
		return &externalSessionEnd{outcome: nexus.Exhausted, why: "the task's time is used up"}
	}
	return nil
}

// reservePrompt requests permission to spend the most that a prompt may cost, and adds people's
// guidance to the prompt.
func (c *externalConversation) reservePrompt(ctx context.Context) (id string, err error) {
	id = fmt.Sprintf("%s#%d.%s", c.Session, c.turn+1, agent.UniqueNameSuffix(c.Draw, string(c.Session)))
	done := c.facts
	c.facts = nil
	told, err := c.desk.Reserve(ctx, nexus.BudgetReserved{
		ID: id, Task: c.Task, Session: c.Session, Role: c.Role, Model: c.Model, Tier: c.Tier, Money: c.Money,
		Else: c.Others,
	}, done...)
	if err != nil {
		return id, err
	}
	for _, g := range told {
		say, why := landingupdates.UpdateMessage(g)
		if err := c.addGuidanceMessage(say, why, g); err != nil {
			return id, err
		}
	}
	return id, c.recordFacts(ctx)
}

// promptAgent sends one message to the agent, and settles the cost.
func (c *externalConversation) promptAgent(ctx context.Context, text, id string) (agentcli.PromptResult, error) {
	resume := c.opened.ID != "" && c.agent.CanResume()
	p := agentcli.AgentPrompt{Text: text, ID: c.opened.ID, Resume: resume, Money: c.Money, Permit: c.permitCall, Heard: c.recordEvent}
	if c.Ask != nil {
		p.Ask = c.askPerson
	}
	if c.Limits.Turns > 0 {
		p.Turns = c.Limits.Turns - c.turn
	}
	if resume {
		p.Spent = c.closed.Total
	} else {
		p.ID, p.Text = c.agent.NewConversationID(), c.newConversationMessage(text)
	}
	c.heard, c.calls, c.results, c.texts = false, map[string]pendingToolCall{}, nil, nil
	if c.Ready != nil {
		if _, err := c.Ready(); err != nil {
			return agentcli.PromptResult{}, errors.Join(err, c.recordPromptResult(ctx, agentcli.PromptResult{}, id))
		}
	}
	step := c.startPromptClock(ctx)
	watched := c.watchRequests()
	ended, err := c.agent.Prompt(step, p)
	watched()
	c.clock.stopClock()
	cause := context.Cause(step)
	late := errors.Is(cause, agent.ErrSessionTime) || errors.Is(cause, agent.ErrTaskTime)
	switch {
	case err == nil || ctx.Err() != nil:
	case late:
		ended.Fault, ended.Why, err = nexus.FaultTime, cause.Error(), nil
	case errors.Is(cause, errNoRequest):
		ended.Fault, ended.Why, err = nexus.FaultSetup, cause.Error(), nil
	}
	// A program that prints text reports no activity, only its final text.
	c.heard = c.heard || ended.Text != "" || ended.Fault == "" && err == nil
	return ended, errors.Join(err, c.recordPromptResult(ctx, ended, id))
}

// firstRequest limits the time until a program requests its first host, as every program that
// calls a model must do.
const firstRequest = 2 * time.Minute

var errNoRequest = fmt.Errorf("it asked for no host in %s, though its model is on one: it may look for the model elsewhere, or not use the proxy of its environment", firstRequest)

// watchRequests ends the current prompt if the program requests no host in time. The watch
// ends when stop is called.
func (c *externalConversation) watchRequests() (stop func()) {
	if c.Asked == nil || c.Asked() > 0 {
		return func() {}
	}
	end := c.clock.end
	t := time.AfterFunc(firstRequest, func() {
		if c.Asked() == 0 {
			end(errNoRequest)
		}
	})
	return func() { t.Stop() }
}

// recordPromptResult records the end and the usage of a prompt, also if the session was stopped.
func (c *externalConversation) recordPromptResult(ctx context.Context, ended agentcli.PromptResult, id string) error {
	ctx, stop := context.WithTimeoutCause(context.WithoutCancel(ctx), recordTime, errRecord)
	defer stop()
	if err := c.addTurnResults(); err != nil {
		return err
	}
	if c.Settle != nil {
		if err := c.Settle(ctx); err != nil {
			return err
		}
	}
	if c.changed || c.heard {
		if err := c.snapshotTree(ctx); err != nil {
			return err
		}
	}
	if c.Reached != nil {
		if hosts := c.Reached(); len(hosts) > 0 {
			c.facts = append(c.facts, nexus.NetworkRequestsRecorded{Session: c.Session, Hosts: hosts})
		}
	}
	if c.Renewed != nil {
		for _, f := range c.Renewed() {
			f.Session, f.Agent = c.Session, c.Agent
			c.facts = append(c.facts, f)
		}
	}
	f := nexus.AgentProgramEnded{
		Session: c.Session, Agent: c.Agent, Fault: ended.Fault, Why: prompt.SingleLine(ended.Why), Exit: ended.Exit, Denied: ended.Denied,
	}
	own, total := ended.UsedSince(c.closed.Total, c.closed.Usage)
	f.Total, f.Usage = total.Money, total.Usage
	c.closed = f
	spent := nexus.BudgetSettled{ID: id, Usage: own.Usage}
	if c.Money > 0 {
		spent.Money, spent.Estimated = c.promptPrice(own.Money, spent.Usage, ended)
	}
	c.usage = c.usage.Add(spent.Usage)
	c.facts = append(c.facts, spent, f)
	return c.recordFacts(ctx)
}

// promptPrice returns the cost of a prompt: the agent's own count, or its tokens by the price table.
// If the agent counted nothing, because it was stopped before or never counts, the whole
// reservation counts as used, unless the agent did nothing: otherwise an agent that does not
// count would have no limit.
func (c *externalConversation) promptPrice(counted nexus.Money, u nexus.Usage, ended agentcli.PromptResult) (m nexus.Money, estimated bool) {
	switch {
	case counted > 0:
		return counted, false
	case u.TotalTokens() > 0 && c.Price != nil:
		models := ended.Models
		if len(models) == 0 {
			models = map[string]nexus.Usage{c.model: u}
		}
		for name, of := range models {
			one, ok := c.Price(name, of)
			if !ok {
				return c.Money, true
			}
			m += one
		}
		return m, true
	case !c.heard && !c.mayHaveWorkedUnreported(ended.Fault):
		return 0, false
	default:
		return c.Money, true
	}
}

// mayHaveWorkedUnreported reports whether a stopped agent may have worked without reporting it: an agent
// without a stream prints its activity at its end.
func (c *externalConversation) mayHaveWorkedUnreported(f nexus.AgentProgramFault) bool {
	return !c.agent.ReportsProgress() && slices.Contains([]nexus.AgentProgramFault{nexus.FaultSilent, nexus.FaultTime, nexus.FaultStopped}, f)
}

// plainTextSubmission is the submission of roles without their own schema.
type plainTextSubmission struct {
	Summary string `json:"summary"`
	Status  string `json:"status"`

	Learned json.RawMessage `json:"learned,omitempty"`
}

// recordEnd records the end of the session.
func (c *externalConversation) recordEnd(ctx context.Context, end *externalSessionEnd) (*externalSessionEnd, error) {
	f := nexus.SessionEnded{Session: c.Session, Outcome: end.outcome, Why: end.why}
	if end.outcome == nexus.Accepted {
		var err error
		if end.result == nil {
			text, learned := c.extractLessons(end.text)
			if end.result, err = json.Marshal(plainTextSubmission{sanitize.TruncateText(text, maxShown), "done", learned}); err != nil {
				return nil, fmt.Errorf("encode what the agent submitted: %w", err)
			}
		}
		for _, a := range diffreview.ReadCommentAnswers(end.text) {
			f.Answers = append(f.Answers, nexus.FindingAnswer{Comment: a.Comment, Status: nexus.FindingAnswerStatus(a.Reply), Why: sanitize.TruncateText(a.Why, maxWhy)})
		}
		if f.Result, err = c.store.Put(end.result); err != nil {
			return nil, fmt.Errorf("keep what the agent submitted: %w", err)
		}
	}
	c.facts = append(c.facts, f)
	ctx, stop := context.WithTimeoutCause(context.WithoutCancel(ctx), recordTime, errRecord)
	defer stop()
	return end, c.recordFacts(ctx)
}

// maxWhy limits the stored characters of an answer to a comment.
const maxWhy = 1000

// addMessage adds a message of Nexus.
func (c *externalConversation) addMessage(text, why string, request int64) error {
	return c.addGuidanceMessage(text, why, agent.Guidance{Seq: request})
}

// addGuidanceMessage adds a message that delivers people's guidance.
func (c *externalConversation) addGuidanceMessage(text, why string, g agent.Guidance) error {
	hash, err := agent.StoreMessage(c.store, llm.UserMessage(text))
	if err != nil {
		return err
	}
	manifest, err := agent.StoreManifest(c.store, c.Items)
	if err != nil {
		return err
	}
	c.facts = append(c.facts, nexus.PromptSent{
		Session: c.Session, Message: hash, Why: why, Request: g.Seq, Comments: nexus.CommentsWithoutText(g.Comments), Memory: c.Memory, Manifest: manifest,
	})
	c.Memory, c.Items = nil, nil // they belong to the first message only
	c.queueMessage(text)
	return nil
}

// recordFacts appends the collected facts to the journal.
func (c *externalConversation) recordFacts(ctx context.Context) error {
	if len(c.facts) == 0 {
		return nil
	}
	facts := c.facts
	c.facts = nil
	if err := c.desk.Record(ctx, facts...); err != nil {
		return fmt.Errorf("record %s: %w", nexus.FactKind(facts[0]), err)
	}
	return nil
}
