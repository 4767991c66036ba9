package providerhttp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxEventSize limits one line of a stream, in bytes: one line may be a whole answer within
// [llm.CallLimits].
const maxEventSize = 64 << 20

// ServerSentEventReader decodes server-sent events: with any line ends, comments, unknown names and fields, and
// multi-line data.
type ServerSentEventReader struct {
	lines *bufio.Scanner
	name  string
	data  []byte
}

// NewServerEventReader returns a decoder of a stream's events.
func NewServerEventReader(r io.Reader) *ServerSentEventReader {
	e := &ServerSentEventReader{lines: bufio.NewScanner(r)}
	e.lines.Buffer(make([]byte, 0, 4096), maxEventSize)
	first, looked := true, 0
	e.lines.Split(func(data []byte, end bool) (int, []byte, error) {
		n, line := cutLine(data, looked, end)
		if n == 0 {
			looked = max(len(data)-1, 0) // bytes without a line end; a final CR is checked again
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

// cutLine returns a line that ends with CR, LF or both, the first of them at or after from, and
// its length with the end. It returns 0 if more must be read.
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

// Next reads the next event with data, and returns false at the end of the stream. An event that
// the end cut off counts as complete: decoding its data may fail then.
func (e *ServerSentEventReader) Next() bool {
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

// Name returns the event's name.
func (e *ServerSentEventReader) Name() string { return e.name }

// Data returns the event's data, which is valid until the next event.
func (e *ServerSentEventReader) Data() []byte { return e.data }

// Err returns the error that ended the stream, nil for its proper end.
func (e *ServerSentEventReader) Err() error {
	err := e.lines.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		return errBytes
	}
	return err
}
