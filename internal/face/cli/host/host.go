// Package host runs command lines in this process for a server, and words the questions to a
// person before one of them spends money or lands changes.
//
// A server therefore behaves and answers as the commands do, and nothing is written twice.
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
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// ExecuteFunc runs a command line on a new console.
type ExecuteFunc func(ctx context.Context, a *console.Console, args []string) error

// Host runs command lines.
type Host struct {
	Console *console.Console // of the serving command; each command line gets its own
	Execute ExecuteFunc
}

// Invocation is a command line with its environment.
type Invocation struct {
	Args    []string
	Stdin   string
	Dir     string            // working directory; empty: the server's
	Actor   string            // author of its requests in the journal; empty: the user
	Origin  string            // conversation of a client to which a run belongs
	Set     map[string]string // settings that override all others
	Told    func(string)      // receives the messages for people; nil: dropped
	Began   func(nexus.RunID) // receives the conducted run, once it has the lease; nil: dropped
	Watched bool              // a person watches the run and answers its questions
	Leaves  bool              // runs may continue in the background when the server ends
	Person  bool              // a person reads the text of the result; else a program does
}

// Result is the result of a command line.
type Result struct {
	Text    string           // output for people
	Data    json.RawMessage  // the JSON object that it printed; nil: none
	Failure *console.Failure // why it failed; nil: it did not
	Code    int              // its exit code
}

// Run runs a command line as a program would, and returns its output.
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
	c := console.New(strings.NewReader(o.Stdin), &out, &lineForwarder{tell: o.Told}, at)
	c.Host = console.HostProgram{
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
	r.Text = view.EscapeLinesForTerminal(cmp.Or(drawn, out.String()))
	r.Data = printedObject(out.Bytes())
	return r
}

// printedObject returns the JSON object that a command printed. Objects before or after it are about
// errors with which the command continued, such as a channel that could not be opened.
func printedObject(out []byte) (found json.RawMessage) {
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var one json.RawMessage
		err := d.Decode(&one)
		switch {
		case errors.Is(err, io.EOF):
			return found
		case err != nil:
			return nil // it is not JSON
		}
		var fields map[string]json.RawMessage
		if json.Unmarshal(one, &fields) == nil && fields != nil && (len(fields) != 1 || fields["error"] == nil) {
			found = one
		}
	}
}

// ExitText describes the exit code of a command; empty for success.
func (r Result) ExitText() string {
	if r.Code == console.CodeOK {
		return ""
	}
	code := strconv.Itoa(r.Code)
	return "the command ended with code " + code + ": " + console.CodeMeaning(code)
}

// lineForwarder forwards a command's messages line by line.
type lineForwarder struct {
	tell func(string)
	mu   sync.Mutex // guards rest
	rest []byte     // of an incomplete line
}

// Write implements [io.Writer].
func (s *lineForwarder) Write(p []byte) (int, error) {
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
		s.tell(strings.TrimSpace(view.EscapeForTerminal(strings.ReplaceAll(string(line), "\t", "  "))))
	}
}

// RunningJobs counts running jobs. The zero value has none.
type RunningJobs struct {
	mu      sync.Mutex // guards the fields below; nothing begins once over is set
	n       int
	over    bool
	working sync.WaitGroup
}

// Start runs the work in a goroutine, unless the server is about to end.
func (j *RunningJobs) Start(work func()) bool {
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

// Running returns the number of running jobs.
func (j *RunningJobs) Running() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.n
}

// Drain prevents new jobs, and waits until the running ones have ended.
func (j *RunningJobs) Drain() {
	j.mu.Lock()
	j.over = true
	j.mu.Unlock()
	j.working.Wait()
}
