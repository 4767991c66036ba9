package acpserver

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"strings"
)

// promptContentBlock is a part of a prompt.
type promptContentBlock struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Name     string `json:"name"`
	URI      string `json:"uri"`
	Resource struct {
		URI  string  `json:"uri"`
		Text *string `json:"text"`
	} `json:"resource"`
}

// promptText returns a prompt as one text. Files in it are named by their paths below dir; content
// that the client sends with them is quoted after the text.
func promptText(data json.RawMessage, dir string) (string, error) {
	var all []promptContentBlock
	if err := json.Unmarshal(data, &all); err != nil {
		return "", &rpcRequestError{Code: codeParams, Message: "prompt is not a list of content"}
	}
	var text, quoted strings.Builder
	for _, b := range all {
		switch b.Type {
		case "text":
			text.WriteString(b.Text)
		case "resource_link":
			text.WriteString(relativeName(b.URI, dir))
		case "resource":
			name := relativeName(b.Resource.URI, dir)
			text.WriteString(name)
			if b.Resource.Text != nil {
				fence := strings.Repeat("`", max(3, longestBackquoteRun(*b.Resource.Text)+1))
				quoted.WriteString("\n\n" + name + ":\n" + fence + "\n" + strings.TrimSuffix(*b.Resource.Text, "\n") + "\n" + fence)
			}
		default:
			return "", &rpcRequestError{Code: codeParams, Message: "a prompt may hold text and files, and not " + quoteName(b.Type)}
		}
	}
	return strings.TrimSpace(text.String()) + quoted.String(), nil
}

// quoteName sanitizes a client's name for use in a message.
func quoteName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r > ' ' && r < 0x7f {
			return r
		}
		return -1
	}, name)
	return `"` + name[:min(len(name), 40)] + `"`
}

// longestBackquoteRun returns the length of the longest run of backquotes.
func longestBackquoteRun(text string) (most int) {
	n := 0
	for _, r := range text {
		if r != '`' {
			n = 0
			continue
		}
		n++
		most = max(most, n)
	}
	return most
}

// relativeName returns the path of a file below dir, and any other URI unchanged.
func relativeName(uri, dir string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return uri
	}
	rel, err := filepath.Rel(dir, u.Path)
	if err != nil || !filepath.IsLocal(rel) {
		return u.Path
	}
	return filepath.ToSlash(rel)
}
