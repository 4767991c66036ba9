package external

import (
	"encoding/json"
	"errors"
	"strings"
)

const (
	maxMessage = 1 << 20 // bytes of a message in which something to submit is looked for
	maxObjects = 64      // in a message
	maxTexts   = 32      // messages after the last call of a prompt that are looked through
	maxRead    = 8 << 20 // bytes that are read again for braces that start no object
)

// errNoObject says that a message holds nothing that could be submitted.
var errNoObject = errors.New("there is no JSON object in it")

// Object returns the last JSON object of a message, if it fits. Agents put it in a
// block of code, alone, or after some words. One before it does not count, even
// where the last one does not fit: the agent may have changed its mind.
func Object(text string, fits func(json.RawMessage) (json.RawMessage, error)) (json.RawMessage, error) {
	if len(text) > maxMessage {
		return nil, errors.New("it is longer than a megabyte")
	}
	objects := objects(text)
	if len(objects) == 0 {
		return nil, errNoObject
	}
	return fits(objects[len(objects)-1])
}

// objects returns the JSON objects of a text that are in no other, in order,
// the last of them where there are many. A text that is made to take long is
// read in part.
func objects(text string) []json.RawMessage {
	var all []json.RawMessage
	for read := 0; read < maxRead; {
		i := strings.IndexByte(text, '{')
		if i < 0 {
			break
		}
		text = text[i:]
		d := json.NewDecoder(strings.NewReader(text))
		var one json.RawMessage
		if err := d.Decode(&one); err != nil { // a brace of something else
			read += len(text)
			if bad, ok := errors.AsType[*json.SyntaxError](err); ok {
				read += int(bad.Offset) - len(text)
			}
			text = text[1:]
			continue
		}
		text = text[d.InputOffset():]
		if all = append(all, one); len(all) > maxObjects {
			all = all[1:]
		}
	}
	return all
}
