package console

import (
	"bufio"
	"context"
	"strings"
)

// Keyboard reads the lines that a person types. It belongs to one goroutine.
type Keyboard struct {
	app   *Console
	in    *bufio.Reader
	typed chan typed // result of a read that nobody has received yet; nil for none
}

type typed struct {
	line string
	err  error
}

// Keyboard returns the reader of standard input. A command always gets the same one, because a
// read that has begun cannot be cancelled.
func (a *Console) Keyboard() *Keyboard {
	if a.keys == nil {
		a.keys = &Keyboard{app: a, in: bufio.NewReader(a.In)}
	}
	return a.keys
}

// Line asks a question and returns the next typed line without surrounding space. It waits no
// longer than ctx, which a signal ends. A read from a terminal cannot be cancelled, so the line
// then belongs to the next caller. Text without a newline before the end of the input also counts
// as a line.
func (k *Keyboard) Line(ctx context.Context, question string) (line string, err error) {
	k.app.Ask(question)
	if k.typed == nil {
		next := make(chan typed, 1)
		k.typed = next
		go func() {
			line, err := k.in.ReadString('\n')
			next <- typed{line, err}
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
