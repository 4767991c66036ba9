package console

import (
	"bufio"
	"context"
	"strings"
)

// Keyboard reads lines that a person types. It belongs to one goroutine.
type Keyboard struct {
	app *Console
	in  *bufio.Reader
}

// Keyboard returns what reads lines from standard input.
func (a *Console) Keyboard() *Keyboard { return &Keyboard{a, bufio.NewReader(a.In)} }

// Line asks, and returns the line that is typed then, without the space around
// it. It does not wait longer than ctx, which a signal ends: a read from a
// terminal cannot be ended, so that nothing may be read after that. A line is
// there also where the input ends behind it.
func (k *Keyboard) Line(ctx context.Context, question string) (line string, err error) {
	k.app.Ask(question)
	type read struct {
		line string
		err  error
	}
	typed := make(chan read, 1)
	go func() {
		line, err := k.in.ReadString('\n')
		typed <- read{line, err}
	}()
	select {
	case r := <-typed:
		if r.err != nil {
			k.app.Ask("\n") // the question's line has not ended
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
