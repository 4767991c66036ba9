package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"sync/atomic"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// serverMessageReader passes on the lines of a server's output that are messages. Many servers print a banner or
// a log there, which is dropped up to a limit.
type serverMessageReader struct {
	from io.ReadCloser
	r    *bufio.Reader
	rest []byte // of the current line
	lost int    // dropped bytes
	err  error
	long atomic.Bool // the limit was exceeded
}

var errLong = fmt.Errorf("the server said more than %d bytes at once", maxMessage)

func newServerMessageReader(r io.ReadCloser) *serverMessageReader {
	return &serverMessageReader{from: r, r: bufio.NewReaderSize(r, 64<<10)}
}

// Read implements [io.Reader].
func (l *serverMessageReader) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		if l.err != nil {
			l.long.Store(errors.Is(l.err, errLong))
			return 0, l.err
		}
		line, err := l.readLine()
		if l.err = err; err != nil && !errors.Is(err, io.EOF) {
			continue
		}
		if isMessage(line) {
			l.rest = append(bytes.TrimSpace(line), '\n')
		} else if l.lost += len(line); l.lost > maxMessage {
			l.err = errLong
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// readLine reads one line.
func (l *serverMessageReader) readLine() ([]byte, error) {
	var line []byte
	for {
		part, err := l.r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxMessage {
			return nil, errLong
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// Close implements [io.Closer].
func (l *serverMessageReader) Close() error { return l.from.Close() }

// isMessage reports whether a line is a JSON object or list.
func isMessage(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) > 0 && (line[0] == '{' || line[0] == '[') && json.Valid(line)
}

// isShallow reports whether JSON is nested within the limit of decoding.
func isShallow(data []byte) bool {
	depth, text := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case text:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return false
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return true
}

// errorTail returns the end of a server's output as one line without hidden characters.
func errorTail(text string) string {
	const most = 600
	text = sanitize.StripTerminalControls(text)
	if len(text) > most {
		text = "..." + text[len(text)-most:]
	}
	return sanitize.RevealHidden(string(bytes.Join(bytes.Fields([]byte(text)), []byte(" "))))
}

func fileURI(dir string) string { return (&url.URL{Scheme: "file", Path: dir}).String() }
