package agent

import (
	"bytes"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/secret"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

// unmaskedCalls returns the calls as the model made them: the stored calls may be masked, and
// masking must never change a tree.
func unmaskedCalls(kept []llm.ToolCall, r llm.Response) []llm.ToolCall {
	if made := r.ToolCalls(); hasMaskedKeys(kept) && len(made) == len(kept) {
		return made
	}
	return kept
}

// hasMaskedKeys reports whether keys may have been masked in a call.
func hasMaskedKeys(calls []llm.ToolCall) bool {
	return slices.ContainsFunc(calls, func(c llm.ToolCall) bool { return bytes.Contains(c.Input, []byte(secret.Mark)) })
}

// answerLostCalls answers calls without a result that must not be run again; nil if they may
// be.
func (c *sessionConversation) answerLostCalls(calls []llm.ToolCall) []tool.CallOutcome {
	switch {
	case c.Cut && len(calls) > 0:
		return interruptedAnswers(calls)
	case hasMaskedKeys(calls):
		return answerUnrepeatable(calls)
	}
	return nil
}

// interruptedAnswers answers calls that a person interrupted.
func interruptedAnswers(calls []llm.ToolCall) []tool.CallOutcome {
	answers := make([]tool.CallOutcome, len(calls))
	for i, call := range calls {
		answers[i] = undoneCallAnswer(call, "a person interrupted this: it was not done, or only in part; look at the tree before you continue")
	}
	return answers
}

// answerUnrepeatable answers calls of a dead process that cannot be run again, because a key
// in them was masked in the store.
func answerUnrepeatable(calls []llm.ToolCall) []tool.CallOutcome {
	answers := make([]tool.CallOutcome, len(calls))
	for i, call := range calls {
		answers[i] = undoneCallAnswer(call, "it is unknown whether this was done: the session was interrupted, and a key in its calls was not stored; look at the tree, and repeat the calls that are missing")
	}
	return answers
}
