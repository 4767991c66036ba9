package app

import (
	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
)

// tasksPerSession returns the number of small tasks in a coder's session. If an agent of
// another maker may do it, each task has its own session: Nexus cannot continue its
// conversation.
func (a *App) tasksPerSession(c config.Config, tap provider.RecordingTransport) (int, error) {
	if c.Limits.Batch < 2 {
		return c.Limits.Batch, nil
	}
	models, err := provider.NewModelPicker(c, a.Env, a.Now)
	if err != nil {
		return 0, err
	}
	models.UseKeysAndTransport(a.KeyStore(), tap)
	for _, tier := range []nexus.Tier{nexus.Fast, nexus.Balanced, nexus.Strong} {
		if agents, _, err := models.AgentsFor(nexus.Coder, tier, ""); err == nil && len(agents) > 0 {
			return 1, nil
		}
	}
	return c.Limits.Batch, nil
}
