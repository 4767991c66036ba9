package gemini

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/providerhttp"
)

// geminiStreamChunk has the used fields of a piece of an answer.
type geminiStreamChunk struct {
	Candidates []struct {
		Index   int `json:"index"`
		Content struct {
			Parts []json.RawMessage `json:"parts"`
		} `json:"content"`
		Reason  string `json:"finishReason"`
		Message string `json:"finishMessage"`
	} `json:"candidates"`
	Feedback struct {
		Block   string `json:"blockReason"`
		Message string `json:"blockReasonMessage"`
	} `json:"promptFeedback"`
	Usage *geminiUsage    `json:"usageMetadata"`
	Model string          `json:"modelVersion"`
	ID    string          `json:"responseId"`
	Error json.RawMessage `json:"error"`
}

// geminiUsage counts the whole answer so far.
type geminiUsage struct {
	Prompt   providerhttp.TokenCount `json:"promptTokenCount"` // with the cached tokens
	Cached   providerhttp.TokenCount `json:"cachedContentTokenCount"`
	Said     providerhttp.TokenCount `json:"candidatesTokenCount"`
	Thoughts providerhttp.TokenCount `json:"thoughtsTokenCount"` // not part of Said
	Tools    providerhttp.TokenCount `json:"toolUsePromptTokenCount"`

	Service string `json:"serviceTier"`
	Traffic string `json:"trafficType"` // Vertex's name of the same
}

// geminiAnswerPart has the used fields of a part; unknown kinds are stored raw.
type geminiAnswerPart struct {
	Text      *string     `json:"text"`
	Thought   bool        `json:"thought"`
	Signature string      `json:"thoughtSignature"`
	Call      *geminiCall `json:"functionCall"`
}

// geminiAnswerDraft is an incomplete answer.
type geminiAnswerDraft struct {
	r       llm.Response
	parts   []llm.MessagePart
	text    strings.Builder // text of the current part
	thought strings.Builder
	block   *llm.ModelCallError // the prompt was blocked
	reason  string
	message string
	flaw    string // why an event with a call could not be parsed
	step    int
	calls   int
	counted bool                  // the usage of the whole answer is known
	bytes   int                   // of the answer so far
	hear    func(llm.AnswerDelta) // called with non-empty pieces
}

func (d *geminiAnswerDraft) isEnded() bool { return d.reason != "" || d.block != nil || d.flaw != "" }

// addChunk adds one chunk. It ignores unknown fields.
func (d *geminiAnswerDraft) addChunk(data []byte, key string) error {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || bytes.HasPrefix(data, []byte("[DONE]")) {
		return nil
	}
	var v geminiStreamChunk
	if err := json.Unmarshal(data, &v); err != nil {
		return d.recordInvalidEvent(data, err)
	}
	if len(v.Error) > 0 && string(v.Error) != "null" {
		return providerhttp.NewResponseError(0, nil, data, key)
	}
	if v.ID != "" {
		d.r.ID = v.ID
	}
	if v.Model != "" {
		d.r.Model = v.Model
	}
	if v.Usage != nil {
		d.addUsage(*v.Usage)
	}
	if v.Feedback.Block != "" {
		text := v.Feedback.Message
		if text == "" {
			text = "the prompt was blocked"
		}
		d.block = &llm.ModelCallError{Class: llm.Safety, Code: strings.ToLower(v.Feedback.Block), Cause: errors.New(text)}
	}
	for _, c := range v.Candidates {
		if c.Index != 0 {
			continue
		}
		for _, p := range c.Content.Parts {
			if err := d.addPart(p); err != nil {
				return err
			}
		}
		if c.Reason != "" && c.Reason != "FINISH_REASON_UNSPECIFIED" {
			d.reason, d.message = c.Reason, c.Message
			d.counted = v.Usage != nil || d.counted && d.r.Usage.Output > 0
		}
	}
	return nil
}

// recordInvalidEvent records an event with invalid JSON if the cause is a call that the model wrote wrongly (in
// other APIs, a call is inside of a string). An event that was cut off, or has no call, is an
// error.
func (d *geminiAnswerDraft) recordInvalidEvent(data []byte, err error) error {
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	if !ok || syntax.Offset >= int64(len(data)) || !bytes.Contains(data, []byte(`"functionCall"`)) {
		return providerhttp.NewMalformedError(err)
	}
	d.flaw = "its call is not JSON: " + err.Error()
	return nil
}

// addUsage splits the usage into classes that do not overlap.
func (d *geminiAnswerDraft) addUsage(u geminiUsage) {
	n := &d.r.Usage
	if service := cmp.Or(u.Service, u.Traffic); service != "" {
		d.r.Terms.Service = strings.ToLower(service)
	}
	if u.Prompt > 0 {
		n.CacheRead = int64(min(u.Cached, u.Prompt))
		n.Input = int64(u.Prompt+u.Tools) - n.CacheRead
	}
	n.Output = max(n.Output, int64(u.Said+u.Thoughts))
	if d.reason != "" || d.flaw != "" { // it may come after the end
		d.counted = true
	}
}

