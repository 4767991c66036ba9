package llmtest

import (
	"bytes"
	"errors"
	"hash/maphash"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
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
	last         []gjson.Result // our messages after the model's last
	prompt       []string       // tools, system and each message: what a cache compares
}

// read takes a request apart, without more work than that needs: the server
// shares the machine with what is measured against it.
func read(w wire, body []byte) (asked, error) {
	if !gjson.ValidBytes(body) {
		return asked{}, errors.New("the request is not JSON")
	}
	q := gjson.GetManyBytes(body, "model", "stream", "stream_options.include_usage", "tools", "system", "messages")
	a := asked{wire: w, model: q[0].String(), stream: q[1].Bool(), counts: q[2].Bool()}
	a.cached = w == openaiWire || bytes.Contains(body, []byte(`"cache_control":`))
	a.prompt = append(a.prompt, unmarked(q[3].Raw), unmarked(q[4].Raw))
	named := false
	for _, m := range q[5].Array() {
		a.prompt = append(a.prompt, unmarked(m.Raw))
		a.last = append(a.last, m)
		switch r := m.Get("role").String(); {
		case r == "assistant":
			a.step, a.last = a.step+1, nil
		case r == "user" && !named:
			named = true
			a.conversation = name(m)
		}
	}
	if a.model == "" || len(a.prompt) == 2 {
		return asked{}, errors.New("a request needs a model and messages")
	}
	return a, nil
}

// unmarked returns a part of a prompt without its cache breakpoints, which
// say where to cut and are no part of what is cached.
func unmarked(part string) string {
	return strings.ReplaceAll(part, `,"cache_control":{"type":"ephemeral"}`, "")
}

// name returns the conversation that a message names in a line of its own.
func name(m gjson.Result) string {
	found := ""
	texts(m.Get("content"), func(text string) bool {
		for text != "" && found == "" {
			var line string
			line, text, _ = strings.Cut(text, "\n")
			if n, ok := strings.CutPrefix(line, "Conversation: "); ok {
				found = strings.TrimSpace(n)
			}
		}
		return found == ""
	})
	return found
}

// texts yields the texts of a message's content until yield reports false,
// whatever the content's form: a string, or blocks with text or with content
// of their own.
func texts(content gjson.Result, yield func(string) bool) bool {
	if content.Type == gjson.String {
		return yield(content.String())
	}
	more := true
	content.ForEach(func(_, block gjson.Result) bool {
		if text := block.Get("text"); text.Exists() {
			more = yield(text.String())
		} else {
			more = texts(block.Get("content"), yield)
		}
		return more
	})
	return more
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
func (m *memory) size(model string, prompt []string) (total, kept int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var h maphash.Hash
	h.SetSeed(m.seed)
	_, _ = h.WriteString(model) // never fails
	for _, p := range prompt {
		_, _ = h.WriteString(p)
		_ = h.WriteByte(0)
		sum := h.Sum64()
		if _, known := m.seen[sum]; known { // with all before it, which are in the sum
			kept += len(p)
		}
		m.seen[sum] = struct{}{}
		total += len(p)
	}
	return total, kept
}
