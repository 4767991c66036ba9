package agent

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

// Limits on repetition and invalid answers in a session.
const (
	repeatNudge = 3 // equal calls in a row that cause a nudge
	repeatStop  = 5 // equal calls in a row that end the session
	maxSilent   = 2 // answers in a row without a call that cause a nudge
	maxCut      = 3 // answers that were cut off
	maxRefused  = 3 // submissions that did not fit the schema

	maxMalformed = 4 // answers in a row with malformed calls
)

// nudgePrefix begins every message that Nexus sends unprompted; such a message resets no
// count.
const nudgePrefix = "Nudge: "

// The nudges.
const (
	nudgeSilent    = nudgePrefix + "you made no call. Continue with the tools, or call finish to submit your work."
	nudgeEmpty     = nudgePrefix + "your answer is empty. Continue with the tools, or write the answer."
	nudgeCut       = nudgePrefix + "your answer was cut off at the length limit. Continue in smaller pieces: one file, or one part of a file, per call."
	nudgeMalformed = nudgePrefix + "your calls could not be read, and none of them was made. Make them again, each with one JSON object as its input. "

	nudgeRepeat = nudgePrefix + "you made the same call several times in a row, and its result will not change. Do something different, " +
		"or stop and say what blocks you."
)

// repeatedCallCounter counts repeated calls. It is computed from the messages alone, so that a session
// that continues after a crash continues the counts.
type repeatedCallCounter struct {
	lastCall, lastTurn   string
	sameCalls, sameTurns int
	Silent               int // answers in a row without a call
	Cut                  int // answers cut off since our last request
	Refused              int // submissions refused since our last request
	Malformed            int // answers in a row with malformed calls
	Handin               json.RawMessage
	finishing            map[string]json.RawMessage // submissions of the last answer, by call
}

// countMessage counts one message of the conversation.
func (t *repeatedCallCounter) countMessage(m llm.Message) {
	if m.From == llm.Assistant {
		t.countModelAnswer(m)
		return
	}
	text, results := m.Text(), false
	for _, p := range m.Parts {
		if p.Result == nil {
			continue
		}
		results = true
		input, isFinish := t.finishing[p.Result.ID]
		switch {
		case isFinish && p.Result.Failed:
			t.Refused++
		case isFinish:
			t.Handin = input
		}
	}
	switch {
	case text == nudgeCut:
		t.Cut++
	case strings.HasPrefix(text, strings.TrimSpace(nudgeMalformed)):
		t.Malformed++
		t.Silent-- // the turn was an answer with calls
	case !results && !strings.HasPrefix(text, nudgePrefix) && !strings.HasPrefix(text, compactionNote):
		*t = repeatedCallCounter{}
	}
}

// countModelAnswer counts an answer of the model.
func (t *repeatedCallCounter) countModelAnswer(m llm.Message) {
	calls := llm.Response{Message: m}.ToolCalls()
	if len(calls) == 0 {
		t.Silent++
		return
	}
	t.Silent, t.finishing = 0, map[string]json.RawMessage{}
	if slices.ContainsFunc(calls, func(c llm.ToolCall) bool { return c.Flaw != "" }) {
		t.Malformed++
	} else {
		t.Malformed = 0
	}
	turn, before := "", ""
	for _, c := range calls {
		if c.Flaw != "" {
			continue
		}
		if handin, ok := tool.SubmissionOfCall(c); ok {
			t.finishing[c.ID] = handin
			t.lastCall, t.sameCalls, before = "", 0, ""
			continue
		}
		key := repeatedCallKey(c)
		if key == before {
			continue // only the first of an answer's equal calls is run
		}
		before = key
		turn += key + "\n"
		if key != t.lastCall {
			t.lastCall, t.sameCalls = key, 0
		}
		t.sameCalls++
	}
	if turn != t.lastTurn {
		t.lastTurn, t.sameTurns = turn, 0
	}
	if turn != "" {
		t.sameTurns++
	}
}

// repeatedCallKey returns a key of a call's tool and input.
func repeatedCallKey(c llm.ToolCall) string {
	var b bytes.Buffer
	if json.Compact(&b, c.Input) != nil {
		return c.Tool + " " + string(c.Input)
	}
	return c.Tool + " " + b.String()
}

// repeatCount returns how often the last call, or the last whole answer, was repeated in a row.
func (t *repeatedCallCounter) repeatCount() int { return max(t.sameCalls, t.sameTurns) }

// needsReminder reports whether a nudge is due.
func (t *repeatedCallCounter) needsReminder() bool { return t.repeatCount() >= repeatNudge }

// isStuck reports whether the session must end.
func (t *repeatedCallCounter) isStuck() bool { return t.repeatCount() >= repeatStop }
