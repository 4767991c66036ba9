package app

import (
	"path/filepath"

	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/vector"
	"github.com/nexus-ai-builder/nexus/internal/work/memory"
)

// Memory returns the memory of a repository, with the runs that it learns from.
func (a *App) Memory(p *Place, c config.Config) *memory.Book {
	b := &memory.Book{
		Store:  memory.Store{Repo: p.Repo.Work, State: p.State, Mask: p.mask, Show: c.Policy.Show},
		Record: memory.Record{Journal: p.Journal, Repo: p.Repo, Blobs: p.Blobs},
		Tokens: int64(c.Memory.Tokens), Auto: c.Memory.Approve == "auto", Now: a.Now,
	}
	if e := c.Memory.Embed; e.URL != "" {
		b.Means = &memory.Meaning{
			Endpoint: vector.Endpoint{URL: e.URL, Model: e.Model, Hosts: e.Hosts}, Say: a.complain,
			File: filepath.Join(p.State, "memory-vectors.json"),
		}
	}
	return b
}
