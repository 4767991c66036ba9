package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/schedule"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// Limits of compaction.
const (
	// percent of the model's context from which a conversation is compacted, if the limits set
	// nothing.
	fullPercent   = 70
	keepTurns     = 4     // last turns, which are kept word for word
	progress      = 2     // turns after which a compaction counts as effective
	maxRow        = 2     // consecutive compactions without effect
	summaryTokens = 2_048 // most tokens of a summary
)

// contextUsage is the size of the context at the model's last answer.
type contextUsage struct {
	tokens   int64
	messages int
}

// requestTokens returns the estimated number of tokens of the next request.
func (c *sessionConversation) requestTokens() int64 {
	if c.held.tokens == 0 || c.held.messages > len(c.messages) {
		return llm.EstimateTokens(llm.EstimateRequest(c.newModelRequest()))
	}
	return c.held.tokens + estimateMessageTokens(c.messages[c.held.messages:])
}

// compactIfNeeded compacts a conversation that is about to exceed its model's context, and
// reports whether the turn begins again.
func (c *sessionConversation) compactIfNeeded(ctx context.Context) (again bool, end *sessionStretchEnd, err error) {
	if c.Context <= 0 || len(c.messages) < c.barren || c.requestTokens() < c.compactionThreshold() {
		return false, nil, nil
	}
	again, end, err = c.compactMessages(ctx, fmt.Sprintf("it nears the %d tokens that %s can hold", c.Context, c.Model))
	if !again { // the provider may still accept it, and later turns may allow another compaction
		c.barren = len(c.messages) + 2*keepTurns
	}
	return again, end, err
}

// compactionThreshold returns the number of tokens from which a conversation is compacted.
func (c *sessionConversation) compactionThreshold() int64 {
	full := int64(cmp.Or(c.Limits.Compact, fullPercent))
	return min(c.Context*full/100, max(c.Context-c.maxTokens(), c.Context/4))
}

// compactOverflow compacts a conversation that the provider rejected as too long.
func (c *sessionConversation) compactOverflow(ctx context.Context) (*sessionStretchEnd, error) {
	again, end, err := c.compactMessages(ctx, "the context of "+c.Model+" is full")
	if !again && end == nil && err == nil {
		return c.recordEnd(ctx, &sessionStretchEnd{outcome: nexus.Exhausted, why: "the conversation is too long for " + c.Model}, nil)
	}
	return end, err
}

// compactMessages shortens the conversation: older results become one line each, and if that does not
// halve it, a summary replaces older turns. It returns false if nothing can be shortened.
func (c *sessionConversation) compactMessages(ctx context.Context, why string) (again bool, _ *sessionStretchEnd, _ error) {
	done := nexus.SessionCompacted{Session: c.Session, Turn: c.taken, Row: 1, Why: why, Before: c.requestTokens()}
	if c.Compact.Row > 0 && c.taken-c.Compact.Turn < progress {
		done.Row = c.Compact.Row + 1
	}
	if done.Row > maxRow {
		end, err := c.recordEnd(ctx, &sessionStretchEnd{outcome: nexus.Exhausted, why: fmt.Sprintf("%s, and compacting the conversation %d times did not help", why, maxRow)}, nil)
		return true, end, err
	}
	keep := keepTurns
	if done.Row > 1 || c.Context > 0 && estimateMessageTokens(c.messages[max(0, len(c.messages)-2*keep):]) > c.compactionThreshold()/2 {
		keep = 1
	}
	short, stubbed := shortenOlderResults(c.messages, keep)
	if done.Row > 1 || !stubbed || 2*estimateMessageTokens(short) > estimateMessageTokens(c.messages) {
		if _, gone := summarizeOlderTurns(short, keep, ""); gone > 0 {
			summary, anew, end, err := c.requestSummary(ctx, short)
			if anew || end != nil || err != nil {
				return true, end, err
			}
			short, _ = shortenOlderResults(c.messages, keep) // messages of people may have been added
			short, done.Gone = summarizeOlderTurns(short, keep, summary)
		}
	}
	if estimateMessageTokens(short) >= estimateMessageTokens(c.messages) {
		return false, nil, c.recordEvenIfCancelled(ctx)
	}
	return true, nil, c.replaceMessages(ctx, short, done)
}

// requestSummary asks the model for a summary of the conversation; it is empty if the model returns
// none. After a wait for the provider, the turn begins again.
func (c *sessionConversation) requestSummary(ctx context.Context, short []llm.Message) (text string, anew bool, _ *sessionStretchEnd, _ error) {
	r := c.newModelRequest()
	// otherwise everything cached is read from the cache
	if c.Context <= 0 || c.requestTokens()+r.MaxTokens > c.Context {
		r.Messages = portableMessages(short, c.Foreign)
	}
	r.Messages = append(slices.Clip(r.Messages), llm.UserMessage(summaryRequest))
	r.Force = "" // the model must write text, not call a tool
	r.MaxTokens = min(r.MaxTokens, summaryTokens)
	r, id, err := c.requestPermission(ctx, func() llm.Request { return r })
	if end := refusalEnding(err); end != nil {
		end, err = c.recordEnd(ctx, end, nil)
		return "", true, end, err
	}
	if e, ok := errors.AsType[*schedule.SwitchModelError](err); ok {
		return "", true, nil, c.switchModel(ctx, e.Model, e.Why)
	}
	if err != nil {
		return "", true, nil, err
	}
	resp, err := c.callModel(ctx, r, id)
	if e, ok := errors.AsType[*llm.ModelCallError](err); ok && ctx.Err() == nil && (e.Class == llm.Context || e.Class == llm.Safety) {
		return "", false, nil, nil
	}
	if err != nil {
		end, err := c.handleModelError(ctx, err)
		return "", true, end, err
	}
	clear(c.failures)
	if resp.Stop == llm.StopRefuse || resp.Stop == llm.StopMalformed {
		return "", false, nil, nil
	}
	return strings.TrimSpace(resp.Message.Text()), false, nil, nil
}

// replaceMessages replaces the conversation with messages, and records that.
func (c *sessionConversation) replaceMessages(ctx context.Context, messages []llm.Message, done nexus.SessionCompacted) error {
	c.messages, c.track, c.held = nil, repeatedCallCounter{}, contextUsage{}
	for _, m := range messages {
		hash, err := c.storeMessage(m)
		if err != nil {
			return err
		}
		done.Messages = append(done.Messages, hash)
	}
	if c.Foreign > 0 {
		c.Foreign = len(c.messages)
	}
	done.After = c.requestTokens()
	c.Compact, c.facts = done, append(c.facts, done)
	return c.recordEvenIfCancelled(ctx)
}
