package app

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/sys/forge"
)

// IssueRef returns the issue that a text names, the zero Ref for any other text. An issue
// with nothing but a number is one of the project that the remote origin names.
func (a *App) IssueRef(ctx context.Context, text string) (forge.Ref, error) {
	remote := ""
	if p, err := a.Open(ctx, Reads); err == nil {
		remote, _ = p.Repo.Line(ctx, "config", "--get", "remote.origin.url") // no remote is no error
		p.Close()
	}
	return forge.Parse(text, remote, a.Env)
}
