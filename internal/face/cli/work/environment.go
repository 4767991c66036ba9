package work

import (
	"github.com/nexus-ai-builder/nexus/internal/face/cli/provide"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
)

// checkEnvironment says what worktrees will be given besides their files.
func checkEnvironment(dir string, c config.Config) []check {
	list, err := provide.Foresee(dir, c)
	if err != nil {
		return []check{checked("environment", "", err)}
	}
	var all []check
	for _, o := range list {
		c := check{Name: "environment", State: fine, Detail: o.File + ": " + o.How}
		if o.Bad != nil {
			c.State, c.Detail, c.Hint = notice, o.File+": "+o.Bad.Error(), o.Hint
		}
		all = append(all, c)
	}
	return all
}
