package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/interactivecommand"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
)

// Defaults for commands.
const (
	ShellTime  = shellTime
	ShellShown = shellShown // bytes of a command's output that a model sees
)

const (
	shellTime  = 5 * time.Minute  // as in the prompt; also without output
	shellTimes = 10 * time.Minute // the longest limit that may be requested
	shellKeep  = 4 << 20          // bytes of output that are stored
	shellShown = 16_000           // bytes of output that the model sees
	maxUndone  = 20               // files that are named
)

// shellToolInput is the input of the shell tool.
type shellToolInput struct {
	Command    string
	Timeout    int `json:"timeout_seconds"`
	Idle       int `json:"idle_seconds"`
	Background bool
}

func shellTool(e AgentToolEnvironment) Tool {
	return Tool{
		Name: "shell",
		Description: "Run bash at the root, in a fresh shell, " + networkDescription(e) + ", no stdin; " +
			"what it started ends with it. background starts a server: see job.\n" +
			"You can read dependencies and write to /tmp." + undoChangesHint(e),
		Schema: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string","minLength":1,"maxLength":20000},` +
			`"timeout_seconds":{"type":"integer","minimum":1,"maximum":600},` +
			`"idle_seconds":{"type":"integer","minimum":1,"maximum":600},"background":{"type":"boolean"}},` +
			`"required":["command"],"additionalProperties":false}`),
		Run: func(ctx context.Context, input json.RawMessage) (CallOutput, error) {
			in, err := decodeInput[shellToolInput](input)
			if err != nil {
				return CallOutput{}, err
			}
			return e.runShellRequest(ctx, in)
		},
	}
}

// undoChangesHint explains how to undo changes, for agents with their own tree: in a person's checkout
// that would discard the person's work.
func undoChangesHint(e AgentToolEnvironment) string {
	if !e.Writes || e.Theirs {
		return ""
	}
	return "\nUndo your changes: git restore FILE."
}

// networkDescription describes the network access of commands.
func networkDescription(e AgentToolEnvironment) string {
	if e.Net == nil {
		return "no network"
	}
	return "no network except some hosts, through the proxy in its environment"
}

// timeLimits returns how long a command may run, and how long it may be silent: as long as it may
// run, unless a shorter time was requested. Compilers and test runners print nothing for
// minutes, and the prompt names one time.
func (o shellToolInput) timeLimits() (total, idle time.Duration) {
	total = shellTime
	if o.Timeout > 0 {
		total = min(time.Duration(o.Timeout)*time.Second, shellTimes)
	}
	idle = total
	if o.Idle > 0 {
		idle = min(time.Duration(o.Idle)*time.Second, total)
	}
	return total, idle
}

var (
	errIdle  = errors.New("it printed nothing for too long")
	errTotal = errors.New("its time was up")
)

func (e AgentToolEnvironment) runShellRequest(ctx context.Context, o shellToolInput) (CallOutput, error) {
	if e.Box == nil {
		return CallOutput{}, errors.New("commands cannot be run here: there is no sandbox")
	}
	if why := interactivecommand.ExplainInputWait(o.Command); why != "" {
		j := nexus.ToolCallDecision{Decision: string(policy.Deny), Rule: "screen", Why: printableLine(why), By: "policy", Refused: true}
		return CallOutput{Judged: j}, fmt.Errorf("not run: %s", why)
	}
	judged, err := e.judgeCommand(ctx, o.Command)
	if err != nil {
		return CallOutput{Judged: judged}, fmt.Errorf("refused, not run: %w\n[no part of the command was run]", err)
	}
	if o.Background {
		return e.startBackgroundCommand(ctx, o.Command, judged)
	}
	total, idle := o.timeLimits()
	r, err := e.runCommand(ctx, o.Command, total, idle)
	out := CallOutput{Judged: judged, Text: e.redactHidden(o.Command, sanitize.StripTerminalControls(string(r.Stdout))), Changed: e.Writes, Most: shellShown, Over: string(r.Over)}
	if out.Text != "" && !strings.HasSuffix(out.Text, "\n") {
		out.Text += "\n"
	}
	note, failed := commandEndNote(r, err, total, idle)
	if note == "" && err != nil {
		return out, fmt.Errorf("the command was stopped or could not be run: %w", err)
	}
	if note == "" && out.Text == "" {
		note = "[exit 0, no output]"
	}
	out.Text, out.Failed = out.Text+note+e.lids.explainDenial(out.Text)+e.explainSandboxFailure(out.Text, failed), failed
	return e.undoForbiddenChanges(ctx, out)
}

