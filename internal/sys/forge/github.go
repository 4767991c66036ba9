package forge

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-github/v89/github"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// gitHubProject is a project of GitHub.
type gitHubProject struct {
	client      Client
	ref         IssueRef
	api         *github.Client
	owner, name string
}

func (c Client) openGitHub(r IssueRef) (*gitHubProject, error) {
	if err := r.checkAddress(); err != nil {
		return nil, err
	}
	base := r.API + "/"
	options := []github.ClientOptionsFunc{github.WithHTTPClient(c.httpClient()), github.WithURLs(&base, nil), github.WithUserAgent("nexus"), github.WithDisableRateLimitCheck()}
	if r.Token != "" {
		options = append(options, github.WithAuthToken(r.Token))
	}
	api, err := github.NewClient(options...)
	if err != nil {
		return nil, r.explainError(err)
	}
	owner, name, _ := strings.Cut(r.Project, "/")
	return &gitHubProject{c, r, api, owner, name}, nil
}

// belongsToProject lists the associations of members of a project.
func belongsToProject(association string) bool {
	return slices.Contains([]string{"OWNER", "MEMBER", "COLLABORATOR"}, association)
}

func (p *gitHubProject) readIssue(ctx context.Context) (Issue, error) {
	var answer *github.Issue
	err := p.client.callWithRetry(ctx, p.ref, func(ctx context.Context) (err error) {
		answer, _, err = p.api.Issues.Get(ctx, p.owner, p.name, p.ref.Number)
		return err
	})
	if err != nil {
		return Issue{}, err
	}
	if answer.GetPullRequestLinks() != nil {
		return Issue{}, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: p.ref.Web + " is a pull request",
			Hint: "Give an issue, or review the branch with nexus review.",
		}
	}
	i := Issue{Title: answer.GetTitle(), Author: answer.GetUser().GetLogin(), Closed: answer.GetState() == "closed"}
	i.Body = i.visibleText(answer.GetBody())
	rights := writePermissionCache{project: p, known: map[string]bool{}, refused: p.ref.Token == ""}
	i.More, err = readPages(ctx, p.client, p.ref, maxPages, p.listComments, func(one *github.IssueComment) error {
		may, err := rights.authorCanWrite(ctx, one)
		if err == nil {
			i.addComment(IssueComment{strconv.FormatInt(one.GetID(), 10), one.GetUser().GetLogin(), one.GetBody()}, may)
		}
		return err
	})
	i.Unproved = rights.refused
	return i, err
}

// listComments returns a page of the issue's comments, the oldest first.
func (p *gitHubProject) listComments(ctx context.Context, page int) ([]*github.IssueComment, int, error) {
	all, resp, err := p.api.Issues.ListComments(ctx, p.owner, p.name, p.ref.Number, &github.IssueListCommentsOptions{
		Sort: github.Ptr("created"), ListOptions: github.ListOptions{Page: page, PerPage: 100},
	})
	if err != nil {
		return nil, 0, err
	}
	return all, resp.NextPage, nil
}

// writePermissionCache checks and caches who may write to a project of GitHub.
type writePermissionCache struct {
	project *gitHubProject
	known   map[string]bool
	refused bool // the API refused the check
}

// authorCanWrite reports whether the author of a comment may write to the project. If that cannot be
// checked, members of the project count. Strangers are not checked: there may be thousands.
func (a *writePermissionCache) authorCanWrite(ctx context.Context, one *github.IssueComment) (bool, error) {
	belongs := belongsToProject(one.GetAuthorAssociation())
	if !belongs && one.GetAuthorAssociation() != "CONTRIBUTOR" || strings.HasPrefix(one.GetBody(), commentMark) {
		return false, nil
	}
	author := one.GetUser().GetLogin()
	if may, ok := a.known[author]; ok {
		return may, nil
	}
	if a.refused {
		return belongs, nil
	}
	p := a.project
	var answer *github.RepositoryPermissionLevel
	err := p.client.callWithRetry(ctx, p.ref, func(ctx context.Context) (err error) {
		answer, _, err = p.api.Repositories.GetPermissionLevel(ctx, p.owner, p.name, author)
		return err
	})
	switch {
	case hasStatus(err, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound):
		a.refused = true
		return belongs, nil
	case err != nil:
		return false, err
	}
	right := []string{"admin", "maintain", "write"}
	may := slices.Contains(right, answer.GetPermission()) || slices.Contains(right, answer.GetRoleName())
	a.known[author] = may
	return may, nil
}

// findComment calls visit with each comment, and whether this token's user wrote it. The token of an app
// cannot ask for its user: its comments are those of a bot.
func (p *gitHubProject) findComment(ctx context.Context, visit func(id int64, body string, mine bool)) (more bool, err error) {
	me := ""
	err = p.client.callWithRetry(ctx, p.ref, func(ctx context.Context) error {
		user, _, err := p.api.Users.Get(ctx, "")
		me = user.GetLogin()
		return err
	})
	bot := hasStatus(err, http.StatusForbidden)
	if err != nil && !bot {
		return false, err
	}
	return readPages(ctx, p.client, p.ref, maxSought, p.listComments, func(one *github.IssueComment) error {
		author := one.GetUser()
		visit(one.GetID(), one.GetBody(), bot && author.GetType() == "Bot" || !bot && strings.EqualFold(author.GetLogin(), me))
		return nil
	})
}

