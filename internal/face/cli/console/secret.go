package console

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// ReadSecret reads a line that must stay hidden: from a terminal without echo, or from piped input. A
// signal ends the wait, and the terminal echoes input again.
func (a *Console) ReadSecret(ctx context.Context, prompt string) (string, error) {
	if f, ok := a.In.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		line, err := a.readHidden(ctx, int(f.Fd()), prompt)
		if err != nil {
			return "", &nexus.Error{Code: nexus.CodeInvalidInput, Message: "read the key", Cause: err, Hint: "Pipe it in instead."}
		}
		return strings.TrimSpace(string(line)), nil
	}
	line, err := bufio.NewReader(io.LimitReader(a.In, 64<<10)).ReadString('\n')
	if err != nil && err != io.EOF {
		return "", &nexus.Error{Code: nexus.CodeInvalidInput, Message: "read the key", Cause: err, Hint: "Pipe it into standard input."}
	}
	return strings.TrimSpace(line), nil
}

func (a *Console) readHidden(ctx context.Context, fd int, prompt string) ([]byte, error) {
	was, err := term.GetState(fd)
	if err != nil {
		return nil, err
	}
	_, _ = io.WriteString(a.Err, prompt)
	defer func() { _, _ = io.WriteString(a.Err, "\n") }()
	type read struct {
		line []byte
		err  error
	}
	typed := make(chan read, 1)
	go func() { // a read from a terminal cannot be cancelled
		line, err := term.ReadPassword(fd)
		typed <- read{line, err}
	}()
	select {
	case r := <-typed:
		return r.line, r.err
	case <-ctx.Done():
		return nil, errors.Join(context.Cause(ctx), term.Restore(fd, was))
	}
}
