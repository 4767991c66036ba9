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
func unmaskedCalls(kept []llm.Call, r llm.Response) []llm.Call {
	if made := r.Calls(); masked(kept) && len(made) == len(kept) {
		return made
	}
	return kept
}

// masked reports whether keys may have been masked in a call.
func masked(calls []llm.Call) bool {
	return slices.ContainsFunc(calls, func(c llm.Call) bool { return bytes.Contains(c.Input, []byte(secret.Mark)) })
}

// answerLostCalls answers calls without a result that must not be run again; nil if they may
// be.
func (c *conversation) answerLostCalls(calls []llm.Call) []tool.Answer {
	switch {
	case c.Cut && len(calls) > 0:
		return interrupted(calls)
	case masked(calls):
		return answerUnrepeatable(calls)
	}
	return nil
}

// interrupted answers calls that a person interrupted.
func interrupted(calls []llm.Call) []tool.Answer {
	answers := make([]tool.Answer, len(calls))
	for i, call := range calls {
		answers[i] = notDone(call, "a person interrupted this: it was not done, or only in part; look at the tree before you continue")
	}
	return answers
}

// answerUnrepeatable answers calls of a dead process that cannot be run again, because a key
// in them was masked in the store.
func answerUnrepeatable(calls []llm.Call) []tool.Answer {
	answers := make([]tool.Answer, len(calls))
	for i, call := range calls {
		answers[i] = notDone(call, "it is unknown whether this was done: the session was interrupted, and a key in its calls was not stored; look at the tree, and repeat the calls that are missing")
	}
	return answers
}
