package app

import (
	"path/filepath"

	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/vector"
	"github.com/nexus-ai-builder/nexus/internal/work/memory"
)

// Memory returns the memory of a repository, with the runs that it learns from.
func (a *App) Memory(p *Repository, c config.Config) *memory.Retriever {
	b := &memory.Retriever{
		Store:  memory.Store{Repo: p.Repo.Work, State: p.State, Mask: p.mask, Show: c.Policy.Show},
		Record: memory.RunRecords{Journal: p.Journal, Repo: p.Repo, Blobs: p.Blobs},
		Tokens: int64(c.Memory.Tokens), Auto: c.Memory.Approve == "auto", Now: a.Now,
	}
	if e := c.Memory.Embed; e.URL != "" {
		b.Means = &memory.EmbeddingIndex{
			Endpoint: vector.Endpoint{URL: e.URL, Model: e.Model, Hosts: e.Hosts}, Say: a.reportError,
			File: filepath.Join(p.State, "memory-vectors.json"),
		}
	}
	return b
}
