package doctor

import (
	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
)

// checkEnvironment reports what worktrees receive besides their files.
func checkEnvironment(dir string, c config.Config) []Check {
	list, err := app.ForecastInstalls(dir, c)
	if err != nil {
		return []Check{checkOf("environment", "", err)}
	}
	var all []Check
	for _, o := range list {
		c := Check{Name: "environment", State: Fine, Detail: o.File + ": " + o.How}
		if o.Bad != nil {
			c.State, c.Detail, c.Hint = Notice, o.File+": "+o.Bad.Error(), o.Hint
		}
		all = append(all, c)
	}
	return all
}
