package mcpcmd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/legible"
	"github.com/nexus-ai-builder/nexus/internal/sys/mcp/mcpserver"
)

// maxText is the most that the text of a result has, in bytes. The object has
// everything.
const maxText = 16 << 10

// server answers the calls of clients.
type server struct {
	a       *console.Console // of the command that serves; calls have their own
	execute Execute
	life    context.Context //nolint:containedctx // what is started outlives the call that starts it, and ends with the server
	jobs    jobs
}

// jobs counts what goes on.
type jobs struct {
	mu      sync.Mutex // guards what follows; nothing begins once over is set
	n       int
	over    bool
	working sync.WaitGroup
}

// start does the work beside, unless the server is about to end.
func (j *jobs) start(work func()) bool {
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

func (j *jobs) running() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.n
}

// drain lets nothing begin, and waits until what began has ended.
func (j *jobs) drain() {
	j.mu.Lock()
	j.over = true
	j.mu.Unlock()
	j.working.Wait()
}

// offered returns a tool as clients see it.
func (s *server) offered(t tool) mcpserver.Tool {
	o := mcpserver.Tool{Name: t.name, About: t.about, Input: schema(t.params), Reads: t.reads, Ends: t.ends}
	o.Do = func(ctx context.Context, c mcpserver.Call) mcpserver.Result { return s.call(ctx, t, c) }
	if t.consent != "" {
		o.Asks = func(ctx context.Context, c mcpserver.Call) (string, mcpserver.Result) {
			question, otherwise := s.asks(ctx, t, c)
			if otherwise == nil {
				return question, mcpserver.Result{}
			}
			return question, complaint(s.a.Failure(otherwise))
		}
	}
	return o
}

// call answers a call of a tool.
func (s *server) call(ctx context.Context, t tool, c mcpserver.Call) mcpserver.Result {
	args, stdin, err := line(t, c.Input)
	if err != nil {
		return mcpserver.Result{Text: err.Error(), Failed: true}
	}
	o := order{args: args, stdin: stdin, actor: s.actor(c), told: c.Told}
	if t.consent != "" {
		land, _ := c.Input["land"].(bool)
		o.set = map[string]string{"land": strconv.FormatBool(land)} // what a configuration lands by itself, nobody agreed to here
		if _, given := c.Input["plan"]; given && c.Agreed && t.name == "run" {
			o.args = append([]string{o.args[0], "--yes"}, o.args[1:]...) // a person saw this plan
		}
	}
	if !t.long {
		o.told = nil
		return keep(t, s.run(ctx, o), c.Input)
	}
	return s.work(ctx, t, c, o)
}

func keep(t tool, r mcpserver.Result, in map[string]any) mcpserver.Result {
	if t.only == nil || r.Failed {
		return r
	}
	return t.only(r, in)
}

// work does what takes long. It ends when the client cancels the call, as on an
// interrupt. A run continues when the client goes away.
func (s *server) work(ctx context.Context, t tool, c mcpserver.Call, o order) mcpserver.Result { //nolint:contextcheck // outlives the call
	work, stop := context.WithCancelCause(s.life)
	begun, done := make(chan nexus.RunID, 1), make(chan mcpserver.Result, 1)
	o.began = func(id nexus.RunID) {
		select {
		case begun <- id:
		default: // it has one run
		}
	}
	if !s.jobs.start(func() { defer stop(nil); done <- s.run(work, o) }) {
		stop(nil)
		return mcpserver.Result{Text: "the server is about to end, and starts nothing", Failed: true}
	}
	var soon <-chan nexus.RunID // nil where the end is waited for
	if wait, given := c.Input["wait"].(bool); given && !wait {
		soon = begun
	}
	select {
	case r := <-done:
		return r
	case id := <-soon:
		r := s.run(ctx, order{args: []string{"status", "--json", "--", string(id)}})
		r.Text = fmt.Sprintf("run %s has started; status shows how it stands, stop ends it\n%s", id, r.Text)
		return r
	case <-ctx.Done():
	}
	if !t.conducts || errors.Is(context.Cause(ctx), mcpserver.ErrCancelled) {
		stop(context.Cause(ctx))
		return <-done
	}
	return mcpserver.Result{} // nobody reads it
}

