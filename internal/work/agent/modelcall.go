package agent

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/landingupdates"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

// defaultTokens limits an answer if the role sets no limit.
const defaultTokens = 8_192

func (c *sessionConversation) maxTokens() int64 {
	if c.Role.MaxTokens > 0 {
		return c.Role.MaxTokens
	}
	return defaultTokens
}

func (c *sessionConversation) newModelRequest() llm.Request {
	_, model, _ := strings.Cut(c.Model, "/")
	return llm.Request{
		Model: model, System: c.System, Tools: c.specs, Messages: portableMessages(c.messages, c.Foreign),
		MaxTokens: c.maxTokens(), Force: c.forcedTool(), Effort: c.Role.Effort, Family: c.Family,
	}
}

// forcedTool returns the tool that the model must call, the same throughout a session.
func (c *sessionConversation) forcedTool() string {
	switch {
	case !c.Role.Force:
		return ""
	case len(c.specs) == 1:
		return c.specs[0].Name
	default:
		return llm.AnyTool
	}
}

// requestPermission requests permission for a call, records the facts before it, and delivers
// guidance. It returns the request including that. If the request now may cost more than was
// reserved, because the wait was long or guidance was added, the reservation is released and
// requested again.
func (c *sessionConversation) requestPermission(ctx context.Context, request func() llm.Request) (llm.Request, string, error) {
	for {
		reserved, told, err := c.reserveCall(ctx, request())
		if err == nil && told {
			err = c.recordFacts(ctx)
		}
		r := request()
		if err != nil || c.maxCost(r) <= reserved.Money && c.callTokenLimit(r) <= reserved.Tokens {
			return r, reserved.ID, err
		}
		c.facts = append(c.facts, nexus.BudgetSettled{ID: reserved.ID})
	}
}

// maxCost returns the most that a call may cost; 0 if unknown.
func (c *sessionConversation) maxCost(r llm.Request) nexus.Money {
	if c.Worst == nil {
		return 0
	}
	return c.Worst(r)
}

// callTokenLimit returns the most tokens that a call may use; 0 if they are not limited.
func (c *sessionConversation) callTokenLimit(r llm.Request) int64 {
	if c.Tokens == nil {
		return 0
	}
	return c.Tokens(r)
}

// reserveCall requests permission for a call once, and reports whether guidance was delivered. The
// ID is new each time: a call that was cut off has settled its own.
func (c *sessionConversation) reserveCall(ctx context.Context, r llm.Request) (reserved nexus.BudgetReserved, told bool, err error) {
	id := fmt.Sprintf("%s#%d.%s", c.Session, c.taken+1, UniqueNameSuffix(c.Draw, string(c.Session)))
	reserved = nexus.BudgetReserved{
		ID: id, Task: c.Task, Session: c.Session, Role: c.Role.Name, Model: c.Model, Tier: c.Tier, Else: replacementModelNames(c.Choices, c.Model), Money: c.maxCost(r), Tokens: c.callTokenLimit(r),
	}
	done := c.facts
	c.facts = nil
	guidance, err := c.desk.Reserve(ctx, reserved, done...)
	if err != nil {
		return reserved, false, err
	}
	for _, g := range guidance {
		text, why := landingupdates.UpdateMessage(g)
		if err := c.sendWithGuidance(text, why, g); err != nil {
			return reserved, false, err
		}
	}
	news := c.subagentUpdates()
	for _, text := range news {
		if err := c.sendMessage(text, "news"); err != nil {
			return reserved, false, err
		}
	}
	return reserved, len(guidance)+len(news) > 0, nil
}

func (c *sessionConversation) subagentUpdates() []string {
	if c.News == nil {
		return nil
	}
	return c.News()
}

// UniqueNameSuffix returns eight characters that make a name unique: drawn for that name, or random.
func UniqueNameSuffix(draw func(string) uint64, name string) string {
	if draw == nil {
		return rand.Text()[:8]
	}
	return strings.ToUpper(fmt.Sprintf("%08s", strconv.FormatUint(draw(name)%(1<<40), 32)))
}

// refusalEnding returns the ending for a refused reservation, nil for any other error.
func refusalEnding(err error) *sessionStretchEnd {
	if !IsSpendingRefused(err) {
		return nil
	}
	return &sessionStretchEnd{outcome: nexus.Refused, why: err.Error(), refusal: err}
}

