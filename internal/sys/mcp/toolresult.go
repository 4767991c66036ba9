package mcp

import (
	"encoding/json"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Kind is a kind of content.
type Kind string

// The kinds of content.
const (
	TextContent     Kind = "text"
	ImageContent    Kind = "image"
	AudioContent    Kind = "audio"
	ResourceContent Kind = "resource" // an embedded resource, such as a file
	ResourceLink    Kind = "link"     // a link to a resource
	OtherContent    Kind = "other"    // unknown kinds
)

// ContentPart is one piece of a result.
type ContentPart struct {
	Kind Kind
	Text string // for text
	Type string // media type
	Name string // URI of a resource
	Data []byte // for other content
}

// Result is the result of a tool call.
type Result struct {
	Failed     bool // the tool reports a failure
	Parts      []ContentPart
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

func toContentPart(c sdk.Content) ContentPart {
	switch c := c.(type) {
	case *sdk.TextContent:
		return ContentPart{Kind: TextContent, Text: c.Text}
	case *sdk.ImageContent:
		return ContentPart{Kind: ImageContent, Type: c.MIMEType, Data: c.Data}
	case *sdk.AudioContent:
		return ContentPart{Kind: AudioContent, Type: c.MIMEType, Data: c.Data}
	case *sdk.EmbeddedResource:
		if c.Resource == nil {
			return ContentPart{Kind: OtherContent}
		}
		return ContentPart{Kind: ResourceContent, Type: c.Resource.MIMEType, Name: c.Resource.URI, Text: c.Resource.Text, Data: c.Resource.Blob}
	case *sdk.ResourceLink:
		return ContentPart{Kind: ResourceLink, Type: c.MIMEType, Name: c.URI, Text: strings.TrimSpace(c.Name + " " + c.Description)}
	default:
		return ContentPart{Kind: OtherContent}
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
