package app

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/sys/forge"
)

// IssueRef returns the issue that a text names, the zero Ref for any other text. A number alone
// is an issue of the project that the remote origin names.
func (a *App) IssueRef(ctx context.Context, text string) (forge.Ref, error) {
	return forge.Parse(text, a.originURL(ctx), a.Env)
}

// ForgeRef returns the project of a forge that the remote origin names.
func (a *App) ForgeRef(ctx context.Context) (forge.Ref, error) {
	return forge.Project(a.originURL(ctx), a.Env)
}

// originURL returns the address of the remote origin, "" if there is none.
func (a *App) originURL(ctx context.Context) string {
	p, err := a.Open(ctx, ReadAccess)
	if err != nil {
		return ""
	}
	defer p.Close()
	remote, _ := p.Repo.Line(ctx, "config", "--get", "remote.origin.url") // a missing remote is no error
	return remote
}