// actor is under whose name the journal has what a client asks for.
func (s *server) actor(c mcpserver.Call) string {
	if c.Agreed {
		return s.a.User() + " (asked by mcp:" + c.Client + ")"
	}
	return "mcp:" + c.Client + " (for " + s.a.User() + ")"
}

// order is a command line and what it runs with.
type order struct {
	args  []string
	stdin string
	actor string
	set   map[string]string // settings that hold before all others
	told  func(string)      // hears the messages for people; nil: nobody does
	began func(nexus.RunID)
}

// run runs a command line in this process, as a program would, and returns what
// it printed.
func (s *server) run(ctx context.Context, o order) mcpserver.Result {
	at := s.a.App
	at.Actor, at.Set = o.actor, o.set
	if at.Set == nil {
		at.Set = map[string]string{}
	}
	var out bytes.Buffer
	drawn := ""
	c := console.New(strings.NewReader(o.stdin), &out, &sayings{tell: o.told}, at)
	c.Host = console.Host{Began: o.began, Drawn: func(text string) { drawn = text }}
	failure := s.execute(ctx, c, o.args)
	if _, told := errors.AsType[console.ExitError](failure); failure != nil && !told {
		return complaint(c.Failure(failure))
	}
	r := mcpserver.Result{Text: short(view.CleanText(cmp.Or(drawn, out.String())))}
	if data := bytes.TrimSpace(out.Bytes()); json.Valid(data) && len(data) > 0 && data[0] == '{' {
		r.Data = data
	}
	if code := console.ExitCode(ctx, failure); code != console.CodeOK {
		r.Text += fmt.Sprintf("\nthe command ended with code %d: %s\n", code, console.CodeMeaning(strconv.Itoa(code)))
	}
	return r
}

// complaint is the result of a command that could not do what it was asked for.
func complaint(f console.Failure) mcpserver.Result {
	r := mcpserver.Result{Text: strings.TrimSpace(f.Message + "\n" + f.Hint), Failed: true}
	if data, err := json.Marshal(map[string]console.Failure{"error": f}); err == nil {
		r.Data = data
	}
	return r
}

// short cuts a text where it is too long for a model to read along.
func short(text string) string {
	if len(text) <= maxText {
		return text
	}
	return legible.Cut(text, maxText) + "\n(cut here; the structured result has everything)\n"
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

// onlyTasks keeps the tasks of a status, those with a status of their own that
// was asked for.
func onlyTasks(r mcpserver.Result, in map[string]any) mcpserver.Result {
	var all struct {
		Run    nexus.RunID       `json:"run"`
		Status nexus.RunStatus   `json:"status"`
		Tasks  []json.RawMessage `json:"tasks"`
	}
	if err := json.Unmarshal(r.Data, &all); err != nil {
		return mcpserver.Result{Text: err.Error(), Failed: true}
	}
	var b strings.Builder
	kept := []json.RawMessage{}
	for _, data := range all.Tasks {
		var t view.Task
		if err := json.Unmarshal(data, &t); err != nil {
			return mcpserver.Result{Text: err.Error(), Failed: true}
		}
		if want, given := in["status"].(string); given && want != string(t.Status) {
			continue
		}
		kept = append(kept, data)
		fmt.Fprintf(&b, "%s %s: %s%s\n", t.ID, t.Status, view.Clean(t.Title), because(t.Why))
	}
	all.Tasks = kept
	data, err := json.Marshal(all)
	if err != nil {
		return mcpserver.Result{Text: err.Error(), Failed: true}
	}
	return mcpserver.Result{Text: short(cmp.Or(b.String(), "no such task\n")), Data: data}
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return " (" + view.Clean(why) + ")"
}
