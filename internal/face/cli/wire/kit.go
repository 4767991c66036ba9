package wire

import (
	"path/filepath"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/supply"
	"github.com/nexus-ai-builder/nexus/internal/work/depend"
)

// Environments is where prepared environments lie below a repository's state.
const Environments = "environments"

// kit returns what gives worktrees their dependencies.
func kit(p Parts, box *sandbox.Box, clone git.Repo) *depend.Kit {
	return &depend.Kit{
		Store: &supply.Store{Dir: filepath.Join(p.State, Environments), Now: p.Now}, Box: box, Git: clone, User: p.Repo.Work,
		Timeout: p.Config.Limits.GateTime, Mark: string(p.Run), Mask: p.Mask,
	}
}
