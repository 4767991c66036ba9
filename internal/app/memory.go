package app

import (
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/work/memory"
)

// Memory returns the memory of a repository, with the runs that it learns from.
func (a *App) Memory(p *Place, c config.Config) *memory.Book {
	return &memory.Book{
		Store:  memory.Store{Repo: p.Repo.Work, State: p.State, Mask: p.mask, Show: c.Policy.Show},
		Record: memory.Record{Journal: p.Journal, Repo: p.Repo, Blobs: p.Blobs},
		Tokens: int64(c.Memory.Tokens), Auto: c.Memory.Approve == "auto", Now: a.Now,
	}
}
