package toolcmd

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// CallOptions are the options of "nexus tool call".
type CallOptions struct {
	Console *console.Console
	Tool    string
	Input   json.RawMessage
	Dir     string // the agent's worktree; empty: the working directory
	Role    string // whose tools and permissions are used
}

// NewCall returns the command "nexus tool call". It calls run with the parsed options; nil runs the
// command.
func NewCall(c *console.Console, run func(context.Context, *CallOptions) error) *cobra.Command {
	o := &CallOptions{Console: c}
	if run == nil {
		run = callTool
	}
	command := c.Command("call NAME JSON [--dir DIR] [--role ROLE]", "call a tool as an agent would, and print its result",
		func(ctx context.Context, args []string) error {
			if o.Tool, o.Input = args[0], json.RawMessage(args[1]); !json.Valid(o.Input) {
				return &nexus.Error{
					Code: nexus.CodeInvalidInput, Message: "the input is not JSON",
					Hint: `Give an object, such as '{"path": "README.md"}'.`,
				}
			}
			return run(ctx, o)
		}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Args = console.ArgCount(2, 2)
	command.Flags().StringVar(&o.Dir, "dir", "", "the agent's worktree `DIR`; the working directory if not given")
	command.Flags().StringVar(&o.Role, "role", string(nexus.Coder), "use the tools and permissions of this `ROLE`")
	c.SettingFlags(command, "sandbox")
	return command
}

// callTool calls the tool and prints its result as JSON.
func callTool(ctx context.Context, o *CallOptions) error {
	a := o.Console
	r, err := roleOf(a, o.Role)
	if err != nil {
		return err
	}
	set, done, err := openToolSet(ctx, a, o.Dir, r)
	if err != nil {
		return err
	}
	defer done()
	answer := set.Answer(ctx, llm.ToolCall{ID: "call", Tool: o.Tool, Input: o.Input})
	a.JSON = true
	return a.Answer(toolCallResult{answer.Result, answer.Changed, answer.Finished, answer.Duration.Seconds(), answer.Reached}, nil)
}

// toolCallResult is the output of `tool call`. A failed call is also a result.
type toolCallResult struct {
	llm.ToolResult
	Changed  bool                  `json:"changed"` // the tree may have changed
	Finished json.RawMessage       `json:"finished,omitempty"`
	Seconds  float64               `json:"seconds"`
	Reached  []nexus.RequestedHost `json:"reached,omitempty"` // hosts that it requested
}
