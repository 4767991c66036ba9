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

// runFloor is the minimal loop between a model and a shell: it stores nothing, checks nothing, and
// asks nobody. It sends the same requests and runs the same commands as our loop, and is the
// lower bound to compare with.
func (l *benchmarkLoop) runFloor(ctx context.Context, system string, specs []llm.ToolDescription) (LoopCost, error) {
	c := bareConversation{benchmarkLoop: l, meter: l.newMeter()}
	c.request.Model, c.request.MaxTokens, c.request.Stream = "scripted", 8192, true
	c.request.System = []requestBlock{{Type: "text", Text: system}}
	for _, s := range specs {
		c.request.Tools = append(c.request.Tools, toolSpec{s.Name, s.Description, s.Schema})
	}
	c.appendMessage("user", requestBlock{Type: "text", Text: l.firstMessage("T1.1/coder.1")})
	for {
		calls, err := c.requestTurn(ctx)
		if err != nil {
			return LoopCost{}, err
		}
		var results []requestBlock
		for _, call := range calls {
			if call.Name == "finish" {
				return c.meter.loopCost(), nil
			}
			var input struct{ Command string }
			if err := json.Unmarshal(call.Input, &input); err != nil {
				return LoopCost{}, err
			}
			e, err := runProcess(ctx, l.app.Now, l.dir, l.app.Environ, "/bin/bash", "-c", input.Command)
			if err != nil {
				return LoopCost{}, err
			}
			results = append(results, requestBlock{Type: "tool_result", ToolUseID: call.ID, Content: string(e.out)})
		}
		if len(results) == 0 {
			return LoopCost{}, fmt.Errorf("the scripted model called nothing")
		}
		c.appendMessage("user", results...)
	}
}

// bareConversation is the conversation of the bare loop.
type bareConversation struct {
	*benchmarkLoop
	meter   *turnMeter
	request struct {
		Model     string           `json:"model"`
		MaxTokens int              `json:"max_tokens"`
		Stream    bool             `json:"stream"`
		System    []requestBlock   `json:"system"`
		Tools     []toolSpec       `json:"tools"`
		Messages  []requestMessage `json:"messages"`
	}
}

type toolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"input_schema"`
}

type requestMessage struct {
	Role    string         `json:"role"`
	Content []requestBlock `json:"content"`
}

type requestBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   string          `json:"content,omitempty"`
}

func (c *bareConversation) appendMessage(role string, b ...requestBlock) {
	c.request.Messages = append(c.request.Messages, requestMessage{role, b})
}

// requestTurn sends the conversation and returns the model's calls.
func (c *bareConversation) requestTurn(ctx context.Context) ([]requestBlock, error) {
	c.meter.noteRequest()
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
	blocks, err := readStream(resp.Body)
	if err != nil {
		return nil, err
	}
	c.appendMessage("assistant", blocks...)
	var calls []requestBlock
	for _, b := range blocks {
		if b.Type == "tool_use" {
			calls = append(calls, b)
		}
	}
	return calls, nil
}

// readStream assembles a streamed answer.
func readStream(body io.Reader) ([]requestBlock, error) {
	var blocks []requestBlock
	var input []byte
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e struct {
			Type  string
			Block requestBlock `json:"content_block"`
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
