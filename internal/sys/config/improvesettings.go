package config

import (
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config/valuekind"
)

// ImproveSettings limits the improvement loop, which finds work and does it.
type ImproveSettings struct {
	Budget  nexus.Money // for all cycles together
	Lines   int         // added and removed lines from which a result waits for a person; 0: no limit
	Waiting int         // results that wait for a person; 0: no limit
	Pulls   bool        // open branches are pushed, with pull requests
	Quiet   string      // hours in which nothing starts and nothing lands
}

func improveKeys() []SettingKey {
	const yours = "it decides how much happens without you"
	return []SettingKey{
		newSingleKey("improve.budget", valuekind.DollarAmountKind(),
			"dollars that nexus improve may spend, over all its cycles; each piece of work may spend "+
				"budget.run of it; the project's file may lower it, not raise it",
			func(c *Config) *nexus.Money { return &c.Improve.Budget }).withLowerOnly(),
		newSingleKey("improve.lines", valuekind.WholeNumberKind(0, 1_000_000),
			"lines that a result of nexus improve may add and remove; a larger one is left to a "+
				"person; 0: any number",
			func(c *Config) *int { return &c.Improve.Lines }).withProjectDenied(yours),
		newSingleKey("improve.waiting", valuekind.WholeNumberKind(0, 1000),
			"results of nexus improve that may wait for a person, before it takes nothing "+
				"up any more; 0: any number",
			func(c *Config) *int { return &c.Improve.Waiting }).withProjectDenied(yours),
		newSingleKey("improve.pulls", valuekind.BooleanKind(),
			"push the branches of nexus improve that wait for a person to the remote origin, on GitHub "+
				"or GitLab, and open one pull request for each; a token is needed",
			func(c *Config) *bool { return &c.Improve.Pulls }).withProjectDenied("it pushes to a server in your name"),
		newSingleKey("improve.quiet", valuekind.TextLineKind(),
			"hours in which nexus improve starts nothing and lands nothing, in the local "+
				"time zone, such as `09:00-18:00 Mon-Fri`; several are separated by semicolons",
			func(c *Config) *string { return &c.Improve.Quiet }).withProjectDenied(yours),
	}
}
