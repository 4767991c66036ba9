package runscmd

import (
	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func answerCommand(a *console.Console) *cobra.Command {
	return request(a, "answer ID TEXT [--run RUN] [--json]", "answer an agent's question", 2, func(args []string) nexus.Request {
		return nexus.Request{Verb: nexus.VerbAnswer, ID: args[0], Text: args[1]}
	})
}

func approveCommand(a *console.Console) *cobra.Command {
	var why string
	c := request(a, "approve ID [--why TEXT] [--run RUN] [--json]", "approve what an agent asks permission for, or waive a criterion", 1, func(args []string) nexus.Request {
		return nexus.Request{Verb: nexus.VerbAnswer, ID: args[0], Text: "yes"}
	})
	c.Flags().StringVar(&why, "why", "", "reason, as `TEXT`, why a criterion such as T1/AC-2 need not be met")
	answer := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if _, _, criterion := accept.ParseID(args[0]); !criterion {
			return answer(c, args)
		}
		run, err := c.Flags().GetString("run")
		if err != nil {
			return err
		}
		return waive(c.Context(), a, run, args[0], why)
	}
	return c
}

func rejectCommand(a *console.Console) *cobra.Command {
	var why string
	c := request(a, "reject ID [--why TEXT] [--run RUN] [--json]", "refuse what an agent asks permission for", 1, func(args []string) nexus.Request {
		text := "no"
		if why != "" {
			text += ": " + why
		}
		return nexus.Request{Verb: nexus.VerbAnswer, ID: args[0], Text: text}
	})
	c.Flags().StringVar(&why, "why", "", "reason, as `TEXT`, for the agent")
	return c
}
