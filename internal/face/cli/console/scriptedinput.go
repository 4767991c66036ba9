package console

import (
	"io"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// ScriptedInput is standard input with a simulated person: it returns one line per read, and echoes it
// like a terminal. After its last line the input ends. It belongs to its reader.
type ScriptedInput struct {
	Lines []string
	Echo  io.Writer
	Pace  time.Duration // before each line; 0: at once

	rest string // of a line that was too long for one read
}

// Read implements [io.Reader].
func (t *ScriptedInput) Read(p []byte) (int, error) {
	if t.rest == "" {
		if len(t.Lines) == 0 {
			return 0, io.EOF
		}
		if t.Pace > 0 {
			<-time.After(t.Pace)
		}
		t.rest = t.Lines[0] + "\n"
		t.Lines = t.Lines[1:]
		if _, err := io.WriteString(t.Echo, t.rest); err != nil {
			return 0, &nexus.Error{Code: nexus.CodeStorage, Message: "show what is typed", Cause: err, Hint: "Write to a terminal or a file."}
		}
	}
	n := copy(p, t.rest)
	t.rest = t.rest[n:]
	return n, nil
}
