package forge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// ParseProjectOfRemote returns the project of a remote's URL. Its Web is the URL of the project, and its Number
// is 0.
func ParseProjectOfRemote(remote string, env EnvLookup) (IssueRef, error) {
	r, err := issueOfRemote("1", remote, env)
	if err != nil {
		return IssueRef{}, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "the remote origin is not a project on a forge that Nexus knows", Cause: err,
			Hint: "Set it with git remote, or set GITHUB_SERVER_URL or CI_SERVER_URL for a server of your own.",
		}
	}
	r.Web, _, _ = strings.Cut(strings.TrimSuffix(r.Web, "/issues/1"), "/-/")
	r.Web, r.Number = strings.TrimSuffix(r.Web, "/-"), 0
	return r, nil
}

// CloneAddress returns the URL for git clone, and the user name that belongs to the token.
func (r IssueRef) CloneAddress() (address, user string) {
	if r.Kind == GitLab {
		return r.Web + ".git", "oauth2"
	}
	return r.Web + ".git", "x-access-token"
}

// PullRequest is a pull request of GitHub, or a merge request of GitLab.
type PullRequest struct {
	Branch string // branch of the project itself to be merged
	Base   string // branch to merge into
	Title  string
	Body   string

	Number int
	Web    string
	State  PullRequestState
	Commit string // head of its branch, now or when it ended, if the forge reports it
}

// PullRequestState is the state of a pull request.
type PullRequestState string

// The states of a pull request.
const (
	PullOpen   PullRequestState = "open"
	PullMerged PullRequestState = "merged"
	PullClosed PullRequestState = "closed" // without a merge
)

// GetPullRequest returns the current state of a pull request.
func (c Client) GetPullRequest(ctx context.Context, r IssueRef, number int) (PullRequest, error) {
	p, err := c.openProject(r)
	if err != nil {
		return PullRequest{}, r.pullError(err)
	}
	pull, err := p.getPull(ctx, number)
	return pull, r.pullError(err)
}

// OpenOrUpdatePullRequest updates the open pull request of a branch, or opens one if there is none. The
// branch must already be on the forge. After an interruption, it finds the pull request that the
// earlier call opened.
func (c Client) OpenOrUpdatePullRequest(ctx context.Context, r IssueRef, p PullRequest) (made PullRequest, fresh bool, err error) {
	project, err := c.openProject(r)
	if err != nil {
		return PullRequest{}, false, r.pullError(err)
	}
	all, err := project.listPulls(ctx, p, "open")
	if err != nil {
		return PullRequest{}, false, r.pullError(err)
	}
	at := slices.IndexFunc(all, func(one PullRequest) bool { return one.State == PullOpen })
	if at < 0 {
		made, err = project.openPull(ctx, p)
	} else {
		made, err = project.updatePull(ctx, all[at].Number, p)
	}
	if err != nil {
		return PullRequest{}, false, r.pullError(err)
	}
	if made.Number <= 0 {
		return PullRequest{}, false, fmt.Errorf("%s did not say which number the pull request has", r.Kind)
	}
	return made, at < 0, nil
}

// EndedPullRequests lists the merged and closed pull requests with the same branch and base.
func (c Client) EndedPullRequests(ctx context.Context, r IssueRef, p PullRequest) ([]PullRequest, error) {
	project, err := c.openProject(r)
	if err != nil {
		return nil, r.pullError(err)
	}
	all, err := project.listPulls(ctx, p, "all")
	return slices.DeleteFunc(all, func(one PullRequest) bool { return one.State == PullOpen }), r.pullError(err)
}

// pullError adds the next step to an error.
func (r IssueRef) pullError(err error) error {
	e, ok := errors.AsType[*nexus.Error](err)
	if !ok {
		return err
	}
	variable := "GITHUB_TOKEN"
	if r.Kind == GitLab {
		variable = "GITLAB_TOKEN"
	}
	said := *e
	said.Message = "pull requests of " + r.Web
	said.Hint = "Try again later, or push the branch by hand."
	if hasStatus(e.Cause, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound) {
		said.Hint = "Set " + variable + " to a token that may write to " + r.Project + " and open pull requests there."
	}
	return &said
}
