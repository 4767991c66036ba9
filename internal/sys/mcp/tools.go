package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// Tool is a tool as its server describes it.
type Tool struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitzero"`
	Description string          `json:"description,omitzero"`
	Schema      json.RawMessage `json:"inputSchema"`    // of its input, an object; keys in order
	Hints       Hints           `json:"hints,omitzero"` // of the server's own; nothing rests on them
}

// Hints are what a server says a tool does. Nothing makes it say the truth.
type Hints struct {
	ReadOnly    bool `json:"readOnly,omitzero"`
	Destructive bool `json:"destructive,omitzero"`
	Open        bool `json:"openWorld,omitzero"`
}

// Text is everything that a server says about the tool which a model is told, in
// one way of writing it: what a person agrees to.
func (t Tool) Text() string {
	data, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return "" // a schema that was decoded can be encoded
	}
	return string(data) + "\n"
}

// Parse reads what Text wrote.
func Parse(text string) (Tool, error) {
	var t Tool
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return Tool{}, err
	}
	schema, err := plainSchema(t.Schema)
	if err != nil {
		return Tool{}, err
	}
	t.Schema = schema
	return t, t.check()
}

// RefusedTool is a tool that is not offered, and why.
type RefusedTool struct {
	Name string // made legible
	Why  string
}

// Tools returns the tools that the server offers, in the order of their names,
// and those that nobody is offered.
func (c *Session) Tools(ctx context.Context) ([]Tool, []RefusedTool, error) {
	ctx, end := context.WithTimeoutCause(ctx, c.server.Begin, errSilent)
	defer end()
	defer c.closeAfter(ctx, patience)()
	var raw []*sdk.Tool
	p := &sdk.ListToolsParams{}
	for page := 0; ; page++ {
		r, err := c.session.ListTools(ctx, p)
		if err != nil {
			return nil, nil, c.explain(context.Cause(ctx), err)
		}
		raw = append(raw, r.Tools...)
		switch {
		case r.NextCursor == "":
			tools, refused := checkTools(raw)
			return tools, refused, nil
		case page == maxPages || len(raw) > maxTools || r.NextCursor == p.Cursor:
			return nil, nil, fmt.Errorf("the server lists its tools without end, more than %d or in more than %d pages", maxTools, maxPages)
		}
		p = &sdk.ListToolsParams{Cursor: r.NextCursor}
	}
}

// checkTools checks tools one by one. Two of one name are both refused: nobody
// could tell which of them is called.
func checkTools(raw []*sdk.Tool) (tools []Tool, refused []RefusedTool) {
	count := map[string]int{}
	for _, t := range raw {
		if t != nil {
			count[t.Name]++
		}
	}
	for _, t := range raw {
		if t == nil {
			continue
		}
		tool, err := read(t)
		switch {
		case err == nil && count[t.Name] > 1:
			err = errors.New("there are several of this name")
		case err == nil && len(tools) == maxTools:
			err = fmt.Errorf("the server has more than %d tools", maxTools)
		}
		if err != nil {
			refused = append(refused, RefusedTool{sanitize.Show(t.Name[:min(len(t.Name), maxName)]), err.Error()})
			continue
		}
		tools = append(tools, tool)
	}
	slices.SortStableFunc(tools, func(a, b Tool) int { return strings.Compare(a.Name, b.Name) })
	return tools, refused
}

func read(t *sdk.Tool) (Tool, error) {
	tool := Tool{Name: t.Name, Title: t.Title, Description: t.Description}
	if a := t.Annotations; a != nil {
		tool.Hints = Hints{ReadOnly: a.ReadOnlyHint, Destructive: a.DestructiveHint == nil || *a.DestructiveHint, Open: a.OpenWorldHint == nil || *a.OpenWorldHint}
	}
	data, err := json.Marshal(t.InputSchema)
	if err != nil {
		return tool, fmt.Errorf("its schema: %w", err)
	}
	if tool.Schema, err = plainSchema(data); err != nil {
		return tool, err
	}
	return tool, tool.check()
}

// check says why a tool is not offered.
func (t Tool) check() error {
	switch {
	case !regexp.MustCompile(fmt.Sprintf(`^[A-Za-z0-9_./-]{1,%d}$`, maxName)).MatchString(t.Name):
		return fmt.Errorf("its name is not 1 to %d letters, digits, _ . / and -", maxName)
	case len(t.Description)+len(t.Title) > maxSaid:
		return fmt.Errorf("its description has more than %d bytes", maxSaid)
	}
	return nil
}

// plainSchema returns a schema in one way of writing it. One that is no object's
// or that hides something where its meaning lies is refused.
func plainSchema(data []byte) (json.RawMessage, error) {
	if len(data) > maxSchema {
		return nil, fmt.Errorf("its schema has more than %d bytes", maxSchema)
	}
	if !shallow(data) {
		return nil, errors.New("its schema is nested too deep")
	}
	var schema map[string]any
	if err := json.Unmarshal(data, &schema); err != nil || schema == nil {
		return nil, errors.New("its schema is not an object")
	}
	if kind, ok := schema["type"]; ok && kind != "object" {
		return nil, errors.New("its schema is not that of an object")
	}
	schema["type"] = "object"
	delete(schema, "$schema")
	for _, key := range []string{"anyOf", "oneOf", "allOf", "not", "enum", "const", "if"} {
		if _, ok := schema[key]; ok {
			return nil, fmt.Errorf("its schema starts with %s, which models do not accept", key)
		}
	}
	if hasHiddenText(schema) {
		return nil, errors.New("its schema has invisible characters")
	}
	plain, err := json.Marshal(schema)
	if err != nil {
		return nil, fmt.Errorf("its schema: %w", err)
	}
	return plain, nil
}

// hasHiddenText reports whether a value of a schema has hidden characters anywhere but
// in what only describes it; there they are written out for the model.
func hasHiddenText(v any) bool {
	switch v := v.(type) {
	case string:
		return sanitize.Show(v) != v
	case []any:
		return slices.ContainsFunc(v, hasHiddenText)
	case map[string]any:
		for name, value := range v {
			if _, text := value.(string); text && (name == "description" || name == "title") {
				continue
			}
			if hasHiddenText(name) || hasHiddenText(value) {
				return true
			}
		}
	}
	return false
}

// Plain returns the schema with what it says for people made legible.
func (t Tool) Plain() json.RawMessage {
	var schema any
	if err := json.Unmarshal(t.Schema, &schema); err != nil {
		return t.Schema
	}
	data, err := json.Marshal(legibleTexts(schema))
	if err != nil {
		return t.Schema
	}
	return data
}

func legibleTexts(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = legibleTexts(v[i])
		}
	case map[string]any:
		for name, value := range v {
			if text, ok := value.(string); ok && (name == "description" || name == "title") {
				v[name] = sanitize.Show(text)
			} else {
				v[name] = legibleTexts(value)
			}
		}
	}
	return v
}
