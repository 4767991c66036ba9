package external

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
)

// maxLearned is how many bytes of what an agent learned are kept.
const maxLearned = 16 << 10

// learned takes what an agent learned out of its last message, or one of those before it
// where a program added a notice. What cannot be read is nothing, and stays in the text.
func (c *conversation) learned(text string) (rest string, found json.RawMessage) {
	if rest, found = Learned(text); found != nil {
		return rest, found
	}
	for i := len(c.texts) - 1; i >= 0; i-- {
		if _, found = Learned(c.texts[i]); found != nil {
			return text, found
		}
	}
	return text, nil
}

// Learned returns a message without the object that says what its author learned, and
// the list of that; nil where the last object of the message is none.
func Learned(text string) (rest string, found json.RawMessage) {
	if len(text) > maxMessage || !strings.Contains(text, `"learned"`) {
		return text, nil
	}
	last, broken := lastObject(text)
	var said struct {
		Learned []json.RawMessage `json:"learned"`
	}
	at := strings.LastIndex(text, string(last))
	if broken || last == nil || at < 0 || json.Unmarshal(last, &said) != nil || len(said.Learned) == 0 || len(last) > maxLearned {
		return text, nil
	}
	var list bytes.Buffer
	list.WriteByte('[')
	list.Write(bytes.Join(rawBytes(said.Learned), []byte{','}))
	list.WriteByte(']')
	before := regexp.MustCompile("\\s*(?:```[a-z]*\\s*)?$").ReplaceAllString(text[:at], "")
	after := regexp.MustCompile("^\\s*(?:```)?\\s*").ReplaceAllString(text[at+len(last):], "")
	return strings.TrimSpace(before + "\n" + after), list.Bytes()
}

func rawBytes(all []json.RawMessage) [][]byte {
	out := make([][]byte, len(all))
	for i, one := range all {
		out[i] = one
	}
	return out
}
