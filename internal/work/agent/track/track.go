package agent

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/agent/compact"
)

// What a session may do before it is ended.
const (
	repeatNudge = 3 // equal calls in a row that bring a nudge
	repeatStop  = 5 // and that end it
	maxSilent   = 2 // answers in a row without a call that bring a nudge
	maxCut      = 3 // answers that were cut off
	maxRefused  = 3 // hand-ins that did not fit
)

// nudge begins every message that we send by ourselves; it sets no count back.
const nudge = "Nudge: "

const (
	nudgeSilent = nudge + "you made no call. Go on with the tools, or call finish to hand in."
	nudgeCut    = nudge + "your answer was cut off at its longest. Go on in smaller pieces: one file, or one part of a file, a call."
	nudgeRepeat = nudge + "you made the same call several times in a row, and it will not answer anything else. Do something different, " +
		"or call finish and say what is in the way."
)

// track counts what repeats. It is made from the messages alone, so that a
// session that goes on after a crash counts on.
type track struct {
	lastCall, lastTurn   string
	sameCalls, sameTurns int
	silent               int // answers in a row without a call
	cut                  int // answers cut off since we last asked for something
	refused              int // hand-ins refused since then
	handin               json.RawMessage
	finishing            map[string]json.RawMessage // hand-ins of the last answer, by call
}

// see counts one message of the conversation.
func (t *track) see(m llm.Message) {
	if m.From == llm.Assistant {
		t.said(m)
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
			t.refused++
		case isFinish:
			t.handin = input
		}
	}
	switch {
	case text == nudgeCut:
		t.cut++
	case !results && !strings.HasPrefix(text, nudge) && !strings.HasPrefix(text, compact.Note):
		*t = track{}
	}
}

// said counts an answer of the model.
func (t *track) said(m llm.Message) {
	calls := callsOf(m)
	if len(calls) == 0 {
		t.silent++
		return
	}
	t.silent, t.finishing = 0, map[string]json.RawMessage{}
	turn := ""
	for _, c := range calls {
		if c.Tool == finish {
			t.finishing[c.ID] = c.Input
			t.lastCall, t.sameCalls = "", 0
			continue
		}
		key := keyOf(c)
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

// keyOf names a call by its tool and input.
func keyOf(c llm.Call) string {
	var b bytes.Buffer
	if json.Compact(&b, c.Input) != nil {
		return c.Tool + " " + string(c.Input)
	}
	return c.Tool + " " + b.String()
}

// same returns how often the last call, or the last whole answer, was made
// in a row.
func (t *track) same() int { return max(t.sameCalls, t.sameTurns) }

func (t *track) repeats() bool { return t.same() >= repeatNudge }

func (t *track) stuck() bool { return t.same() >= repeatStop }
