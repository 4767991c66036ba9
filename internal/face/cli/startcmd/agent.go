package startcmd

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/forbiddenphrases"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
)

func agentCommand(a *console.Console) *cobra.Command {
	var prompt, role string
	var traffic provider.TrafficRecordingOptions
	var lines bool
	c := a.Command("agent -p PROMPT [flags]", "let one agent work here, without plan, gates or landing", func(ctx context.Context, _ []string) error {
		settings, _, err := a.LoadSettings()
		if err == nil {
			prompt, err = a.ExpandSlashCommand(settings, prompt)
		}
		if err == nil {
			err = errors.Join(plan.CheckGoal(prompt), forbiddenphrases.Check(a, prompt, nil))
		}
		if err == nil {
			err = a.CheckSandbox(!a.HasPerson())
		}
		if err != nil {
			return err
		}
		seq := int64(0)
		heard := func(f nexus.Fact) {
			seq++
			e := nexus.Event{Seq: seq, At: a.Now(), Fact: f}
			if lines {
				_ = a.PrintEventJSON(e) // a closed pipe ends the program by itself
			} else if about, text := view.DescribeFact(f); about != "" {
				a.Say("%s", view.EscapeForTerminal(text))
			}
		}
		said, err := a.RunSession(ctx, settings, nexus.Role(role), prompt, traffic, heard)
		if err != nil {
			return err
		}
		if !lines {
			err = a.Answer(said, func(view.OutputStyle) string { return view.EscapeLinesForTerminal(said.Text) + "\n" })
		}
		if err == nil && said.Outcome != nexus.Accepted {
			return outcomeError(said)
		}
		return err
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodeLimit, console.CodePerson, console.CodeInterrupted)
	f := c.Flags()
	f.StringVarP(&prompt, "prompt", "p", "", "prompt for the agent")
	f.StringVar(&role, "role", string(nexus.Assistant), "`ROLE` of the agent")
	f.BoolVar(&lines, "jsonl", false, "print every event as a line of JSON instead of the text")
	progress.TrafficFlags(c, &traffic)
	a.JSONFlag(c)
	c.MarkFlagsMutuallyExclusive("json", "jsonl")
	a.SettingFlags(c, "model", "max-turns", "budget", "sandbox")
	return c
}

// outcomeError returns the reason why a session ended without a submission.
func outcomeError(said app.AdhocSessionResult) error {
	var code nexus.ErrorCode
	switch said.Outcome {
	case nexus.Exhausted:
		code = nexus.CodeLimit
	case nexus.Refused:
		code = nexus.CodeBudget
	case nexus.GaveUp, nexus.Inapplicable:
		code = nexus.CodeNeedsPerson
	default:
		code = nexus.CodeProvider
	}
	return &nexus.Error{Code: code, Message: string(said.Outcome) + ": " + said.Why, Hint: "Its changes so far are in the working directory."}
}
