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
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/mcp/mcpserver"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// maxText limits the text of a result, in bytes. The object is complete.
const maxText = 16 << 10

// toolServer handles the calls of clients.
type toolServer struct {
	host.Host

	life context.Context //nolint:containedctx // what is started outlives the call that starts it, and ends with the server
	jobs host.RunningJobs
}

// newTool returns a tool in the form for clients.
func (s *toolServer) newTool(t commandTool) mcpserver.ServedTool {
	o := mcpserver.ServedTool{Name: t.name, About: t.about, Input: paramSchema(t.params), Reads: t.reads, Ends: t.ends}
	o.Do = func(ctx context.Context, c mcpserver.ClientToolCall) mcpserver.Result { return s.callTool(ctx, t, c) }
	if t.consent != "" {
		o.Asks = func(ctx context.Context, c mcpserver.ClientToolCall) (string, mcpserver.Result) {
			question, otherwise := s.consentQuestion(ctx, t, c)
			if otherwise == nil {
				return question, mcpserver.Result{}
			}
			return question, failureResult(s.Console.Failure(otherwise))
		}
	}
	return o
}

// callTool handles a call of a tool.
func (s *toolServer) callTool(ctx context.Context, t commandTool, c mcpserver.ClientToolCall) mcpserver.Result {
	args, stdin, err := commandLine(t, c.Input)
	if err != nil {
		return mcpserver.Result{Text: err.Error(), Failed: true}
	}
	o := host.Invocation{Args: args, Stdin: stdin, Actor: s.actorName(c), Told: c.Told}
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
		return keepWanted(t, s.runCommand(ctx, o), c.Input)
	}
	return s.runLongCommand(ctx, t, c, o)
}

func keepWanted(t commandTool, r mcpserver.Result, in map[string]any) mcpserver.Result {
	if t.only == nil || r.Failed {
		return r
	}
	return t.only(r, in)
}

// runLongCommand runs a long command. It ends when the client cancels the call, as on an interrupt. A run
// continues when the client disconnects.
func (s *toolServer) runLongCommand( //nolint:contextcheck // what it starts outlives the call
	ctx context.Context, t commandTool, c mcpserver.ClientToolCall, o host.Invocation,
) mcpserver.Result {
	work, stop := context.WithCancelCause(s.life)
	begun, done := make(chan nexus.RunID, 1), make(chan mcpserver.Result, 1)
	o.Began = func(id nexus.RunID) {
		select {
		case begun <- id:
		default: // it has one run
		}
	}
	if !s.jobs.Start(func() { defer stop(nil); done <- s.runCommand(work, o) }) {
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
		r := s.runCommand(ctx, host.Invocation{Args: []string{"status", "--json", "--", string(id)}})
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

// actorName returns the author of a client's request in the journal.
func (s *toolServer) actorName(c mcpserver.ClientToolCall) string {
	if c.Agreed {
		return s.Console.UserName() + " (asked by mcp:" + c.Client + ")"
	}
	return "mcp:" + c.Client + " (for " + s.Console.UserName() + ")"
}

// runCommand runs a command line in this process, and returns its output.
func (s *toolServer) runCommand(ctx context.Context, o host.Invocation) mcpserver.Result {
	r := s.Run(ctx, o)
	if r.Failure != nil {
		return failureResult(*r.Failure)
	}
	out := mcpserver.Result{Text: truncateText(r.Text), Data: r.Data}
	if ended := r.ExitText(); ended != "" {
		out.Text += "\n" + ended + "\n"
	}
	return out
}

// failureResult is the result of a command that failed.
func failureResult(f console.Failure) mcpserver.Result {
	r := mcpserver.Result{Text: strings.TrimSpace(f.Message + "\n" + f.Hint), Failed: true}
	if data, err := json.Marshal(map[string]console.Failure{"error": f}); err == nil {
		r.Data = data
	}
	return r
}

// truncateText cuts a text that is too long for a model.
func truncateText(text string) string {
	if len(text) <= maxText {
		return text
	}
	return sanitize.TruncateText(text, maxText) + "\n(cut here; the structured result has everything)\n"
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
		var t view.TaskView
		if err := json.Unmarshal(data, &t); err != nil {
			return mcpserver.Result{Text: err.Error(), Failed: true}
		}
		if want, given := in["status"].(string); given && want != string(t.Status) {
			continue
		}
		kept = append(kept, data)
		fmt.Fprintf(&b, "%s %s: %s%s\n", t.ID, t.Status, view.EscapeForTerminal(t.Title), inParentheses(t.Why))
	}
	all.Tasks = kept
	data, err := json.Marshal(all)
	if err != nil {
		return mcpserver.Result{Text: err.Error(), Failed: true}
	}
	return mcpserver.Result{Text: truncateText(cmp.Or(b.String(), "no such task\n")), Data: data}
}

func inParentheses(why string) string {
	if why == "" {
		return ""
	}
	return " (" + view.EscapeForTerminal(why) + ")"
}
