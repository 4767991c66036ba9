package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

// The tools that the loop treats specially.
const (
	finish = "finish" // submits
	ask    = "ask"    // waits for a person
	shell  = "shell"  // runs a command
	job    = "job"    // runs a command in the background
)

// side is the number of read-only calls that run in parallel.
const side = 8

// runCalls runs the calls of an answer, takes a snapshot of the tree if it may have changed,
// and collects the results.
func (c *sessionConversation) runCalls(ctx context.Context, calls []llm.ToolCall) (*sessionStretchEnd, error) {
	spare, stop := c.contextEndingOnDrain(ctx)
	defer stop()
	answers := c.answerCalls(spare, calls)
	if spare.Err() != nil { // partial answers are not sent; the calls are run again
		return nil, context.Cause(spare)
	}
	changed := false
	for _, a := range answers {
		changed = changed || a.Changed
	}
	if err := c.addResults(answers); err != nil {
		return nil, err
	}
	if changed && c.Snapshot != nil {
		snap, err := c.Snapshot(ctx)
		if err != nil {
			return nil, fmt.Errorf("pin the tree: %w", err)
		}
		c.facts = append(c.facts, snap)
	}
	if c.track.Handin != nil {
		return c.recordEnd(ctx, c.submissionEnding(c.track.Handin), nil)
	}
	if end := c.limitEnding(); end != nil {
		return c.recordEnd(ctx, end, nil)
	}
	if c.track.needsReminder() {
		if err := c.sendMessage(nudgeRepeat, "nudge"); err != nil {
			return nil, err
		}
	}
	return nil, nil // recorded with the next reservation
}

// answerCalls runs the calls: in parallel if all of them only read, otherwise in sequence. Of
// equal calls with only reading calls between them, the first is run.
func (c *sessionConversation) answerCalls(ctx context.Context, calls []llm.ToolCall) []tool.CallOutcome {
	answers := make([]tool.CallOutcome, len(calls))
	if len(calls) > 1 && c.areReadOnly(calls) {
		step, stop := c.withTimeLimits(ctx)
		defer stop()
		var g errgroup.Group
		g.SetLimit(side)
		for i, call := range calls {
			if c.repeatsEarlierCall(calls, i) {
				answers[i] = repeatedCallAnswer(call)
				continue
			}
			g.Go(func() error {
				answers[i] = c.tools.Answer(step, call)
				return nil
			})
		}
		_ = g.Wait() // a call that fails has a failed result
		return answers
	}
	failed, finished := false, false
	var broken []llm.ToolCall // failed changes of files
	for i, call := range calls {
		on := c.failedPrerequisite(call, broken)
		switch {
		case ctx.Err() != nil:
			return answers
		case call.Flaw != "":
			answers[i] = undoneCallAnswer(call, "not done: this call is malformed, "+call.Flaw+". Make it again, with one JSON object as its input")
		case finished:
			answers[i] = undoneCallAnswer(call, "not done: you submitted before this call")
		case c.repeatsEarlierCall(calls, i):
			answers[i] = repeatedCallAnswer(call)
			continue // it did not fail
		case call.Tool == finish && failed:
			answers[i] = undoneCallAnswer(call, "not submitted: an earlier call of this answer failed; look at its result first")
		case on != "":
			answers[i] = undoneCallAnswer(call, "not done: "+on+", which this call builds on, failed in the same answer; fix that first")
		default:
			answers[i] = c.answerCall(ctx, call)
		}
		// a malformed call may name no file
		if answers[i].Result.Failed && (callPath(call) != "" || call.Flaw != "") && !c.tools.ReadOnly(call.Tool) {
			broken = append(broken, call)
		}
		failed = failed || answers[i].Result.Failed
		finished = finished || answers[i].Finished != nil
	}
	return answers
}

// failedPrerequisite returns the file of a failed change on which a later call of the same answer
// depends, or "": a command depends on all changes before it, and a change of a file on the
// earlier changes of that file.
func (c *sessionConversation) failedPrerequisite(call llm.ToolCall, broken []llm.ToolCall) string {
	for _, b := range broken {
		if call.Tool == shell || call.Tool == job || callPath(call) == callPath(b) && !c.tools.ReadOnly(call.Tool) {
			return strings.TrimSpace(b.Tool + " " + callPath(b))
		}
	}
	return ""
}

