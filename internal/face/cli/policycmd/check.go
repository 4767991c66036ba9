package policycmd

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
)

// policyJudgement is one answer of `policy check`.
type policyJudgement struct {
	Cmd string `json:"cmd"`
	policy.Decision
}

// CheckOptions are the options of "nexus policy check".
type CheckOptions struct {
	Console *console.Console
	Command []string // one argument is a full line, several are the words of one command
	Stdin   bool     // read commands from standard input instead
	Role    string   // of the agent
	Dir     string   // the agent's worktree; empty: the working directory
}

// NewCheck returns the command "nexus policy check". It calls run with the parsed options; nil runs
// the command.
func NewCheck(c *console.Console, run func(context.Context, *CheckOptions) error) *cobra.Command {
	o := &CheckOptions{Console: c}
	if run == nil {
		run = checkCommands
	}
	command := c.Command("check [--dir DIR] -- COMMAND | --stdin", "check whether an agent may run a command",
		func(ctx context.Context, args []string) error {
			if o.Command = args; o.Stdin == (len(args) > 0) {
				return &nexus.Error{
					Code: nexus.CodeInvalidInput, Message: "give one command after --, or use --stdin",
					Hint: `For example: nexus policy check -- git push.`,
				}
			}
			return run(ctx, o)
		}, console.CodeOK, console.CodeUsage)
	command.Args = console.ArgCount(0, -1)
	command.Flags().BoolVar(&o.Stdin, "stdin", false, "read one JSON object with cmd per line, and print one answer per line")
	command.Flags().StringVar(&o.Role, "role", string(nexus.Coder), "`ROLE` of the agent; rules can differ by role")
	command.Flags().StringVar(&o.Dir, "dir", "", "the agent's worktree `DIR`; the working directory if not given")
	return command
}

// checkCommands prints the decision about a command, or about each line of standard input.
func checkCommands(_ context.Context, o *CheckOptions) error {
	if _, err := o.Console.LoadRole(o.Role); err != nil {
		return err
	}
	rules, err := rulesFor(o.Console, o.Dir, nexus.Role(o.Role))
	if err != nil {
		return err
	}
	if o.Stdin {
		return checkLines(o.Console, rules)
	}
	command, err := commandLine(o.Command)
	if err != nil {
		return err
	}
	return printDecision(o.Console, policyJudgement{command, policy.JudgeCommand(command, rules)})
}

// commandLine builds the command line from the arguments: a single one is a full line, several are the
// words of one command.
func commandLine(args []string) (string, error) {
	if len(args) == 1 {
		return args[0], nil
	}
	command, err := shell.QuoteWords(args)
	if err != nil {
		return "", &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "the command cannot be quoted for a shell", Cause: err,
			Hint: "Give the command as one argument, or with --stdin.",
		}
	}
	return command, nil
}

// rulesFor returns the rules of a role in a worktree.
func rulesFor(a *console.Console, dir string, role nexus.Role) (policy.CommandPolicyContext, error) {
	c, _, err := a.LoadSettings()
	if err != nil {
		return policy.CommandPolicyContext{}, err
	}
	rules := app.CommandPolicyContext(c, role)
	here, err := a.WorkDir()
	if err != nil {
		return rules, err
	}
	rules.Dir, rules.Open, rules.Snapshots = cmp.Or(dir, here), c.Sandbox == string(sandbox.ModeOff), true
	grant, err := app.EgressGrantFor(c.Network, app.WorkTreeRoot(here), a.TrustStore(), a.Env)
	rules.Reaches = grant.GatewayForRole(string(role)).CanReach
	return rules, err
}

// printDecision prints one answer on a separate line.
func printDecision(a *console.Console, j policyJudgement) error {
	e := json.NewEncoder(a.Out)
	e.SetEscapeHTML(false)
	return e.Encode(j)
}

// checkLines answers line by line, so that a caller can keep the process running.
func checkLines(a *console.Console, rules policy.CommandPolicyContext) error {
	lines := bufio.NewScanner(a.In)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var asked struct {
			Cmd *string `json:"cmd"`
		}
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil || asked.Cmd == nil {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("line %d is not a JSON object with cmd", n), Cause: err,
				Hint: `Write {"cmd": "git push"}.`,
			}
		}
		if err := printDecision(a, policyJudgement{*asked.Cmd, policy.JudgeCommand(*asked.Cmd, rules)}); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "read standard input", Cause: err,
			Hint: "A line may have at most one megabyte.",
		}
	}
	return nil
}
