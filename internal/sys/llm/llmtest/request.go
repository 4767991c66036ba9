package llmtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"hash/maphash"
	"strings"
	"sync"
)

// wire is a provider's way to put things.
type wire string

const (
	anthropicWire wire = "anthropic"
	openaiWire    wire = "openai"
)

// asked is what the server needs of a request.
type asked struct {
	wire         wire
	model        string
	stream       bool
	counts       bool // the usage is wanted at the end of a stream
	cached       bool // breakpoints for a cache are set, or not needed
	conversation string
	step         int
	last         [][]byte // our messages after the model's last
	prompt       [][]byte // tools, system and each message: what a cache compares
}

// read takes a request apart.
func read(w wire, body []byte) (asked, error) {
	var q struct {
		Model   string
		Stream  bool
		Options struct {
			Usage bool `json:"include_usage"`
		} `json:"stream_options"`
		Tools    json.RawMessage
		System   json.RawMessage
		Messages []json.RawMessage
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return asked{}, err
	}
	a := asked{wire: w, model: q.Model, stream: q.Stream, counts: q.Options.Usage}
	a.cached = w == openaiWire || bytes.Contains(body, []byte(`"cache_control":`))
	a.prompt = append(a.prompt, unmarked(q.Tools), unmarked(q.System))
	named := false
	for _, m := range q.Messages {
		a.prompt = append(a.prompt, unmarked(m))
		a.last = append(a.last, m)
		switch r, err := role(m); {
		case err != nil:
			return asked{}, err
		case r == "assistant":
			a.step, a.last = a.step+1, nil
		case r == "user" && !named:
			named = true
			a.conversation = name(m)
		}
	}
	if q.Model == "" || len(q.Messages) == 0 {
		return asked{}, errors.New("a request needs a model and messages")
	}
	return a, nil
}

// unmarked returns a part of a prompt without its cache breakpoints, which
// say where to cut and are no part of what is cached.
func unmarked(part []byte) []byte {
	return bytes.ReplaceAll(part, []byte(`,"cache_control":{"type":"ephemeral"}`), nil)
}

// role returns who says a message.
func role(m []byte) (string, error) {
	for _, r := range []string{"assistant", "user", "tool", "system"} {
		if bytes.HasPrefix(m, []byte(`{"role":"`+r+`"`)) {
			return r, nil // without reading the rest of it
		}
	}
	var v struct{ Role string }
	err := json.Unmarshal(m, &v)
	return v.Role, err
}

// name returns the conversation that a message names in a line of its own.
func name(m []byte) string {
	for line := range strings.Lines(text(m)) {
		if n, ok := strings.CutPrefix(line, "Conversation: "); ok {
			return strings.TrimSpace(n)
		}
	}
	return ""
}

// text returns all text of a message, whatever its form: content that is a
// string, or blocks with text or content of their own.
func text(m []byte) string {
	var v struct{ Content json.RawMessage }
	if json.Unmarshal(m, &v) != nil {
		return ""
	}
	var b strings.Builder
	gather(&b, v.Content)
	return b.String()
}

func gather(b *strings.Builder, content json.RawMessage) {
	var s string
	if json.Unmarshal(content, &s) == nil {
		b.WriteString(s)
		b.WriteByte('\n')
		return
	}
	var blocks []struct {
		Text    string
		Content json.RawMessage
	}
	if json.Unmarshal(content, &blocks) != nil {
		return
	}
	for _, k := range blocks {
		if k.Text != "" {
			b.WriteString(k.Text)
			b.WriteByte('\n')
		}
		if len(k.Content) > 0 {
			gather(b, k.Content)
		}
	}
}

// memory knows the beginnings of all earlier prompts, as a provider's cache
// does: a part counts only if all parts before it were the same.
type memory struct {
	mu   sync.Mutex // guards seen
	seed maphash.Seed
	seen map[uint64]struct{}
}

// size returns the bytes of the prompt and how many of them, from its
// beginning, an earlier prompt to the same model had.
func (m *memory) size(model string, prompt [][]byte) (total, kept int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var h maphash.Hash
	h.SetSeed(m.seed)
	_, _ = h.WriteString(model) // never fails
	same := true
	for _, p := range prompt {
		_, _ = h.Write(p)
		_ = h.WriteByte(0)
		sum := h.Sum64()
		_, known := m.seen[sum]
		if same = same && known; same {
			kept += len(p)
		}
		m.seen[sum] = struct{}{}
		total += len(p)
	}
	return total, kept
}
