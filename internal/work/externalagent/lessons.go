package externalagent

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
)

// maxLearned limits the stored bytes of an agent's lessons.
const maxLearned = 16 << 10

// extractLessons extracts an agent's lessons from its last message, or an earlier one if a program
// added a notice. Unreadable lessons are ignored and stay in the text.
func (c *externalConversation) extractLessons(text string) (rest string, found json.RawMessage) {
	if rest, found = ExtractLessons(text); found != nil {
		return rest, found
	}
	for i := len(c.texts) - 1; i >= 0; i-- {
		if _, found = ExtractLessons(c.texts[i]); found != nil {
			return text, found
		}
	}
	return text, nil
}

// ExtractLessons returns a message without the object that contains its author's lessons, and the
// list of lessons; nil if the last object of the message is not such an object.
func ExtractLessons(text string) (rest string, found json.RawMessage) {
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
