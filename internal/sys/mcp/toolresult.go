package mcp

import (
	"encoding/json"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// ContentKind is a kind of content.
type ContentKind string

// The kinds of content.
const (
	TextContent     ContentKind = "text"
	ImageContent    ContentKind = "image"
	AudioContent    ContentKind = "audio"
	ResourceContent ContentKind = "resource" // an embedded resource, such as a file
	ResourceLink    ContentKind = "link"     // a link to a resource
	OtherContent    ContentKind = "other"    // unknown kinds
)

// ToolResultPart is one piece of a result.
type ToolResultPart struct {
	Kind ContentKind
	Text string // for text
	Type string // media type
	Name string // URI of a resource
	Data []byte // for other content
}

// Result is the result of a tool call.
type Result struct {
	Failed     bool // the tool reports a failure
	Parts      []ToolResultPart
	Structured json.RawMessage // may be nil
	Left       int             // dropped parts
}

// toResult converts the SDK's result. Its size is limited by that of the message.
func toResult(r *sdk.CallToolResult) Result {
	out := Result{Failed: r.IsError}
	for i, c := range r.Content {
		if i == maxParts {
			out.Left = len(r.Content) - i
			break
		}
		out.Parts = append(out.Parts, toContentPart(c))
	}
	if r.StructuredContent != nil {
		if data, err := json.Marshal(r.StructuredContent); err == nil {
			out.Structured = data
		}
	}
	if out.Structured != nil && len(out.Parts) == 1 && isSameJSON(out.Parts[0].Text, out.Structured) {
		out.Structured = nil // servers repeat it as text, for older clients
	}
	return out
}

func toContentPart(c sdk.Content) ToolResultPart {
	switch c := c.(type) {
	case *sdk.TextContent:
		return ToolResultPart{Kind: TextContent, Text: c.Text}
	case *sdk.ImageContent:
		return ToolResultPart{Kind: ImageContent, Type: c.MIMEType, Data: c.Data}
	case *sdk.AudioContent:
		return ToolResultPart{Kind: AudioContent, Type: c.MIMEType, Data: c.Data}
	case *sdk.EmbeddedResource:
		if c.Resource == nil {
			return ToolResultPart{Kind: OtherContent}
		}
		return ToolResultPart{Kind: ResourceContent, Type: c.Resource.MIMEType, Name: c.Resource.URI, Text: c.Resource.Text, Data: c.Resource.Blob}
	case *sdk.ResourceLink:
		return ToolResultPart{Kind: ResourceLink, Type: c.MIMEType, Name: c.URI, Text: strings.TrimSpace(c.Name + " " + c.Description)}
	default:
		return ToolResultPart{Kind: OtherContent}
	}
}

// isSameJSON reports whether a text is the same JSON as data.
func isSameJSON(text string, data json.RawMessage) bool {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return false
	}
	again, err := json.Marshal(v)
	return err == nil && string(again) == string(data)
}
