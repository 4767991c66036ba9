package inspect

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

func policyCommand(a *console.Console) *cobra.Command {
	var stdin bool
	var role, dir string
	check := a.Command("check [--dir DIR] -- COMMAND | --stdin", "check whether an agent may run a command", func(_ context.Context, args []string) error {
		if _, err := roleOf(a, role); err != nil {
			return err
		}
		rules, err := rulesFor(a, dir, nexus.Role(role))
		if err != nil {
			return err
		}
		switch {
		case stdin && len(args) == 0:
			return checkLines(a, rules)
		case stdin || len(args) == 0:
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "give one command after --, or use --stdin",
				Hint: `For example: nexus policy check -- git push.`,
			}
		}
		command, err := commandLine(args)
		if err != nil {
			return err
		}
		return printDecision(a, policyJudgement{command, policy.JudgeCommand(command, rules)})
	}, console.CodeOK, console.CodeUsage)
	check.Args = console.ArgCount(0, -1)
	check.Flags().BoolVar(&stdin, "stdin", false, "read one JSON object with cmd per line, and print one answer per line")
	check.Flags().StringVar(&role, "role", string(nexus.Coder), "`ROLE` of the agent; rules can differ by role")
	check.Flags().StringVar(&dir, "dir", "", "the agent's worktree `DIR`; the working directory if not given")
	return a.ParentCommand("policy", "show what agents may do", check)
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
func rulesFor(a *console.Console, dir string, role nexus.Role) (policy.CallerRules, error) {
	c, _, err := a.LoadSettings()
	if err != nil {
		return policy.CallerRules{}, err
	}
	rules := app.PolicyRules(c, role)
	here, err := a.WorkDir()
	if err != nil {
		return rules, err
	}
	rules.Dir, rules.Open, rules.Snapshots = cmp.Or(dir, here), c.Sandbox == string(sandbox.ModeOff), true
	grant, err := app.EgressGrant(c.Network, app.WorkTreeRoot(here), a.TrustStore(), a.Env)
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
func checkLines(a *console.Console, rules policy.CallerRules) error {
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
