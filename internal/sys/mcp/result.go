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
	Text     Kind = "text"
	Image    Kind = "image"
	Audio    Kind = "audio"
	Resource Kind = "resource" // an embedded resource, such as a file
	Link     Kind = "link"     // a link to a resource
	Other    Kind = "other"    // unknown kinds
)

// Part is one piece of a result.
type Part struct {
	Kind Kind
	Text string // for text
	Type string // media type
	Name string // URI of a resource
	Data []byte // for other content
}

// Result is the result of a tool call.
type Result struct {
	Failed     bool // the tool reports a failure
	Parts      []Part
	Structured json.RawMessage // may be nil
	Left       int             // dropped parts
}

// result converts the SDK's result. Its size is limited by that of the message.
func result(r *sdk.CallToolResult) Result {
	out := Result{Failed: r.IsError}
	for i, c := range r.Content {
		if i == maxParts {
			out.Left = len(r.Content) - i
			break
		}
		out.Parts = append(out.Parts, part(c))
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

func part(c sdk.Content) Part {
	switch c := c.(type) {
	case *sdk.TextContent:
		return Part{Kind: Text, Text: c.Text}
	case *sdk.ImageContent:
		return Part{Kind: Image, Type: c.MIMEType, Data: c.Data}
	case *sdk.AudioContent:
		return Part{Kind: Audio, Type: c.MIMEType, Data: c.Data}
	case *sdk.EmbeddedResource:
		if c.Resource == nil {
			return Part{Kind: Other}
		}
		return Part{Kind: Resource, Type: c.Resource.MIMEType, Name: c.Resource.URI, Text: c.Resource.Text, Data: c.Resource.Blob}
	case *sdk.ResourceLink:
		return Part{Kind: Link, Type: c.MIMEType, Name: c.URI, Text: strings.TrimSpace(c.Name + " " + c.Description)}
	default:
		return Part{Kind: Other}
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
