package externalagent

import (
	"encoding/json"
	"errors"
	"strings"
)

const (
	maxMessage = 1 << 20 // bytes of a message that are searched for a submission
	maxTexts   = 32      // messages after the last call of a prompt that are searched
	maxRead    = 8 << 20 // bytes that are read again for braces that start no object
)

// errNoObject means that a message contains no submission.
var errNoObject = errors.New("there is no JSON object in it")

// errBroken means that a message ends with a submission that is no valid JSON. An earlier
// message is no replacement: it may contain the opposite.
var errBroken = errors.New("its last JSON object is cut or has an error")

// ParseLastObject returns the last JSON object of a message, if it fits. Agents put it in a code block,
// alone, or after some words. An earlier object does not count, even if the last one does not
// fit or cannot be read: the agent may have changed its mind.
func ParseLastObject(text string, fits func(json.RawMessage) (json.RawMessage, error)) (json.RawMessage, error) {
	if len(text) > maxMessage {
		return nil, errors.New("it is longer than a megabyte")
	}
	last, broken := lastObject(text)
	switch {
	case broken:
		return nil, errBroken
	case last == nil:
		return nil, errNoObject
	}
	return fits(last)
}

// lastObject returns the last JSON object of a text that is not nested in another one, and
// whether an unreadable one comes after it or is around it. If a text is built to take long,
// only a part of it is read.
func lastObject(text string) (last json.RawMessage, broken bool) {
	at, until := 0, 0 // offset of text, and least end of a broken object
	for read := 0; ; {
		if read >= maxRead {
			return last, true // the unread part may contain one
		}
		i := strings.IndexByte(text, '{')
		if i < 0 {
			break
		}
		text, at = text[i:], at+i
		d := json.NewDecoder(strings.NewReader(text))
		var one json.RawMessage
		if err := d.Decode(&one); err != nil {
			reached := len(text)
			if bad, ok := errors.AsType[*json.SyntaxError](err); ok {
				reached = int(bad.Offset)
			}
			// otherwise the brace does not begin an object
			if strings.HasPrefix(strings.TrimLeft(text[1:], " \t\r\n"), `"`) {
				broken, until = true, max(until, at+reached)
			}
			read += reached
			text, at = text[1:], at+1
			continue
		}
		n := int(d.InputOffset())
		text, at = text[n:], at+n
		if !broken || at > until && !strings.ContainsAny(firstCharacter(text), ",}]") {
			last, broken = one, false
		}
	}
	return last, broken
}

// firstCharacter returns the first character of a text that is no space; it is a single byte in all
// cases that matter.
func firstCharacter(text string) string {
	text = strings.TrimLeft(text, " \t\r\n")
	return text[:min(len(text), 1)]
}
