package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/schedule"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/ratelimit"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

// recordTime limits how long recording a paid turn may continue after the session was
// cancelled.
const recordTime = time.Minute

var errRecord = errors.New("the turn could not be recorded in time")

// sessionConversation is one stretch of a session. One goroutine owns it.
type sessionConversation struct {
	SessionStretchOptions
	model llm.Model
	tools CallableTools
	desk  SessionRecorder
	store MessageStore
	heard func(llm.AnswerDelta)

	lately   string // the last tool that was called
	specs    []llm.ToolDescription
	messages []llm.Message
	track    repeatedCallCounter
	left     time.Duration                // rest of the session's time
	taken    int                          // turns of the session, including earlier stretches
	hops     int                          // changes of model since the last call that succeeded
	waited   time.Duration                // wait for the present model since then
	failures map[llm.CallFailureClass]int // failed calls since the last that succeeded, by class
	usage    nexus.Usage                  // usage of this stretch
	held     contextUsage                 // context size that the model reported
	barren   int                          // number of messages below which compacting has no effect
	facts    []nexus.Fact
	pass     *ratelimit.CallPermit // permit from the account's rate limits for the next call
}

// sessionStretchEnd is the reason for which a stretch ends.
type sessionStretchEnd struct {
	outcome nexus.Outcome
	why     string
	handin  json.RawMessage
	text    string
	needs   nexus.BlockedAgentNeed
	answers []nexus.FindingAnswer
	refusal error
}

