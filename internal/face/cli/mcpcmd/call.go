package mcpcmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/host"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/mcp/mcpserver"
)

// maxText limits the text of a result, in bytes. The object is complete.
const maxText = 16 << 10

// server handles the calls of clients.
type server struct {
	host.Host

	life context.Context //nolint:containedctx // what is started outlives the call that starts it, and ends with the server
	jobs host.Jobs
}

// offered returns a tool in the form for clients.
func (s *server) offered(t tool) mcpserver.Tool {
	o := mcpserver.Tool{Name: t.name, About: t.about, Input: schema(t.params), Reads: t.reads, Ends: t.ends}
	o.Do = func(ctx context.Context, c mcpserver.Call) mcpserver.Result { return s.call(ctx, t, c) }
	if t.consent != "" {
		o.Asks = func(ctx context.Context, c mcpserver.Call) (string, mcpserver.Result) {
			question, otherwise := s.asks(ctx, t, c)
			if otherwise == nil {
				return question, mcpserver.Result{}
			}
			return question, complaint(s.Console.Failure(otherwise))
		}
	}
	return o
}

// call handles a call of a tool.
func (s *server) call(ctx context.Context, t tool, c mcpserver.Call) mcpserver.Result {
	args, stdin, err := line(t, c.Input)
	if err != nil {
		return mcpserver.Result{Text: err.Error(), Failed: true}
	}
	o := host.Invocation{Args: args, Stdin: stdin, Actor: s.actor(c), Told: c.Told}
	if t.consent != "" {
		land, _ := c.Input["land"].(bool)
		// Here no person agreed to automatic landing.
		o.Set = map[string]string{"land": strconv.FormatBool(land)}
		if _, given := c.Input["plan"]; given && c.Agreed && t.name == "run" {
			o.Args = append([]string{o.Args[0], "--yes"}, o.Args[1:]...) // a person saw this plan
		}
	}
	if !t.long {
		o.Told = nil
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

// work runs a long command. It ends when the client cancels the call, as on an interrupt. A run
// continues when the client disconnects.
func (s *server) work( //nolint:contextcheck // what it starts outlives the call
	ctx context.Context, t tool, c mcpserver.Call, o host.Invocation,
) mcpserver.Result {
	work, stop := context.WithCancelCause(s.life)
	begun, done := make(chan nexus.RunID, 1), make(chan mcpserver.Result, 1)
	o.Began = func(id nexus.RunID) {
		select {
		case begun <- id:
		default: // it has one run
		}
	}
	if !s.jobs.Start(func() { defer stop(nil); done <- s.run(work, o) }) {
		stop(nil)
		return mcpserver.Result{Text: "the server is stopping, and starts nothing new", Failed: true}
	}
	var soon <-chan nexus.RunID // nil if the caller waits for the end
	if wait, given := c.Input["wait"].(bool); given && !wait {
		soon = begun
	}
	select {
	case r := <-done:
		return r
	case id := <-soon:
		r := s.run(ctx, host.Invocation{Args: []string{"status", "--json", "--", string(id)}})
		r.Text = fmt.Sprintf("run %s has started; status shows its state, stop ends it\n%s", id, r.Text)
		return r
	case <-ctx.Done():
	}
	if !t.conducts || errors.Is(context.Cause(ctx), mcpserver.ErrCancelled) {
		stop(context.Cause(ctx))
		return <-done
	}
	return mcpserver.Result{} // nobody reads it
}

// actor returns the author of a client's request in the journal.
func (s *server) actor(c mcpserver.Call) string {
	if c.Agreed {
		return s.Console.User() + " (asked by mcp:" + c.Client + ")"
	}
	return "mcp:" + c.Client + " (for " + s.Console.User() + ")"
}

// run runs a command line in this process, and returns its output.
func (s *server) run(ctx context.Context, o host.Invocation) mcpserver.Result {
	r := s.Run(ctx, o)
	if r.Failure != nil {
		return complaint(*r.Failure)
	}
	out := mcpserver.Result{Text: short(r.Text), Data: r.Data}
	if ended := r.Ended(); ended != "" {
		out.Text += "\n" + ended + "\n"
	}
	return out
}

// complaint is the result of a command that failed.
func complaint(f console.Failure) mcpserver.Result {
	r := mcpserver.Result{Text: strings.TrimSpace(f.Message + "\n" + f.Hint), Failed: true}
	if data, err := json.Marshal(map[string]console.Failure{"error": f}); err == nil {
		r.Data = data
	}
	return r
}

// short cuts a text that is too long for a model.
func short(text string) string {
	if len(text) <= maxText {
		return text
	}
	return sanitize.Cut(text, maxText) + "\n(cut here; the structured result has everything)\n"
}

// onlyTasks filters the tasks of a status by their own status, if the call asks for one.
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
