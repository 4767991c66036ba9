package forge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// ParseProject returns the project of a remote's URL. Its Web is the URL of the project, and its Number
// is 0.
func ParseProject(remote string, env EnvLookup) (IssueRef, error) {
	r, err := refOfRemote("1", remote, env)
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
	State  PullState
	Commit string // head of its branch, now or when it ended, if the forge reports it
}

// PullState is the state of a pull request.
type PullState string

// The states of a pull request.
const (
	PullOpen   PullState = "open"
	PullMerged PullState = "merged"
	PullClosed PullState = "closed" // without a merge
)

// pullResponse is a pull request in the JSON of both forges.
type pullResponse struct {
	Number int     `json:"number"` // GitHub
	ID     int     `json:"iid"`    // GitLab
	Page   string  `json:"html_url"`
	Web    string  `json:"web_url"`
	State  string  `json:"state"`
	Merged *string `json:"merged_at"`
	Commit string  `json:"sha"` // GitLab
	Source string  `json:"source_branch"`
	Target string  `json:"target_branch"`
	From   int     `json:"source_project_id"`
	To     int     `json:"target_project_id"`
	Head   struct {
		Ref  string `json:"ref"`
		SHA  string `json:"sha"`
		Repo struct {
			Name string `json:"full_name"`
		} `json:"repo"`
	} `json:"head"`
	Base struct {
		Ref string `json:"ref"`
	} `json:"base"`
}

// isFor reports whether the pull request merges branch, of the project itself, into base.
func (p pullResponse) isFor(r IssueRef, branch, base string) bool {
	if r.Kind == GitLab {
		return p.Source == branch && p.Target == base && p.From == p.To
	}
	return p.Head.Ref == branch && p.Base.Ref == base && strings.EqualFold(p.Head.Repo.Name, r.Project)
}

func (p pullResponse) toPull(r IssueRef) PullRequest {
	one := PullRequest{Number: p.Number, Web: p.Page, State: PullOpen, Branch: p.Head.Ref, Base: p.Base.Ref, Commit: p.Head.SHA}
	if r.Kind == GitLab {
		one = PullRequest{Number: p.ID, Web: p.Web, State: PullOpen, Branch: p.Source, Base: p.Target, Commit: p.Commit}
	}
	switch {
	case p.State == "merged" || p.Merged != nil && *p.Merged != "":
		one.State = PullMerged
	case p.State == "closed":
		one.State = PullClosed
	}
	return one
}

// pullsPath returns the API path of a project's pull requests.
func (r IssueRef) pullsPath() string {
	if r.Kind == GitLab {
		return "/projects/" + url.PathEscape(r.Project) + "/merge_requests"
	}
	return "/repos/" + r.Project + "/pulls"
}

// GetPull returns the current state of a pull request.
func (c Client) GetPull(ctx context.Context, r IssueRef, number int) (PullRequest, error) {
	var p pullResponse
	_, err := c.callAPI(ctx, r, http.MethodGet, fmt.Sprintf("%s/%d", r.pullsPath(), number), nil, &p)
	return p.toPull(r), r.pullError(err)
}

// OpenOrUpdatePull updates the open pull request of a branch, or opens one if there is none. The
// branch must already be on the forge. After an interruption, it finds the pull request that the
// earlier call opened.
func (c Client) OpenOrUpdatePull(ctx context.Context, r IssueRef, p PullRequest) (made PullRequest, fresh bool, err error) {
	there, err := c.findOpenPull(ctx, r, p)
	if err != nil {
		return PullRequest{}, false, r.pullError(err)
	}
	send := map[string]string{"title": p.Title, "body": p.Body, "head": p.Branch, "base": p.Base}
	if r.Kind == GitLab {
		send = map[string]string{"title": p.Title, "description": p.Body, "source_branch": p.Branch, "target_branch": p.Base}
	}
	method, path := http.MethodPost, r.pullsPath()
	if there != nil {
		method, path = http.MethodPatch, fmt.Sprintf("%s/%d", path, there.Number)
		if r.Kind == GitLab {
			method = http.MethodPut
		}
		for _, name := range []string{"head", "base", "source_branch", "target_branch"} {
			delete(send, name)
		}
	}
	var answer pullResponse
	if _, err := c.callAPI(ctx, r, method, path, send, &answer); err != nil {
		return PullRequest{}, false, r.pullError(err)
	}
	made = answer.toPull(r)
	if made.Number <= 0 {
		return PullRequest{}, false, fmt.Errorf("%s did not say which number the pull request has", r.Kind)
	}
	return made, there == nil, nil
}

// findOpenPull returns the open pull request of a branch, or nil.
func (c Client) findOpenPull(ctx context.Context, r IssueRef, p PullRequest) (*PullRequest, error) {
	state := map[Kind]string{GitHub: "open", GitLab: "opened"}[r.Kind]
	all, err := c.listPulls(ctx, r, p, state)
	for _, one := range all {
		if one.State == PullOpen {
			return &one, err
		}
	}
	return nil, err
}

// EndedPulls lists the merged and closed pull requests with the same branch and base.
func (c Client) EndedPulls(ctx context.Context, r IssueRef, p PullRequest) ([]PullRequest, error) {
	all, err := c.listPulls(ctx, r, p, "all")
	return slices.DeleteFunc(all, func(one PullRequest) bool { return one.State == PullOpen }), r.pullError(err)
}

// listPulls lists the pull requests in a state with the same branch and base.
func (c Client) listPulls(ctx context.Context, r IssueRef, p PullRequest, state string) ([]PullRequest, error) {
	owner, _, _ := strings.Cut(r.Project, "/")
	query := url.Values{"state": {state}, "head": {owner + ":" + p.Branch}, "base": {p.Base}}
	if r.Kind == GitLab {
		query = url.Values{"state": {state}, "source_branch": {p.Branch}, "target_branch": {p.Base}}
	}
	var all []PullRequest
	_, err := readPages(ctx, c, r, r.pullsPath()+"?"+query.Encode(), maxPages, func(one pullResponse) error {
		if one.isFor(r, p.Branch, p.Base) {
			all = append(all, one.toPull(r))
		}
		return nil
	})
	return all, err
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
