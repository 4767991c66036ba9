package app

import (
	"path/filepath"

	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/textembedding"
	"github.com/nexus-ai-builder/nexus/internal/work/memory"
)

// MemoryRetriever returns the memory of a repository, with the runs that it learns from.
func (a *App) MemoryRetriever(p *Repository, c config.Config) *memory.MemoryEntryRetriever {
	b := &memory.MemoryEntryRetriever{
		MemoryEntryStore: memory.MemoryEntryStore{Repo: p.Repo.Work, State: p.State, Mask: p.mask, Show: c.Policy.Show},
		Record:           memory.RepositoryRunRecords{Journal: p.Journal, Repo: p.Repo, Blobs: p.OpenBlobStore},
		Tokens:           int64(c.Memory.Tokens), Auto: c.Memory.Approve == "auto", Now: a.Now,
	}
	if e := c.Memory.Embed; e.URL != "" {
		b.Means = &memory.EmbeddingIndex{
			Endpoint: textembedding.EmbeddingEndpoint{URL: e.URL, Model: e.Model}, Say: a.reportError,
			File: filepath.Join(p.State, "memory-vectors.json"),
		}
	}
	return b
}
