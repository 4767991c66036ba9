package trafficrecord

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
)

// callKeyWithoutTools identifies the request without the parts that depend on the work of other sessions: the
// results of tools, and a brief's text about the tree. The model's answers, its instructions, and
// the provider count. It is "" for a request that is no conversation of ours.
func (c recordedProviderCall) callKeyWithoutTools() string {
	if c.Conversation == "" {
		return ""
	}
	v, ok := decodeNormalized(c.Request.Body)
	if !ok {
		return ""
	}
	sections := regexp.MustCompile("(?s)## (?:Landed meanwhile|Gates|Conflicts|Change|Map)\n.*?(\n## |$)")
	v = replaceTexts(withoutToolOutput(v), func(s string) string {
		for last := ""; last != s; { // two adjacent matches share a delimiter
			last, s = s, sections.ReplaceAllString(s, "$1")
		}
		return sortedWords(s)
	})
	body, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(append([]byte(c.Provider+"\n"+c.Request.Method+"\n"+c.Request.Path+"\n"), body...))
	return hex.EncodeToString(sum[:])
}

// withoutToolOutput removes the results of tools from a request, in the form of each API.
func withoutToolOutput(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = withoutToolOutput(v[i])
		}
	case map[string]any:
		switch {
		case v["type"] == "tool_result":
			delete(v, "content")
			delete(v, "is_error")
		case v["role"] == "tool":
			delete(v, "content")
		case v["type"] == "function_call_output":
			delete(v, "output")
		}
		if r, ok := v["functionResponse"].(map[string]any); ok {
			delete(r, "response")
		}
		for k := range v {
			v[k] = withoutToolOutput(v[k])
		}
	}
	return v
}
