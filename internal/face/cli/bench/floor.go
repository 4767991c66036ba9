package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// floor is the minimal loop between a model and a shell: it stores nothing, checks nothing, and
// asks nobody. It sends the same requests and runs the same commands as our loop, and is the
// lower bound to compare with.
func (l *loop) floor(ctx context.Context, system string, specs []llm.Tool) (Spent, error) {
	c := bare{loop: l, meter: l.meter()}
	c.request.Model, c.request.MaxTokens, c.request.Stream = "scripted", 8192, true
	c.request.System = []block{{Type: "text", Text: system}}
	for _, s := range specs {
		c.request.Tools = append(c.request.Tools, spec{s.Name, s.Description, s.Schema})
	}
	c.say("user", block{Type: "text", Text: l.brief("T1.1/coder.1")})
	for {
		calls, err := c.turn(ctx)
		if err != nil {
			return Spent{}, err
		}
		var results []block
		for _, call := range calls {
			if call.Name == "finish" {
				return c.meter.result(), nil
			}
			var input struct{ Command string }
			if err := json.Unmarshal(call.Input, &input); err != nil {
				return Spent{}, err
			}
			e, err := launch(ctx, l.app.Now, l.dir, l.app.Environ, "/bin/bash", "-c", input.Command)
			if err != nil {
				return Spent{}, err
			}
			results = append(results, block{Type: "tool_result", ToolUseID: call.ID, Content: string(e.out)})
		}
		if len(results) == 0 {
			return Spent{}, fmt.Errorf("the scripted model called nothing")
		}
		c.say("user", results...)
	}
}

// bare is the conversation of the bare loop.
type bare struct {
	*loop
	meter   *meter
	request struct {
		Model     string    `json:"model"`
		MaxTokens int       `json:"max_tokens"`
		Stream    bool      `json:"stream"`
		System    []block   `json:"system"`
		Tools     []spec    `json:"tools"`
		Messages  []message `json:"messages"`
	}
}

type spec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"input_schema"`
}

type message struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   string          `json:"content,omitempty"`
}

func (c *bare) say(role string, b ...block) {
	c.request.Messages = append(c.request.Messages, message{role, b})
}

// turn sends the conversation and returns the model's calls.
func (c *bare) turn(ctx context.Context) ([]block, error) {
	c.meter.tick()
	body, err := json.Marshal(c.request)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/v1/messages", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(resp.Body)
		return nil, fmt.Errorf("scripted model: %s: %s", resp.Status, text)
	}
	blocks, err := hear(resp.Body)
	if err != nil {
		return nil, err
	}
	c.say("assistant", blocks...)
	var calls []block
	for _, b := range blocks {
		if b.Type == "tool_use" {
			calls = append(calls, b)
		}
	}
	return calls, nil
}

// hear assembles a streamed answer.
func hear(body io.Reader) ([]block, error) {
	var blocks []block
	var input []byte
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e struct {
			Type  string
			Block block `json:"content_block"`
			Delta struct {
				Text    string
				Partial string `json:"partial_json"`
			}
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return nil, err
		}
		switch e.Type {
		case "content_block_start":
			blocks, input = append(blocks, e.Block), nil
		case "content_block_delta":
			blocks[len(blocks)-1].Text += e.Delta.Text
			input = append(input, e.Delta.Partial...)
		case "content_block_stop":
			if b := &blocks[len(blocks)-1]; b.Type == "tool_use" {
				b.Input = input
			}
		}
	}
	return blocks, lines.Err()
}