// callModel calls the model, and settles the reservation, also on failure.
func (c *sessionConversation) callModel(ctx context.Context, r llm.Request, id string) (llm.Response, error) {
	said := 0
	step, stop := c.withTimeLimits(ctx)
	defer stop()
	step, alive, let := c.cancelWhenSilent(step)
	defer let()
	if c.pass != nil {
		step = c.pass.WithPermit(step)
		defer c.releaseUnusedPermit()
	}
	resp, err := c.model.Stream(step, r, func(d llm.AnswerDelta) {
		said += d.ByteCount()
		alive()
		if c.heard != nil && (d.Text != "" || d.Thought != "" || d.Tool != "") {
			c.heard(d)
		}
	})
	spent := nexus.BudgetSettled{ID: id, Service: resp.Terms.Service}
	spent.Usage, spent.Estimated = CallUsage(r, resp, said, err)
	if c.Price != nil {
		spent.Money = c.Price(spent.Usage, resp.Terms)
	}
	if resp.Cost > 0 { // the provider's own figure of the cost is exact
		spent.Money = resp.Cost
	}
	c.usage = c.usage.Add(spent.Usage)
	c.facts = append(c.facts, spent)
	if err != nil {
		if hurried, ok := errors.AsType[*shutdownError](context.Cause(step)); ok {
			err = hurried
		}
		return resp, errors.Join(err, c.recordEvenIfCancelled(ctx))
	}
	return resp, nil
}

// addAnswer adds the model's answer and its calls to the facts. No call of an incomplete
// answer is run.
func (c *sessionConversation) addAnswer(resp llm.Response) (llm.Message, error) {
	m := resp.Message
	m.From = llm.Assistant
	if resp.Stop == llm.StopLength || resp.Stop == llm.StopRefuse || resp.Stop == llm.StopMalformed {
		m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p llm.MessagePart) bool { return p.Call != nil })
	}
	if m.Text() == "" && len(toolCallsOf(m)) == 0 { // providers refuse a message without content
		m.Parts = append(m.Parts, llm.MessagePart{Text: "(no answer)"})
	}
	hash, err := c.storeMessage(m)
	if err != nil {
		return m, err
	}
	m = c.messages[len(c.messages)-1]
	c.taken++
	c.facts = append(c.facts, nexus.ModelTurnRecorded{Session: c.Session, Turn: c.taken, Message: hash, Stop: string(resp.Stop), Says: messageLine(m)})
	for _, call := range toolCallsOf(m) {
		c.Tally, c.lately = c.Tally.WithCall(call.Tool), call.Tool
		c.facts = append(c.facts, nexus.ToolCallStarted{Session: c.Session, Call: call.ID, Tool: call.Tool, About: cmp.Or(call.Flaw, tool.DescribeCall(call))})
	}
	return m, nil
}

func messageLine(m llm.Message) string { return prompt.SingleLine(m.Text()) }

// handleModelError turns an error of the model into an ending or an error for people.
func (c *sessionConversation) handleModelError(ctx context.Context, err error) (*sessionStretchEnd, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if hurried, ok := errors.AsType[*shutdownError](err); ok {
		return nil, hurried.why
	}
	if end := c.limitEnding(); end != nil { // the session's time ran out
		return c.recordEnd(ctx, end, nil)
	}
	if _, ok := errors.AsType[*nexus.Error](err); ok {
		return nil, err
	}
	if again, err := c.waitBeforeRetry(ctx, err); again || err != nil {
		return nil, err
	}
	e, ok := errors.AsType[*llm.ModelCallError](err)
	if !ok {
		return nil, fmt.Errorf("call %s: %w", c.Model, err)
	}
	said := &nexus.Error{
		Code: nexus.CodeProvider, Message: "call " + c.Model, Cause: err,
		Hint: "Run nexus resume to continue where the run stopped.",
	}
	switch do := e.Class.ReactionTo().Do; {
	case do == llm.RemedyShorten:
		return c.compactOverflow(ctx)
	case do == llm.RemedyGiveUp:
		return c.recordEnd(ctx, &sessionStretchEnd{outcome: nexus.GaveUp, why: c.Model + " refuses to answer this"}, nil)
	case e.Class == llm.Billing:
		said.Code, said.Hint = nexus.CodeAuth, "Pay the provider or use another model, then run nexus resume."
	case do == llm.RemedyAskPerson:
		said.Code, said.Hint = nexus.CodeAuth, "Check the provider's key; nexus doctor says which is used."
	case e.IsTransient():
		c.describeExhaustion(said, e)
	case e.Class == llm.Invalid && e.Status == 404:
		said.Code, said.Hint = nexus.CodeModelUnknown, "Check the model's name; its form is provider/model."
	}
	return nil, said
}