// runUntilEnding makes turns until there is an ending.
func (c *sessionConversation) runUntilEnding(ctx context.Context) (*sessionStretchEnd, error) {
	defer c.releaseUnusedPermit()
	end, err := c.startOrResume(ctx)
	for end == nil && err == nil {
		end, err = c.takeTurn(ctx)
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return end, err
}

// withTimeLimits limits a step by the time that is left of the session and the task. The
// session's clock runs until stop.
func (c *sessionConversation) withTimeLimits(ctx context.Context) (step context.Context, stop func()) {
	if c.Limits.SessionTime <= 0 {
		return WithTimeLimits(ctx, nil, c.Left)
	}
	return WithTimeLimits(ctx, &c.left, c.Left)
}

// startOrResume starts or resumes the session: it runs the calls that a dead process left
// without a result, and sends the new message.
func (c *sessionConversation) startOrResume(ctx context.Context) (*sessionStretchEnd, error) {
	calls := pendingCalls(c.messages)
	if answers := c.answerLostCalls(calls); answers != nil {
		if err := c.addResults(answers); err != nil {
			return nil, err
		}
		if err := c.recordFacts(ctx); err != nil || c.Next == "" {
			return nil, err
		}
	} else if len(calls) > 0 {
		end, err := c.runCalls(ctx, calls)
		if err != nil || end != nil && c.Next == "" {
			return end, err
		}
	}
	switch {
	case c.Next != "":
		if len(c.messages) == 0 || c.After != "" {
			if err := c.startTranscript(); err != nil {
				return nil, err
			}
		}
		why := "repair"
		if len(c.messages) == 0 {
			why = "brief"
		}
		if err := c.sendWithGuidance(c.Next, cmp.Or(c.Why, why), c.Delivers); err != nil {
			return nil, err
		}
		return nil, c.recordFacts(ctx)
	case len(c.messages) == 0:
		return nil, errors.New("a session needs a first message")
	case c.track.Handin != nil:
		return c.submissionEnding(c.track.Handin), nil // the end of the session is recorded already
	case c.messages[len(c.messages)-1].From == llm.Assistant:
		end, err := c.handleMissingCall("", c.messages[len(c.messages)-1], "")
		return c.recordEnd(ctx, end, err)
	default:
		return nil, nil
	}
}

// startTranscript opens the session's transcript.
func (c *sessionConversation) startTranscript() error {
	data, err := json.Marshal(StoredSessionStart{System: c.System, Tools: c.specs})
	if err != nil {
		return fmt.Errorf("encode system prompt: %w", err)
	}
	hash, err := c.store.Put(data)
	if err != nil {
		return fmt.Errorf("keep system prompt: %w", err)
	}
	c.facts = append(c.facts, nexus.SessionStarted{
		Session: c.Session, Attempt: c.Attempt, Role: c.Role.Name, Model: c.Model, Prompt: hash, About: c.About, After: c.After,
	})
	return nil
}

// takeTurn makes one model call and processes its answer.
func (c *sessionConversation) takeTurn(ctx context.Context) (*sessionStretchEnd, error) {
	if end := c.limitEnding(); end != nil {
		return c.recordEnd(ctx, end, nil)
	}
	if again, end, err := c.compactIfNeeded(ctx); again || end != nil || err != nil {
		return end, err
	}
	r, id, err := c.requestPermission(ctx, c.newModelRequest)
	if end := refusalEnding(err); end != nil {
		return c.recordEnd(ctx, end, nil)
	}
	if e, ok := errors.AsType[*schedule.SwitchModelError](err); ok {
		return nil, c.switchModel(ctx, e.Model, e.Why)
	}
	if err != nil {
		return nil, err
	}
	if again, err := c.waitForRateLimit(ctx, r, id); again || err != nil {
		return nil, err
	}
	resp, err := c.callModel(ctx, r, id)
	if err != nil {
		return c.handleModelError(ctx, err)
	}
	clear(c.failures)
	c.held = contextUsage{tokens: resp.Usage.PromptTokens() + resp.Usage.Output, messages: len(c.messages) + 1}
	c.hops, c.waited = 0, 0
	message, err := c.addAnswer(resp)
	if err != nil {
		return nil, err
	}
	calls := unmaskedCalls(toolCallsOf(message), resp)
	if len(calls) == 0 {
		end, err := c.handleMissingCall(resp.Stop, message, resp.Flaw)
		return c.recordEnd(ctx, end, err)
	}
	if err := c.recordEvenIfCancelled(ctx); err != nil {
		return nil, err
	}
	if c.track.isStuck() {
		return c.endRepetition(ctx, calls)
	}
	return c.runCalls(ctx, calls)
}

// limitEnding returns an ending when a limit of the session is reached.
func (c *sessionConversation) limitEnding() *sessionStretchEnd {
	turns := c.Limits.Turns
	if c.Role.Turns > 0 && (turns <= 0 || c.Role.Turns < turns) {
		turns = c.Role.Turns
	}
	tokens := c.Used.TotalTokens() + c.usage.TotalTokens()
	switch {
	case turns > 0 && c.taken >= turns:
		return &sessionStretchEnd{outcome: nexus.Exhausted, why: fmt.Sprintf("%d turns are used up", turns)}
	case c.track.Malformed > maxMalformed:
		return malformedCallsEnding(c.track.Malformed)
	case c.track.Refused > maxRefused:
		return &sessionStretchEnd{outcome: nexus.NoProgress, why: fmt.Sprintf("%d submissions were refused", c.track.Refused)}
	case c.Tally.LimitReason(c.Limits, c.lately) != "":
		return &sessionStretchEnd{outcome: nexus.NoProgress, why: c.Tally.LimitReason(c.Limits, c.lately)}
	case c.track.isStuck():
		return &sessionStretchEnd{outcome: nexus.NoProgress, why: fmt.Sprintf("the same call %d times", c.track.repeatCount())}
	case c.Limits.SessionTime > 0 && c.left <= 0:
		return &sessionStretchEnd{outcome: nexus.Exhausted, why: fmt.Sprintf("the session's %s are used up", c.Limits.SessionTime)}
	case c.Left != nil && c.Left() <= 0:
		return &sessionStretchEnd{outcome: nexus.Exhausted, why: "the task's time is used up"}
	case c.Limits.SessionTokens > 0 && tokens >= c.Limits.SessionTokens:
		return &sessionStretchEnd{outcome: nexus.Exhausted, why: fmt.Sprintf("%d of %d tokens are used up", tokens, c.Limits.SessionTokens)}
	default:
		return nil
	}
}

// malformedCallsEnding returns the ending of a session whose model cannot make a valid call.
func malformedCallsEnding(answers int) *sessionStretchEnd {
	return &sessionStretchEnd{outcome: nexus.NoProgress, why: fmt.Sprintf("%d answers in a row with malformed calls", answers)}
}

// handleMissingCall handles an answer without a call, one that was cut off, or one whose calls
// the provider reported as unreadable: it sends a nudge, or ends the session.
func (c *sessionConversation) handleMissingCall(stop llm.StopReason, m llm.Message, flaw string) (*sessionStretchEnd, error) {
	text := m.Text()
	switch {
	case stop == llm.StopRefuse:
		return &sessionStretchEnd{outcome: nexus.GaveUp, why: cmp.Or(messageLine(m), "the model refused to answer"), text: text}, nil
	case stop == llm.StopLength && c.track.Cut >= maxCut:
		return &sessionStretchEnd{outcome: nexus.Exhausted, why: fmt.Sprintf("%d answers were cut off at %d tokens", maxCut+1, c.maxTokens()), text: text}, nil
	case stop == llm.StopLength:
		return nil, c.sendMessage(nudgeCut, "nudge")
	case stop == llm.StopMalformed && c.track.Malformed >= maxMalformed:
		return malformedCallsEnding(maxMalformed + 1), nil
	case stop == llm.StopMalformed:
		return nil, c.sendMessage(strings.TrimSpace(nudgeMalformed+prompt.SingleLine(flaw)), "nudge")
	case c.Role.Answers && strings.TrimSpace(text) != "":
		return &sessionStretchEnd{outcome: nexus.Accepted, text: text}, nil
	case c.Role.Answers && c.track.Silent > maxSilent:
		return &sessionStretchEnd{outcome: nexus.NoProgress, why: fmt.Sprintf("%d empty answers", c.track.Silent)}, nil
	case c.Role.Answers:
		return nil, c.sendMessage(nudgeEmpty, "nudge")
	case c.track.Silent <= maxSilent:
		return nil, c.sendMessage(nudgeSilent, "nudge")
	case c.Schema != nil:
		return &sessionStretchEnd{outcome: nexus.NoProgress, why: fmt.Sprintf("%d answers without a call, and nothing was submitted", c.track.Silent), text: text}, nil
	default:
		handin, err := json.Marshal(defaultSubmission{Summary: text, Status: "done"})
		return &sessionStretchEnd{outcome: nexus.Accepted, handin: handin, text: text}, err
	}
}

// defaultSubmission is the submission of roles without their own schema.
type defaultSubmission struct {
	Summary string `json:"summary"`
	Status  string `json:"status"`
	Reason  string `json:"reason,omitzero"`

	Needs nexus.BlockedAgentNeed `json:"needs,omitzero"`
}

// submissionEnding returns the ending for a submission.
func (c *sessionConversation) submissionEnding(handin json.RawMessage) *sessionStretchEnd {
	if c.Schema != nil {
		handin = tool.CoerceInputToSchema(c.Schema, handin)
	}
	end := &sessionStretchEnd{outcome: nexus.Accepted, handin: handin}
	var r defaultSubmission
	if c.Schema == nil && json.Unmarshal(handin, &r) == nil {
		end.text, end.answers = r.Summary, tool.ParseFindingAnswers(handin)
		if r.Status == "blocked" {
			end.outcome, end.why, end.needs = nexus.GaveUp, cmp.Or(r.Reason, r.Summary, "blocked"), r.Needs
		}
	}
	return end
}

// recordEnd records the remaining facts, and the end of the session if there is one.
func (c *sessionConversation) recordEnd(ctx context.Context, end *sessionStretchEnd, err error) (*sessionStretchEnd, error) {
	if err != nil {
		return nil, err
	}
	if end != nil {
		ended := nexus.SessionEnded{Session: c.Session, Outcome: end.outcome, Why: end.why, Needs: end.needs, Answers: end.answers}
		if end.handin != nil {
			if ended.Result, err = c.store.Put(end.handin); err != nil {
				return nil, fmt.Errorf("store the submission: %w", err)
			}
		}
		c.facts = append(c.facts, ended)
	}
	return end, c.recordEvenIfCancelled(ctx)
}

// sendMessage appends a message from Nexus; it is recorded with the next facts.
func (c *sessionConversation) sendMessage(text, why string) error {
	return c.sendWithGuidance(text, why, Guidance{})
}

// sendWithGuidance appends a message that delivers people's guidance.
func (c *sessionConversation) sendWithGuidance(text, why string, g Guidance) error {
	hash, err := c.storeMessage(llm.UserMessage(text))
	if err != nil {
		return err
	}
	manifest, err := StoreManifest(c.store, c.Items)
	if err != nil {
		return err
	}
	c.facts = append(c.facts, nexus.PromptSent{Session: c.Session, Message: hash, Why: why, Request: g.Seq, Comments: nexus.CommentsWithoutText(g.Comments), Memory: c.Memory, Manifest: manifest})
	c.Memory, c.Items = nil, nil // they belong to the first message only
	return nil
}

// storeMessage stores a message and appends it as the store returns it: a store may mask keys,
// and the model receives the masked text.
func (c *sessionConversation) storeMessage(m llm.Message) (hash string, err error) {
	if hash, err = StoreMessage(c.store, m); err != nil {
		return "", err
	}
	data, err := c.store.Get(hash)
	if err != nil {
		return "", fmt.Errorf("read message back: %w", err)
	}
	var kept llm.Message
	if err := json.Unmarshal(data, &kept); err != nil {
		return "", fmt.Errorf("read message back: %w", err)
	}
	c.addMessage(kept)
	return hash, nil
}

func (c *sessionConversation) addMessage(m llm.Message) {
	c.messages = append(c.messages, m)
	c.track.countMessage(m)
}

// recordFacts appends the collected facts to the journal.
func (c *sessionConversation) recordFacts(ctx context.Context) error {
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

// recordEvenIfCancelled is record for paid work: it continues if the session was cancelled.
func (c *sessionConversation) recordEvenIfCancelled(ctx context.Context) error {
	ctx, stop := context.WithTimeoutCause(context.WithoutCancel(ctx), recordTime, errRecord)
	defer stop()
	return c.recordFacts(ctx)
}

// pendingCalls returns the calls of the last message that have no result.
func pendingCalls(messages []llm.Message) []llm.ToolCall {
	if len(messages) == 0 {
		return nil
	}
	last := messages[len(messages)-1]
	if last.From != llm.Assistant {
		return nil
	}
	return toolCallsOf(last)
}

func toolCallsOf(m llm.Message) []llm.ToolCall { return llm.Response{Message: m}.ToolCalls() }
