package record

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
)

// looseKey says what a call asks for without what others did meanwhile: what
// tools showed, and what a brief says about the tree. What the model said so far,
// what it was told to do, and who was asked count. It is empty for what is no
// conversation of ours.
func (c call) looseKey() string {
	if c.Conversation == "" {
		return ""
	}
	v, ok := decode(c.Request.Body)
	if !ok {
		return ""
	}
	sections := regexp.MustCompile("(?s)## (?:Landed meanwhile|Gates|Conflicts|Change|Map)\n.*?(\n## |$)")
	v = mapTexts(dropToolOutput(v), func(s string) string {
		for last := ""; last != s; { // of two in a row, the second begins where the first ends
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

// dropToolOutput takes out of a request what tools showed, as each wire has it.
func dropToolOutput(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = dropToolOutput(v[i])
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
			v[k] = dropToolOutput(v[k])
		}
	}
	return v
}
