// Package host runs command lines in this process for a server, and words what a
// person agrees to before one of them spends or lands.
//
// So what a server does for its clients does and says what the command does, and
// nothing is written twice.
package host

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Execute runs a command line on a console that no other has used.
type Execute func(ctx context.Context, a *console.Console, args []string) error

// Host runs command lines.
type Host struct {
	Console *console.Console // of the command that serves; what it runs has its own
	Execute Execute
}

// Invocation is a command line and what it runs with.
type Invocation struct {
	Args    []string
	Stdin   string
	Dir     string            // where it works; empty: where the server does
	Actor   string            // under whose name the journal has it; empty: the user's
	Origin  string            // conversation of a client that a run belongs to
	Set     map[string]string // settings that hold before all others
	Told    func(string)      // hears the messages for people; nil: nobody does
	Began   func(nexus.RunID) // the run that the command conducts, once it holds it; nil: nobody hears it
	Watched bool              // somebody sees how the run goes, and answers what it asks
	Leaves  bool              // runs may be left in the background: they go on when the server ends
	Person  bool              // a person reads the text of the result; else a program does
}

// Result is what a command line came to.
type Result struct {
	Text    string           // as people read it
	Data    json.RawMessage  // the object that it printed; nil: none
	Failure *console.Failure // why it could not do what it was asked for; nil: it did
	Code    int              // its exit code
}

// Run runs a command line as a program would, and returns what it printed.
func (h Host) Run(ctx context.Context, o Invocation) Result {
	at := h.Console.App
	at.Actor, at.Set, at.Origin = o.Actor, o.Set, o.Origin
	if at.Set == nil {
		at.Set = map[string]string{}
	}
	if o.Dir != "" {
		at.Dir = o.Dir
	}
	var out bytes.Buffer
	drawn := ""
	c := console.New(strings.NewReader(o.Stdin), &out, &sayings{tell: o.Told}, at)
	c.Host = console.Host{
		Began: o.Began, Drawn: func(text string) { drawn = text },
		Watched: o.Watched, Person: o.Person, Served: true, Leaves: o.Leaves,
	}
	failure := h.Execute(ctx, c, o.Args)
	r := Result{Code: console.ExitCode(ctx, failure)}
	if _, told := errors.AsType[console.ExitError](failure); failure != nil && !told {
		f := c.Failure(failure)
		r.Failure = &f
		return r
	}
	r.Text = view.CleanText(cmp.Or(drawn, out.String()))
	r.Data = object(out.Bytes())
	return r
}

// object returns the object that a command printed. Others before or behind it complain
// of what ended nothing, such as a channel that nobody can be asked by.
func object(out []byte) (found json.RawMessage) {
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var one json.RawMessage
		err := d.Decode(&one)
		switch {
		case errors.Is(err, io.EOF):
			return found
		case err != nil:
			return nil // it is no JSON
		}
		var fields map[string]json.RawMessage
		if json.Unmarshal(one, &fields) == nil && fields != nil && (len(fields) != 1 || fields["error"] == nil) {
			found = one
		}
	}
}

// Ended says with which exit code a command ended; empty where it was done.
func (r Result) Ended() string {
	if r.Code == console.CodeOK {
		return ""
	}
	code := strconv.Itoa(r.Code)
	return "the command ended with code " + code + ": " + console.CodeMeaning(code)
}

// sayings hands on what a command says, line by line.
type sayings struct {
	tell func(string)
	mu   sync.Mutex // guards rest
	rest []byte     // of a line that has not ended
}

// Write implements [io.Writer].
func (s *sayings) Write(p []byte) (int, error) {
	if s.tell == nil {
		return len(p), nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rest = append(s.rest, p...)
	for {
		line, rest, ended := bytes.Cut(s.rest, []byte("\n"))
		if !ended {
			return len(p), nil
		}
		s.rest = rest
		s.tell(strings.TrimSpace(view.Clean(strings.ReplaceAll(string(line), "\t", "  "))))
	}
}

// Jobs counts what goes on. The zero Jobs are none.
type Jobs struct {
	mu      sync.Mutex // guards what follows; nothing begins once over is set
	n       int
	over    bool
	working sync.WaitGroup
}

// Start does the work beside, unless the server is about to end.
func (j *Jobs) Start(work func()) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.over {
		return false
	}
	j.n++
	j.working.Go(func() {
		defer func() {
			j.mu.Lock()
			defer j.mu.Unlock()
			j.n--
		}()
		work()
	})
	return true
}

// Running returns how many have not ended.
func (j *Jobs) Running() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.n
}

// Drain lets nothing begin, and waits until what began has ended.
func (j *Jobs) Drain() {
	j.mu.Lock()
	j.over = true
	j.mu.Unlock()
	j.working.Wait()
}
