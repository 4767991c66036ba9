package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/nexus-ai-builder/nexus/internal/sys/jsonline"
)

// ServeStdio serves one client, with one line for each message, until it has gone or ctx ends.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) {
	w := &wholeMessageWriter{to: out}
	r := &clientMessageReader{r: jsonline.NewLineReader(in, maxMessage), refuse: w.writeInvalid}
	_ = s.sdk.Run(ctx, &sdk.IOTransport{Reader: io.NopCloser(r), Writer: w, MaxLineLength: maxMessage + 1}) // the error is only how the client has gone
}

// wholeMessageWriter writes whole messages from concurrent callers.
type wholeMessageWriter struct {
	mu sync.Mutex
	to io.Writer
}

// Write implements [io.Writer].
func (w *wholeMessageWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}

// Close implements [io.Closer]. It leaves the output open.
func (w *wholeMessageWriter) Close() error { return nil }

// writeInvalid answers a line that is not a message.
func (w *wholeMessageWriter) writeInvalid(code int64, text string) {
	answer := map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": text}}
	data, err := json.Marshal(answer)
	if err == nil {
		_, _ = w.Write(append(data, '\n')) // a disconnected client does not matter
	}
}

// clientMessageReader passes on the lines that are messages, and refuses the others, on which the SDK would
// disconnect.
type clientMessageReader struct {
	r      *jsonline.LineReader
	refuse func(code int64, text string)
	rest   []byte // of the current message
	err    error
}

// Read implements [io.Reader].
func (m *clientMessageReader) Read(p []byte) (int, error) {
	for len(m.rest) == 0 {
		if m.err != nil {
			return 0, m.err
		}
		line, err := m.r.Next()
		switch {
		case errors.Is(err, jsonline.ErrLong):
			m.refuse(jsonrpc.CodeInvalidRequest, err.Error())
		case err != nil:
			m.err = err
		case !json.Valid(line):
			m.refuse(jsonrpc.CodeParseError, "the line is not JSON")
		case !isMessage(line):
			m.refuse(jsonrpc.CodeInvalidRequest, "the line is not a message of JSON-RPC 2.0")
		default:
			m.rest = append(line, '\n')
		}
	}
	n := copy(p, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

// isMessage reports whether a line is one message. A list of messages is refused: the supported
// revisions of the protocol have no lists.
func isMessage(line []byte) bool {
	_, err := jsonrpc.DecodeMessage(line)
	return err == nil
}
