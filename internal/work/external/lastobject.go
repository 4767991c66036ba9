package external

import (
	"encoding/json"
	"errors"
	"strings"
)

const (
	maxMessage = 1 << 20 // bytes of a message in which something to submit is looked for
	maxTexts   = 32      // messages after the last call of a prompt that are looked through
	maxRead    = 8 << 20 // bytes that are read again for braces that start no object
)

// errNoObject says that a message holds nothing that could be submitted.
var errNoObject = errors.New("there is no JSON object in it")

// errBroken says that a message ends with something to submit that is no JSON. It
// is not what an earlier message holds: that may say the opposite.
var errBroken = errors.New("its last JSON object is cut or has an error")

// Object returns the last JSON object of a message, if it fits. Agents put it in a
// block of code, alone, or after some words. One before it does not count, even
// where the last one does not fit or cannot be read: the agent may have changed its
// mind.
func Object(text string, fits func(json.RawMessage) (json.RawMessage, error)) (json.RawMessage, error) {
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

// lastObject returns the last JSON object of a text that is in no other, and whether
// one that cannot be read comes after it or is around it. A text that is made to
// take long is read in part.
func lastObject(text string) (last json.RawMessage, broken bool) {
	at, until := 0, 0 // where text begins, and up to where a broken one reaches at least
	for read := 0; ; {
		if read >= maxRead {
			return last, true // what is not read may be one
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
			if strings.HasPrefix(strings.TrimLeft(text[1:], " \t\r\n"), `"`) { // else a brace of something else
				broken, until = true, max(until, at+reached)
			}
			read += reached
			text, at = text[1:], at+1
			continue
		}
		n := int(d.InputOffset())
		text, at = text[n:], at+n
		if !broken || at > until && !strings.ContainsAny(first(text), ",}]") {
			last, broken = one, false
		}
	}
	return last, broken
}

// first returns the first character of a text that is no space, which is one byte
// where it matters.
func first(text string) string {
	text = strings.TrimLeft(text, " \t\r\n")
	return text[:min(len(text), 1)]
}