// explainSandboxFailure returns a line about what the sandbox did not let a command do, if its output shows
// that.
func (e AgentToolEnvironment) explainSandboxFailure(text string, failed bool) string {
	why := e.Box.ExplainFailure(e.sandboxedCommand(nil, 0), text)
	if why == "" || !failed && !strings.HasPrefix(why, "[no network") {
		return "" // it got on without it
	}
	return "\n" + why
}

// undoForbiddenChanges undoes a command's changes against the role's rule.
func (e AgentToolEnvironment) undoForbiddenChanges(ctx context.Context, out CallOutput) (CallOutput, error) {
	if back := e.lids.restoreMovedFiles(); len(back) > 0 {
		out.Text = strings.TrimSuffix(out.Text, "\n") + fmt.Sprintf("\n[put back, because .nexusignore hides it from agents, where it is: %s]",
			strings.Join(back[:min(len(back), maxUndone)], ", "))
		out.Failed = true
	}
	if e.Rule == nil || e.Undo == nil {
		return out, nil
	}
	files, err := e.Undo(ctx)
	if err != nil {
		return out, fmt.Errorf("look at what the command changed: %w", err)
	}
	if len(files) > 0 {
		named := strings.Join(files[:min(len(files), maxUndone)], ", ")
		out.Text = strings.TrimSuffix(out.Text, "\n")
		if e.Breaks {
			out.Text += fmt.Sprintf("\n[undone after the command, because you may change only test files: %s]", named)
		} else {
			out.Text += fmt.Sprintf("\n[undone, because this role may not write them: %s]", named)
			if why := e.Rule(files[0]); why != nil {
				out.Text += "\n" + why.Error()
			}
			out.Failed = true
		}
	}
	if e.Note != nil {
		if note := e.Note(ctx); note != "" {
			out.Text = strings.TrimSuffix(out.Text, "\n") + "\n" + note
		}
	}
	return out, nil
}

// commandEndNote describes the end of a command, if it is not normal.
func commandEndNote(r sandbox.Result, err error, total, idle time.Duration) (note string, failed bool) {
	switch {
	case errors.Is(err, errIdle):
		return fmt.Sprintf("[killed after %s without output; use background for a command that never ends, and timeout_seconds, up to %d, for a slow one]", idle, int(shellTimes.Seconds())), true
	case errors.Is(err, errTotal) || err == nil && r.TimedOut:
		return fmt.Sprintf("[killed after %s, its limit; timeout_seconds may be up to %d]", total, int(shellTimes.Seconds())), true
	case err == nil && r.Over != "":
		return "[" + r.Exceeded + "]", true
	case err == nil && r.Exit != 0:
		return fmt.Sprintf("[exit %d]", r.Exit), true
	default:
		return "", false
	}
}

// runCommand runs a command in its own box, or in the box of the background commands.
func (e AgentToolEnvironment) runCommand(ctx context.Context, command string, total, idle time.Duration) (sandbox.Result, error) {
	c := e.sandboxedCommand([]string{ShellPath(), "-c", command}, 0)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if idle < total {
		silent := time.AfterFunc(idle, func() { stop(errIdle) })
		defer silent.Stop()
		c.Heard = func([]byte) { silent.Reset(idle) }
	}
	ctx, end := context.WithTimeoutCause(ctx, total, errTotal)
	defer end()
	if e.jobs.HasRunning() {
		return e.jobs.RunForeground(ctx, c, command)
	}
	return e.Box.Run(ctx, c)
}

