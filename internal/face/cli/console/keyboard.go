package console

import (
	"bufio"
	"context"
	"strings"
)

// Keyboard reads lines that a person types. It belongs to one goroutine.
type Keyboard struct {
	app   *Console
	in    *bufio.Reader
	typed chan typed // of a read that nobody has waited for to its end; nil for none
}

type typed struct {
	line string
	err  error
}

// Keyboard returns what reads lines from standard input: the same one for a
// whole command, since a read that began cannot be ended.
func (a *Console) Keyboard() *Keyboard {
	if a.keys == nil {
		a.keys = &Keyboard{app: a, in: bufio.NewReader(a.In)}
	}
	return a.keys
}

// Line asks, and returns the line that is typed then, without the space around
// it. It does not wait longer than ctx, which a signal ends: a read from a
// terminal cannot be ended, so that the next line belongs to who asks next. A
// line is there also where the input ends behind it.
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