// callPath returns the file that a call names, cleaned, or "".
func callPath(call llm.ToolCall) string {
	var in struct{ Path string }
	if json.Unmarshal(tool.NormalizeCall(call).Input, &in) != nil || in.Path == "" {
		return ""
	}
	return filepath.Clean(in.Path)
}

// answerCall runs a single call. A person's answer may take longer than a session.
func (c *sessionConversation) answerCall(ctx context.Context, call llm.ToolCall) tool.CallOutcome {
	if call.Tool == ask {
		return c.tools.Answer(ctx, call)
	}
	step, stop := c.withTimeLimits(ctx)
	defer stop()
	return c.tools.Answer(step, call)
}

// repeatsEarlierCall reports whether an earlier call of the same answer equals call i, and only reading
// calls are between them: its result would be the same.
func (c *sessionConversation) repeatsEarlierCall(calls []llm.ToolCall, i int) bool {
	if _, submits := tool.SubmissionOfCall(calls[i]); submits {
		return false
	}
	for _, before := range slices.Backward(calls[:i]) {
		if before.Flaw == "" && repeatedCallKey(before) == repeatedCallKey(calls[i]) {
			return true
		}
		if !c.tools.ReadOnly(before.Tool) {
			return false
		}
	}
	return false
}

// repeatedCallAnswer answers a call that repeats another one of the same answer.
func repeatedCallAnswer(call llm.ToolCall) tool.CallOutcome {
	const why = "not run again: an earlier call of this answer is the same; see its result"
	return tool.CallOutcome{Result: llm.ToolResult{ID: call.ID, Text: why}, About: why}
}

func (c *sessionConversation) areReadOnly(calls []llm.ToolCall) bool {
	for _, call := range calls {
		if call.Flaw != "" || !c.tools.ReadOnly(call.Tool) {
			return false
		}
	}
	return true
}

func undoneCallAnswer(call llm.ToolCall, why string) tool.CallOutcome {
	return tool.CallOutcome{Result: llm.ToolResult{ID: call.ID, Text: why, Failed: true}, About: why}
}

// addResults appends the results of a turn to the conversation and the facts.
func (c *sessionConversation) addResults(answers []tool.CallOutcome) error {
	m := llm.Message{From: llm.User}
	for _, a := range answers {
		m.Parts = append(m.Parts, llm.MessagePart{Result: &a.Result})
		c.Tally = c.Tally.WithAnswer(a.Result.Failed)
		c.facts = append(c.facts, nexus.ToolCallEnded{
			Session: c.Session, Call: a.Result.ID, Failed: a.Result.Failed, Duration: a.Duration, About: a.About, Judged: a.Judged, Over: a.Over,
		})
		if len(a.Reached) > 0 {
			c.facts = append(c.facts, nexus.NetworkRequestsRecorded{Session: c.Session, Call: a.Result.ID, Hosts: a.Reached})
		}
	}
	hash, err := c.storeMessage(m)
	if err != nil {
		return err
	}
	c.facts = append(c.facts, nexus.ToolResultsSent{Session: c.Session, Message: hash})
	return nil
}

// endRepetition ends a session that repeats the same call; the last call gets an answer
// without being run.
func (c *sessionConversation) endRepetition(ctx context.Context, calls []llm.ToolCall) (*sessionStretchEnd, error) {
	answers := make([]tool.CallOutcome, len(calls))
	for i, call := range calls {
		answers[i] = undoneCallAnswer(call, "not done: the same call again")
	}
	if err := c.addResults(answers); err != nil {
		return nil, err
	}
	why := fmt.Sprintf("the same call %d times: %s %s", c.track.repeatCount(), calls[0].Tool, tool.DescribeCall(calls[0]))
	return c.recordEnd(ctx, &sessionStretchEnd{outcome: nexus.NoProgress, why: why}, nil)
}
