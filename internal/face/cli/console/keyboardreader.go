package console

import (
	"bufio"
	"context"
	"strings"
)

// KeyboardReader reads the lines that a person types. It belongs to one goroutine.
type KeyboardReader struct {
	app   *Console
	in    *bufio.Reader
	typed chan typedLine // result of a read that nobody has received yet; nil for none
}

type typedLine struct {
	line string
	err  error
}

// Keyboard returns the reader of standard input. A command always gets the same one, because a
// read that has begun cannot be cancelled.
func (a *Console) Keyboard() *KeyboardReader {
	if a.keys == nil {
		a.keys = &KeyboardReader{app: a, in: bufio.NewReader(a.In)}
	}
	return a.keys
}

// AskLine asks a question and returns the next typed line without surrounding space. It waits no
// longer than ctx, which a signal ends. A read from a terminal cannot be cancelled, so the line
// then belongs to the next caller. Text without a newline before the end of the input also counts
// as a line.
func (k *KeyboardReader) AskLine(ctx context.Context, question string) (line string, err error) {
	k.app.Ask(question)
	if k.typed == nil {
		next := make(chan typedLine, 1)
		k.typed = next
		go func() {
			line, err := k.in.ReadString('\n')
			next <- typedLine{line, err}
		}()
	}
	select {
	case r := <-k.typed:
		k.typed = nil
		if r.err != nil {
			k.app.Ask("\n") // the line of the question has not ended
		}
		if r.line != "" {
			r.err = nil
		}
		return strings.TrimSpace(r.line), r.err
	case <-ctx.Done():
		k.app.Ask("\n")
		return "", context.Cause(ctx)
	}
}