func (d *geminiAnswerDraft) addPart(raw json.RawMessage) error {
	var p geminiAnswerPart
	if err := json.Unmarshal(raw, &p); err != nil {
		if !bytes.Contains(raw, []byte(`"functionCall"`)) {
			return providerhttp.NewMalformedError(err)
		}
		d.flaw = "its call cannot be read: " + err.Error()
		return nil
	}
	switch {
	case p.Call != nil:
		d.flushText()
		return d.addCall(p)
	case p.Text == nil:
		d.flushText()
		d.bytes += len(raw)
		d.hear(llm.AnswerDelta{Input: len(raw)})
		d.addProviderData(storedGeminiPart{Part: bytes.Clone(raw)})
	case p.Thought:
		d.bytes += len(*p.Text)
		d.thought.WriteString(*p.Text)
		d.hear(llm.AnswerDelta{Thought: *p.Text})
		if p.Signature != "" {
			d.flushThought(p.Signature)
		}
	default:
		if *p.Text != "" || p.Signature != "" {
			d.flushThought("")
		}
		d.bytes += len(*p.Text)
		d.text.WriteString(*p.Text)
		d.hear(llm.AnswerDelta{Text: *p.Text})
		if p.Signature != "" { // it belongs to the text before it
			text := d.text.String()
			d.text.Reset()
			d.addProviderData(storedGeminiPart{Sign: p.Signature})
			d.addText(text)
		}
	}
	return nil
}

func (d *geminiAnswerDraft) addCall(p geminiAnswerPart) error {
	c := llm.ToolCall{ID: p.Call.ID, Tool: p.Call.Name, Input: bytes.Clone(p.Call.Args)}
	if len(c.Input) == 0 || string(c.Input) == "null" {
		c.Input = json.RawMessage("{}")
	}
	if c.ID == "" {
		c.ID = makeCallID(d.step, d.calls)
	}
	d.calls++
	d.bytes += len(c.Tool) + len(c.Input)
	d.hear(llm.AnswerDelta{Tool: c.Tool, Input: len(c.Input)})
	if p.Signature != "" {
		d.addProviderData(storedGeminiPart{Sign: p.Signature, Call: c.ID})
	}
	d.parts = append(d.parts, llm.MessagePart{Call: &c})
	return nil
}

// addProviderData stores data that the provider wants back.
func (d *geminiAnswerDraft) addProviderData(k storedGeminiPart) {
	raw, err := providerhttp.EncodeJSON(storedProviderPart{&k})
	if err == nil { // strings and decoded values can always be encoded
		d.parts = append(d.parts, llm.MessagePart{Raw: raw})
	}
}

func (d *geminiAnswerDraft) addText(text string) {
	if text != "" {
		d.parts = append(d.parts, llm.MessagePart{Text: text})
	}
}

// flushText ends the current thought and text.
func (d *geminiAnswerDraft) flushText() {
	d.flushThought("")
	text := d.text.String()
	d.text.Reset()
	d.addText(text)
}

func (d *geminiAnswerDraft) flushThought(signature string) {
	if d.thought.Len() == 0 && signature == "" {
		return
	}
	raw, err := providerhttp.EncodeJSON(struct {
		Text      string `json:"text"`
		Thought   bool   `json:"thought"`
		Signature string `json:"thoughtSignature,omitempty"`
	}{d.thought.String(), true, signature})
	d.thought.Reset()
	if err == nil {
		d.addProviderData(storedGeminiPart{Part: raw})
	}
}

// malformedCall is the finish reason of an answer with an invalid call of the model.
const malformedCall = "MALFORMED_FUNCTION_CALL"

// finishAnswer builds the answer after the finish reason arrived.
func (d *geminiAnswerDraft) finishAnswer() (llm.Response, error) {
	d.flushText()
	r := d.r
	if d.block != nil {
		return r, d.block
	}
	r.Message = llm.Message{From: llm.Assistant, Parts: d.parts}
	if d.flaw != "" && d.reason != "MAX_TOKENS" {
		d.reason, d.message = malformedCall, d.flaw
	}
	switch d.reason {
	case "STOP":
		r.Stop = llm.StopDone // or StopTools: the calls decide
	case "MAX_TOKENS":
		r.Stop = llm.StopLength
	case malformedCall, "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS":
		r.Stop, r.Flaw = llm.StopMalformed, d.message
	case "OTHER", "CONTINUATION":
		return r, d.transientError(strings.ToLower(d.reason), "the provider stopped for a reason that it does not explain")
	default: // SAFETY, RECITATION, BLOCKLIST, PROHIBITED_CONTENT, SPII, LANGUAGE and future ones
		r.Stop = llm.StopRefuse
	}
	return providerhttp.FinishResponse(r, d.step), nil
}

func (d *geminiAnswerDraft) transientError(code, text string) error {
	if d.message != "" {
		text += ": " + d.message
	}
	return &llm.ModelCallError{Class: llm.Transient, Code: code, Cause: errors.New(text)}
}
