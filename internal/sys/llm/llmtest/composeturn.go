package llmtest

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest/wireformat"
)

// composeScriptedTurn fills in IDs and usage, and applies the fault to the content.
func composeScriptedTurn(a wireformat.ReceivedModelRequest, t ScriptTurn, seen LoggedRequest) wireformat.ScriptedTurnContent {
	h := fnv.New32a()
	_, _ = h.Write([]byte(a.Conversation)) // never fails
	s := wireformat.ScriptedTurnContent{
		ReceivedModelRequest: a, ID: fmt.Sprintf("msg_%08x_%d", h.Sum32(), a.Step),
		Think: t.Think, Text: t.Say, Stop: t.stopReason(), Service: t.Service,
	}
	for i, c := range t.Calls {
		input := []byte("{}")
		if len(c.Input) > 0 {
			input, _ = json.Marshal(c.Input) // the script was validated
		}
		s.Calls = append(s.Calls, wireformat.RawToolCall{ID: fmt.Sprintf("call_%08x_%d_%d", h.Sum32(), a.Step, i), Tool: c.Tool, Input: string(input)})
	}
	applyFaultToContent(&s, t.Fault)
	s.Usage = countUsage(s, t, seen)
	return s
}

// hugeInput is the additional size of the input of a huge call, in bytes.
const hugeInput = 5 << 20

func applyFaultToContent(s *wireformat.ScriptedTurnContent, f ProviderFault) {
	last := len(s.Calls) - 1
	switch f {
	case BadJSON:
		s.Calls[last].Input += `"}`
	case HalfJSON:
		c := &s.Calls[last]
		c.Input = c.Input[:len(c.Input)/2]
	case NoObject:
		s.Calls[last].Input = "[" + s.Calls[last].Input + "]"
	case NoID:
		s.Calls[last].ID = ""
	case NoName:
		s.Calls[last].Tool = ""
	case OddName:
		s.Calls[last].Tool = "functions." + s.Calls[last].Tool
	case SameID:
		for i := range s.Calls {
			s.Calls[i].ID = s.Calls[0].ID
		}
	case Length:
		c := &s.Calls[last]
		c.Input, s.Cut, s.Stop = c.Input[:len(c.Input)/2], true, llm.StopLength
	case Empty:
		s.Think, s.Text, s.Calls, s.Stop = "", "", nil, llm.StopDone
	case Refuse:
		s.Think, s.Text, s.Calls, s.Stop = "", "I cannot help with that.", nil, llm.StopRefuse
	case Huge:
		c := &s.Calls[last]
		c.Input = `{"huge":"` + strings.Repeat("0123456789abcdef", hugeInput/16) + `",` + strings.TrimPrefix(c.Input, "{")
		if strings.HasSuffix(c.Input, ",}") {
			c.Input = strings.TrimSuffix(c.Input, ",}") + "}"
		}
	default: // faults outside of the content
	}
}

// countUsage returns the usage: a token is four bytes, and the beginning that an earlier request had
// counts as cached.
func countUsage(s wireformat.ScriptedTurnContent, t ScriptTurn, seen LoggedRequest) nexus.Usage {
	if u := t.Usage; u != nil {
		return nexus.Usage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, CacheHour: u.CacheHour}
	}
	out := len(s.Think) + len(s.Text)
	for _, c := range s.Calls {
		out += len(c.Tool) + len(c.Input)
	}
	u := nexus.Usage{Input: wireformat.CountTokens(seen.Prompt), Output: max(wireformat.CountTokens(out), 1)}
	if s.Cached {
		u.CacheRead = int64(seen.Kept / 4)
		u.Input -= u.CacheRead
	}
	if s.Wire == wireformat.Anthropic && s.Cached { // unread tokens are written to the cache, up to the breakpoint at the end
		u.Input, u.CacheWrite = 0, u.Input
	}
	return u
}
