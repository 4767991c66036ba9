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

// DescribedServerTool is a tool with its server's description.
type DescribedServerTool struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitzero"`
	Description string          `json:"description,omitzero"`
	Schema      json.RawMessage `json:"inputSchema"`    // of its input, an object; with sorted keys
	Hints       ToolHints       `json:"hints,omitzero"` // from the server; not relied on
}

// ToolHints are a server's claims about a tool. They may be false.
type ToolHints struct {
	ReadOnly    bool `json:"readOnly,omitzero"`
	Destructive bool `json:"destructive,omitzero"`
	Open        bool `json:"openWorld,omitzero"`
}

// ConsentText returns everything of a server's description of the tool that a model sees, in canonical
// form. A person agrees to this text.
func (t DescribedServerTool) ConsentText() string {
	data, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return "" // cannot fail for a decoded schema
	}
	return string(data) + "\n"
}

// ParseTool parses a text of [DescribedServerTool.TextContent].
func ParseTool(text string) (DescribedServerTool, error) {
	var t DescribedServerTool
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return DescribedServerTool{}, err
	}
	schema, err := normalizeSchema(t.Schema)
	if err != nil {
		return DescribedServerTool{}, err
	}
	t.Schema = schema
	return t, t.checkTool()
}

// ExcludedTool is a tool that is not offered, with the reason.
type ExcludedTool struct {
	Name string // sanitized
	Why  string
}

// ListTools returns the tools of the server, ordered by name, and the refused ones.
func (c *ToolSession) ListTools(ctx context.Context) ([]DescribedServerTool, []ExcludedTool, error) {
	ctx, end := context.WithTimeoutCause(ctx, c.server.Begin, errSilent)
	defer end()
	defer c.closeOnTimeout(ctx, closePatience)()
	var raw []*sdk.Tool
	p := &sdk.ListToolsParams{}
	for page := 0; ; page++ {
		r, err := c.session.ListTools(ctx, p)
		if err != nil {
			return nil, nil, c.explainError(context.Cause(ctx), err)
		}
		raw = append(raw, r.Tools...)
		switch {
		case r.NextCursor == "":
			tools, refused := checkListedTools(raw)
			return tools, refused, nil
		case page == maxPages || len(raw) > maxTools || r.NextCursor == p.Cursor:
			return nil, nil, fmt.Errorf("the server lists its tools without end, more than %d or in more than %d pages", maxTools, maxPages)
		}
		p = &sdk.ListToolsParams{Cursor: r.NextCursor}
	}
}

// checkListedTools checks all tools. Two tools with the same name are both refused, because a call would
// be ambiguous.
func checkListedTools(raw []*sdk.Tool) (tools []DescribedServerTool, refused []ExcludedTool) {
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
		tool, err := readTool(t)
		switch {
		case err == nil && count[t.Name] > 1:
			err = errors.New("there are several of this name")
		case err == nil && len(tools) == maxTools:
			err = fmt.Errorf("the server has more than %d tools", maxTools)
		}
		if err != nil {
			refused = append(refused, ExcludedTool{sanitize.RevealHidden(t.Name[:min(len(t.Name), maxName)]), err.Error()})
			continue
		}
		tools = append(tools, tool)
	}
	slices.SortStableFunc(tools, func(a, b DescribedServerTool) int { return strings.Compare(a.Name, b.Name) })
	return tools, refused
}

func readTool(t *sdk.Tool) (DescribedServerTool, error) {
	tool := DescribedServerTool{Name: t.Name, Title: t.Title, Description: t.Description}
	if a := t.Annotations; a != nil {
		tool.Hints = ToolHints{ReadOnly: a.ReadOnlyHint, Destructive: a.DestructiveHint == nil || *a.DestructiveHint, Open: a.OpenWorldHint == nil || *a.OpenWorldHint}
	}
	data, err := json.Marshal(t.InputSchema)
	if err != nil {
		return tool, fmt.Errorf("its schema: %w", err)
	}
	if tool.Schema, err = normalizeSchema(data); err != nil {
		return tool, err
	}
	return tool, tool.checkTool()
}

// checkTool returns an error if the tool must not be offered.
func (t DescribedServerTool) checkTool() error {
	switch {
	case !regexp.MustCompile(fmt.Sprintf(`^[A-Za-z0-9_./-]{1,%d}$`, maxName)).MatchString(t.Name):
		return fmt.Errorf("its name is not 1 to %d letters, digits, _ . / and -", maxName)
	case len(t.Description)+len(t.Title) > maxSaid:
		return fmt.Errorf("its description has more than %d bytes", maxSaid)
	}
	return nil
}

// normalizeSchema returns a schema in canonical form. It refuses a schema that is not for an object or
// that has hidden characters in significant places.
func normalizeSchema(data []byte) (json.RawMessage, error) {
	if len(data) > maxSchema {
		return nil, fmt.Errorf("its schema has more than %d bytes", maxSchema)
	}
	if !isShallow(data) {
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

// hasHiddenText reports whether a value of a schema has hidden characters outside of descriptions;
// in descriptions they are written out for the model.
func hasHiddenText(v any) bool {
	switch v := v.(type) {
	case string:
		return sanitize.RevealHidden(v) != v
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

// LegibleSchema returns the schema with sanitized descriptions.
func (t DescribedServerTool) LegibleSchema() json.RawMessage {
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
				v[name] = sanitize.RevealHidden(text)
			} else {
				v[name] = legibleTexts(value)
			}
		}
	}
	return v
}
