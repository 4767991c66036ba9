package runscmd

import (
	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func pauseCommand(a *console.Console) *cobra.Command {
	c := requestCommand(a, "pause [TASK] [--run RUN] [--json]", "pause a task, or every agent, at the next turn", 0, func(args []string) nexus.Request {
		return nexus.Request{Verb: nexus.VerbPause, Task: nexus.TaskID(console.FirstArg(args))}
	})
	c.Args = console.ArgCount(0, 1)
	return c
}

func unpauseCommand(a *console.Console) *cobra.Command {
	return requestCommand(a, "unpause TASK [--run RUN] [--json]", "continue a paused task", 1, func(args []string) nexus.Request {
		return nexus.Request{Verb: nexus.VerbResume, Task: nexus.TaskID(args[0])}
	})
}

func interruptCommand(a *console.Console) *cobra.Command {
	const use, short = "interrupt TASK [TEXT] [--run RUN] [--json]", "interrupt the agent of a task, and tell it why"
	c := requestCommand(a, use, short, 1, func(args []string) nexus.Request {
		return nexus.Request{Verb: nexus.VerbInterrupt, Task: nexus.TaskID(args[0]), Text: console.FirstArg(args[1:])}
	})
	c.Args = console.ArgCount(1, 2)
	return c
}
