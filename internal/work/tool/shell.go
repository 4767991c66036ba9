package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy"
	"github.com/nexus-ai-builder/nexus/internal/nexus/legible"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
)

const (
	shellTime  = 2 * time.Minute
	shellTimes = 10 * time.Minute // the most that may be asked for
	shellKeep  = 1 << 20          // bytes of output that go to the blob
)

func shell(e Env) Tool {
	return Tool{
		Name: "shell",
		Description: "Run a bash command at the root of the worktree. Each call is a fresh shell; no network, no stdin; " +
			"everything it started is killed when it returns.",
		Schema: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string","minLength":1,"maxLength":20000},` +
			`"timeout_seconds":{"type":"integer","minimum":1,"maximum":600,"description":"default 120"}},` +
			`"required":["command"],"additionalProperties":false}`),
		Run: func(ctx context.Context, input json.RawMessage) (Output, error) {
			in, err := decode[struct {
				Command string
				Timeout int `json:"timeout_seconds"`
			}](input)
			if err != nil {
				return Output{}, err
			}
			limit := min(time.Duration(in.Timeout)*time.Second, shellTimes)
			if limit <= 0 {
				limit = shellTime
			}
			return e.shell(ctx, in.Command, limit)
		},
	}
}

func (e Env) shell(ctx context.Context, command string, limit time.Duration) (Output, error) {
	if e.Box == nil {
		return Output{}, errors.New("commands cannot be run here: there is no sandbox")
	}
	if err := e.leave(ctx, command); err != nil {
		return Output{}, fmt.Errorf("refused, not run: %w", err)
	}
	r, err := e.Box.Run(ctx, e.command([]string{bash(), "-c", command}, limit))
	if err != nil {
		return Output{Changed: e.Writes}, fmt.Errorf("the command was stopped or could not be run: %w", err)
	}
	text := legible.Terminal(string(r.Stdout))
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	switch {
	case r.TimedOut:
		text += fmt.Sprintf("[killed after %s, its limit; timeout_seconds may be up to %d]", limit, int(shellTimes.Seconds()))
	case r.Exit != 0:
		text += fmt.Sprintf("[exit %d]", r.Exit)
	case text == "":
		text = "[exit 0, no output]"
	}
	return Output{Text: text, Failed: r.Exit != 0, Changed: e.Writes}, nil
}

// command returns what to run in the box, with the tree as writable as the
// role may have it.
func (e Env) command(args []string, limit time.Duration) sandbox.Command {
	c := sandbox.Command{
		Args: args, Dir: e.Dir, Env: e.Vars, Readable: e.Readable, Writable: e.Writable,
		Tmp: e.Tmp, Mark: e.Mark, Timeout: limit, Cap: shellKeep, Merge: true,
	}
	if !e.Writes {
		c.Readable = append([]string{e.Dir}, e.Readable...)
	}
	return c
}

func bash() string {
	if _, err := os.Stat("/bin/bash"); err == nil {
		return "/bin/bash"
	}
	return "/bin/sh"
}

// leave says why a command is not run, nil where it may be. What the policy
// asks about is for a person to say; without one it is refused.
func (e Env) leave(ctx context.Context, command string) error {
	rules := e.Rules
	rules.Dir = e.Dir
	d := policy.Rule(command, rules)
	reason := fmt.Sprintf("%s (%s)", d.Reason, d.Rule)
	switch {
	case d.Allowed() && e.Every && e.Agree != nil:
		return e.Agree(ctx, command, "")
	case d.Allowed():
		return nil
	case d.Decision == policy.Ask && e.Agree != nil:
		return e.Agree(ctx, command, reason)
	default:
		return errors.New(reason)
	}
}