func (p *gitHubProject) updateComment(ctx context.Context, id int64, text string) error {
	return p.client.callWithRetry(ctx, p.ref, func(ctx context.Context) error {
		_, _, err := p.api.Issues.EditComment(ctx, p.owner, p.name, id, &github.IssueComment{Body: &text})
		return err
	})
}

func (p *gitHubProject) addComment(ctx context.Context, text string) (int64, error) {
	made, _, err := p.api.Issues.CreateComment(ctx, p.owner, p.name, p.ref.Number, &github.IssueComment{Body: &text})
	return made.GetID(), p.ref.explainError(err)
}

// listIssues lists the issues by members of a project.
func (p *gitHubProject) listIssues(ctx context.Context, most int) (all []ListedIssue, others int, err error) {
	var answer []*github.Issue
	err = p.client.callWithRetry(ctx, p.ref, func(ctx context.Context) (err error) {
		answer, _, err = p.api.Issues.ListByRepo(ctx, p.owner, p.name, &github.IssueListByRepoOptions{
			State: "open", Sort: "created", ListOptions: github.ListOptions{PerPage: 100},
		})
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	for _, one := range answer {
		switch {
		case one.GetPullRequestLinks() != nil || one.GetNumber() <= 0 || len(all) == most:
			continue
		case !belongsToProject(one.GetAuthorAssociation()):
			others++
			continue
		}
		l := ListedIssue{Number: one.GetNumber(), Title: one.GetTitle(), Web: one.GetHTMLURL()}
		for _, label := range one.Labels {
			l.Labels = append(l.Labels, label.GetName())
		}
		all = append(all, l)
	}
	return all, others, nil
}

func (p *gitHubProject) getPull(ctx context.Context, number int) (PullRequest, error) {
	var answer *github.PullRequest
	err := p.client.callWithRetry(ctx, p.ref, func(ctx context.Context) (err error) {
		answer, _, err = p.api.PullRequests.Get(ctx, p.owner, p.name, number)
		return err
	})
	return fromGitHubPullRequest(answer), err
}

// listPulls lists the pull requests in a state, open or all, with the same branch, of the project itself,
// and base.
func (p *gitHubProject) listPulls(ctx context.Context, like PullRequest, state string) (all []PullRequest, err error) {
	list := func(ctx context.Context, page int) ([]*github.PullRequest, int, error) {
		found, resp, err := p.api.PullRequests.List(ctx, p.owner, p.name, &github.PullRequestListOptions{
			State: state, Head: p.owner + ":" + like.Branch, Base: like.Base, ListOptions: github.ListOptions{Page: page, PerPage: 100},
		})
		if err != nil {
			return nil, 0, err
		}
		return found, resp.NextPage, nil
	}
	_, err = readPages(ctx, p.client, p.ref, maxPages, list, func(one *github.PullRequest) error {
		pull := fromGitHubPullRequest(one)
		if pull.Branch == like.Branch && pull.Base == like.Base && strings.EqualFold(one.GetHead().GetRepo().GetFullName(), p.ref.Project) {
			all = append(all, pull)
		}
		return nil
	})
	return all, err
}

func (p *gitHubProject) openPull(ctx context.Context, n PullRequest) (PullRequest, error) {
	made, _, err := p.api.PullRequests.Create(ctx, p.owner, p.name, &github.NewPullRequest{Title: &n.Title, Body: &n.Body, Head: &n.Branch, Base: &n.Base})
	return fromGitHubPullRequest(made), p.ref.explainError(err)
}

func (p *gitHubProject) updatePull(ctx context.Context, number int, n PullRequest) (PullRequest, error) {
	var answer *github.PullRequest
	err := p.client.callWithRetry(ctx, p.ref, func(ctx context.Context) (err error) {
		answer, _, err = p.api.PullRequests.Edit(ctx, p.owner, p.name, number, &github.PullRequest{Title: &n.Title, Body: &n.Body})
		return err
	})
	return fromGitHubPullRequest(answer), err
}

func fromGitHubPullRequest(p *github.PullRequest) PullRequest {
	one := PullRequest{
		Number: p.GetNumber(), Web: p.GetHTMLURL(), State: PullOpen, Branch: p.GetHead().GetRef(), Base: p.GetBase().GetRef(), Commit: p.GetHead().GetSHA(),
	}
	switch {
	case p.GetMerged() || !p.GetMergedAt().IsZero():
		one.State = PullMerged
	case p.GetState() == "closed":
		one.State = PullClosed
	}
	return one
}
