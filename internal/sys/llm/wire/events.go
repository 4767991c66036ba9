package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// longest bounds one line of a stream: an answer of [llm.Limits] may be one.
const longest = 64 << 20

// Events reads server-sent events: lines that end as they like, comments,
// names and fields that nobody asked for, and data of several lines.
type Events struct {
	lines *bufio.Scanner
	name  string
	data  []byte
}

// NewEvents reads the events of a stream.
func NewEvents(r io.Reader) *Events {
	e := &Events{lines: bufio.NewScanner(r)}
	e.lines.Buffer(make([]byte, 0, 4096), longest)
	first, looked := true, 0
	e.lines.Split(func(data []byte, end bool) (int, []byte, error) {
		n, line := cutLine(data, looked, end)
		if n == 0 {
			looked = max(len(data)-1, 0) // what is known to hold no end; a last CR is looked at again
			return 0, nil, nil
		}
		looked = 0
		if first {
			line, first = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")), false
		}
		return n, line, nil
	})
	return e
}

// cutLine cuts a line that ends with CR, LF or both, the first of them at or
// behind from. It returns 0 where more has to be read.
func cutLine(data []byte, from int, end bool) (int, []byte) {
	i := bytes.IndexByte(data[from:], '\n')
	if i < 0 {
		i = len(data) - from
	}
	if cr := bytes.IndexByte(data[from:from+i], '\r'); cr >= 0 {
		i = cr
	}
	i += from
	switch {
	case i == len(data) && !end, i+1 == len(data) && data[i] == '\r' && !end: // an LF may follow
		return 0, nil
	case i == len(data):
		return i, data
	case data[i] == '\r' && i+1 < len(data) && data[i+1] == '\n':
		return i + 2, data[:i]
	default:
		return i + 1, data[:i]
	}
}

// Next reads the next event that has data, and reports false at the end of
// the stream. An event that the end cut off counts as if it were whole: its
// data is then no JSON, or is.
func (e *Events) Next() bool {
	e.name, e.data = "", e.data[:0]
	some := false
	for e.lines.Scan() {
		line := e.lines.Bytes()
		if len(line) == 0 {
			if some {
				return true
			}
			e.name = ""
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			e.name = string(value)
		case "data":
			if some {
				e.data = append(e.data, '\n')
			}
			e.data, some = append(e.data, value...), true
		}
	}
	return some
}

// Name returns the event's name, and Data its data until the next event.
func (e *Events) Name() string { return e.name }

// Data returns the event's data, which is gone with the next one.
func (e *Events) Data() []byte { return e.data }

// Err returns why the stream ended, nil for its proper end.
func (e *Events) Err() error {
	err := e.lines.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		return errBytes
	}
	return err
}
