package app

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/sys/forge"
)

// ParseIssueRef returns the issue that a text names, the zero Ref for any other text. A number alone
// is an issue of the project that the remote origin names.
func (a *App) ParseIssueRef(ctx context.Context, text string) (forge.IssueRef, error) {
	return forge.ParseIssueRef(text, a.originURL(ctx), a.Env)
}

// OriginForgeProject returns the project of a forge that the remote origin names.
func (a *App) OriginForgeProject(ctx context.Context) (forge.IssueRef, error) {
	return forge.ParseProjectOfRemote(a.originURL(ctx), a.Env)
}

// originURL returns the address of the remote origin, "" if there is none.
func (a *App) originURL(ctx context.Context) string {
	p, err := a.OpenRepository(ctx, ReadAccess)
	if err != nil {
		return ""
	}
	defer p.Close()
	remote, _ := p.Repo.RunLine(ctx, "config", "--get", "remote.origin.url") // a missing remote is no error
	return remote
}
