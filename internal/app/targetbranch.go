package app

import (
	"context"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// ResolveTarget returns the name of the branch that a run may move, or an error that explains why it
// may not. Protected are patterns of branches that never move.
func (p *Repository) ResolveTarget(ctx context.Context, protected []string, name string) (string, error) {
	refuse := func(why, hint string) (string, error) {
		return "", &nexus.Error{Code: nexus.CodeInvalidInput, Message: why, Hint: hint}
	}
	name = strings.TrimPrefix(name, "refs/heads/")
	if name == "" {
		return refuse("no branch is checked out that the result could go to", "Check one out, or name one with --target BRANCH.")
	}
	if git.CheckRef(name) != nil {
		return refuse(quoteTruncated(name)+" is not a valid branch name", "Name a branch of this repository.")
	}
	if git.MatchesBranch(protected, name) {
		return refuse("branch "+name+" is protected by git.protected", "Name another branch, or change git.protected.")
	}
	if p.refExists(ctx, "refs/heads/"+name) {
		return name, nil
	}
	short := strings.TrimPrefix(name, "refs/remotes/")
	_, local, _ := strings.Cut(short, "/")
	switch {
	case p.refExists(ctx, "refs/remotes/"+short):
		return refuse(short+" is a remote-tracking branch, which only git fetch moves",
			"Name a local branch, such as "+local+", and push that.")
	case p.refExists(ctx, "refs/tags/"+strings.TrimPrefix(name, "refs/tags/")):
		return refuse(name+" is a tag, and tags do not move", "Name a local branch.")
	}
	return refuse("there is no branch "+name, "Create it first: git branch "+name+"; or name another.")
}

func (p *Repository) refExists(ctx context.Context, ref string) bool {
	_, err := p.Repo.Resolve(ctx, ref)
	return err == nil
}