// sandboxedCommand returns the sandboxed command, with the tree as writable as the role allows.
func (e AgentToolEnvironment) sandboxedCommand(args []string, limit time.Duration) sandbox.Command {
	c := sandbox.Command{
		Args: args, Dir: e.Dir, Env: e.Vars, Readable: e.Readable, Writable: e.Writable,
		Tmp: e.Tmp, Mark: e.Mark, Timeout: limit, Cap: shellKeep, Merge: true, Over: e.Over, Hidden: e.lids.currentPaths(),
	}
	if e.Net != nil {
		c.Proxy, c.Env = e.Net.Serve, e.Net.ProxyEnv(e.Vars, e.Box.HidesHost())
	}
	if !e.Writes || e.Rule != nil && e.Undo == nil {
		c.Readable = append([]string{e.Dir}, e.Readable...)
	}
	return c
}

// ShellPath returns the shell that runs the commands of agents.
func ShellPath() string {
	if _, err := os.Stat("/bin/bash"); err == nil {
		return "/bin/bash"
	}
	return "/bin/sh"
}

// judgeCommand returns why a command must not run, nil if it may.
func (e AgentToolEnvironment) judgeCommand(ctx context.Context, command string) (nexus.ToolCallDecision, error) {
	if why := e.lids.commandsBlockedReason(); why != "" {
		return e.EnforceDecision(ctx, command, policy.Decision{Decision: policy.Deny, Rule: "path.hidden", Reason: why, Way: "use the file tools; " + wayBeyond})
	}
	rules := e.Rules
	rules.Dir, rules.Reaches, rules.Show = e.Dir, e.Net.CanReach, e.Hidden.Show
	if e.Git != nil {
		rules.Undoes = func(word, file string) bool { return e.isFileCheckout(ctx, word, file) }
	}
	rules.Open, rules.Snapshots = e.Box.Name() == string(sandbox.ModeOff), e.Writes && !e.Theirs
	return e.EnforceDecision(ctx, command, policy.JudgeCommand(command, rules))
}

// JudgeCommand decides whether an external agent may run a command in the tree, with the same rules
// as for our own.
func (e AgentToolEnvironment) JudgeCommand(ctx context.Context, command string) (nexus.ToolCallDecision, error) {
	if why := interactivecommand.ExplainInputWait(command); why != "" {
		return nexus.ToolCallDecision{Decision: string(policy.Deny), Rule: "screen", Why: printableLine(why), By: "policy", Refused: true}, errors.New(why)
	}
	return e.judgeCommand(ctx, command)
}

// isFileCheckout reports whether `git checkout WORD` can mean only a file, see [policy.CommandPolicyContext].
func (e AgentToolEnvironment) isFileCheckout(ctx context.Context, word, file string) bool {
	if _, err := e.Git(ctx, []string{"rev-parse", "--verify", "--quiet", word}, e.lids.currentPaths()); err == nil {
		return false
	}
	out, err := e.Git(ctx, []string{"ls-files", "--", file}, e.lids.currentPaths())
	return err == nil && strings.TrimSpace(out) == file
}

// EnforceDecision returns why an action is refused by the policy, nil if it may be done. If
// the policy requires it, a person is asked; without one the action is refused.
func (e AgentToolEnvironment) EnforceDecision(ctx context.Context, what string, d policy.Decision) (nexus.ToolCallDecision, error) {
	j := nexus.ToolCallDecision{Decision: string(d.Decision), Rule: d.Rule, Why: d.Reason, By: "policy"}
	reason := fmt.Sprintf("%s (%s)", d.Reason, d.Rule)
	var err error
	switch {
	case d.IsAllowed() && e.Every && e.Agree != nil:
		j.By, err = "person", e.Agree(ctx, what, "")
	case d.IsAllowed():
	case d.Decision == policy.Ask && e.Agree != nil:
		j.By, err = "person", e.Agree(ctx, what, reason)
	default:
		err = policyRefusal(d)
	}
	j.Refused = err != nil
	return j, err
}

// policyRefusal returns an error about a command that the policy does not allow, with the rule and
// the allowed alternative.
func policyRefusal(d policy.Decision) error {
	text := fmt.Sprintf("%s (%s)", d.Reason, d.Rule)
	if d.Part != "" {
		text += "\nwhat is refused: " + d.Part
	}
	if d.Way != "" {
		text += "\ninstead: " + d.Way
	}
	return errors.New(text)
}
