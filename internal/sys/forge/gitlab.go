package forge

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	gitlab "gitlab.com/gitlab-org/api/client-go"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// gitLabProject is a project of GitLab.
type gitLabProject struct {
	client Client
	ref    IssueRef
	api    *gitlab.Client
	rights map[int64]bool // by user: may write
}

func (c Client) openGitLab(r IssueRef) (*gitLabProject, error) {
	if err := r.checkAddress(); err != nil {
		return nil, err
	}
	var login gitlab.AuthSource = gitlab.Unauthenticated{}
	if r.Token != "" {
		login = gitlab.AccessTokenAuthSource{Token: r.Token}
	}
	api, err := gitlab.NewAuthSourceClient(login, gitlab.WithBaseURL(r.API), gitlab.WithHTTPClient(c.httpClient()), gitlab.WithUserAgent("nexus"),
		gitlab.WithoutRetries(), gitlab.WithURLWarningLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		return nil, r.explainError(err)
	}
	return &gitLabProject{c, r, api, map[int64]bool{}}, nil
}

// gitLabIssue is an issue of GitLab.
type gitLabIssue struct {
	IID          int                `json:"iid"`
	Title        string             `json:"title"`
	Description  string             `json:"description"`
	State        string             `json:"state"`
	WebURL       string             `json:"web_url"`
	Author       gitlab.IssueAuthor `json:"author"`
	Confidential bool               `json:"confidential"`
	Labels       []string           `json:"labels"`
}

// callProject calls a path below the project, and returns the number of the next page, if any. It is used
// for issues and merge requests, where the library's own methods panic on an answer without an ID, with
// null in a list, or with labels of two kinds.
func callProject[T any](ctx context.Context, p *gitLabProject, method, path string, options any) (answer T, next int, err error) {
	r, err := p.api.NewRequest(method, "projects/"+gitlab.PathEscape(p.ref.Project)+path, options, []gitlab.RequestOptionFunc{gitlab.WithContext(ctx)})
	if err != nil {
		return answer, 0, err
	}
	resp, err := p.api.Do(r, &answer)
	if err != nil {
		return answer, 0, err
	}
	return answer, int(resp.NextPage), nil
}

func (p *gitLabProject) issueNumber() int64 { return int64(p.ref.Number) }

func (p *gitLabProject) readIssue(ctx context.Context) (Issue, error) {
	var answer gitLabIssue
	err := p.client.callWithRetry(ctx, p.ref, func(ctx context.Context) (err error) {
		answer, _, err = callProject[gitLabIssue](ctx, p, http.MethodGet, fmt.Sprintf("/issues/%d", p.ref.Number), nil)
		return err
	})
	if err != nil {
		return Issue{}, err
	}
	i := Issue{Title: answer.Title, Author: answer.Author.Username, Closed: answer.State == "closed"}
	i.Body = i.visibleText(answer.Description)
	if p.ref.Token == "" { // even of a public issue, comments are only for logged-in users
		i.Unread = true
		return i, nil
	}
	i.More, err = readPages(ctx, p.client, p.ref, maxPages, p.listNotes, func(one *gitlab.Note) error {
		//nolint:staticcheck // Confidential is what older servers call Internal
		if one == nil || one.System || one.Internal || one.Confidential {
			return nil
		}
		may, err := p.canWrite(ctx, one.Author.ID)
		if err == nil {
			i.addComment(IssueComment{strconv.FormatInt(one.ID, 10), one.Author.Username, one.Body}, may)
		}
		return err
	})
	return i, err
}

// listNotes returns a page of the issue's comments, the oldest first.
func (p *gitLabProject) listNotes(ctx context.Context, page int) ([]*gitlab.Note, int, error) {
	all, resp, err := p.api.Notes.ListIssueNotes(p.ref.Project, p.issueNumber(), &gitlab.ListIssueNotesOptions{
		ListOptions: gitlab.ListOptions{Page: int64(page), PerPage: 100}, Sort: gitlab.Ptr("asc"), OrderBy: gitlab.Ptr("created_at"),
	}, gitlab.WithContext(ctx))
	if err != nil {
		return nil, 0, err
	}
	return all, int(resp.NextPage), nil
}

// authorCanWrite reports whether somebody may write to the project: a developer, or more.
func (p *gitLabProject) canWrite(ctx context.Context, id int64) (bool, error) {
	if may, known := p.rights[id]; known {
		return may, nil
	}
	may := false
	err := p.client.callWithRetry(ctx, p.ref, func(ctx context.Context) error {
		member, _, err := p.api.ProjectMembers.GetInheritedProjectMember(p.ref.Project, id, gitlab.WithContext(ctx))
		may = err == nil && member != nil && member.AccessLevel >= gitlab.DeveloperPermissions
		return err
	})
	if err != nil && !hasStatus(err, http.StatusNotFound) {
		return false, err
	}
	p.rights[id] = may
	return may, nil
}

// findComment calls visit with each comment, and whether this token's user wrote it.
func (p *gitLabProject) findComment(ctx context.Context, visit func(id int64, body string, mine bool)) (more bool, err error) {
	me := ""
	err = p.client.callWithRetry(ctx, p.ref, func(ctx context.Context) error {
		user, _, err := p.api.Users.CurrentUser(gitlab.WithContext(ctx))
		if user != nil {
			me = user.Username
		}
		return err
	})
	if err != nil {
		return false, err
	}
	return readPages(ctx, p.client, p.ref, maxSought, p.listNotes, func(one *gitlab.Note) error {
		if one != nil {
			visit(one.ID, one.Body, strings.EqualFold(one.Author.Username, me))
		}
		return nil
	})
}

func (p *gitLabProject) updateComment(ctx context.Context, id int64, text string) error {
	return p.client.callWithRetry(ctx, p.ref, func(ctx context.Context) error {
		_, _, err := p.api.Notes.UpdateIssueNote(p.ref.Project, p.issueNumber(), id, &gitlab.UpdateIssueNoteOptions{Body: &text}, gitlab.WithContext(ctx))
		return err
	})
}

func (p *gitLabProject) addComment(ctx context.Context, text string) (int64, error) {
	made, _, err := p.api.Notes.CreateIssueNote(p.ref.Project, p.issueNumber(), &gitlab.CreateIssueNoteOptions{Body: &text}, gitlab.WithContext(ctx))
	if err != nil || made == nil {
		return 0, p.ref.explainError(err)
	}
	return made.ID, nil
}

// listIssues lists the issues by developers of a project, and by members with more rights.
func (p *gitLabProject) listIssues(ctx context.Context, most int) (all []ListedIssue, others int, err error) {
	if p.ref.Token == "" {
		return nil, 0, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "the issues of GitLab are not listed: it shows the members of a project only with a token",
			Hint: "Set GITLAB_TOKEN to a token that may read " + p.ref.Project + ".",
		}
	}
	var answer []gitLabIssue
	err = p.client.callWithRetry(ctx, p.ref, func(ctx context.Context) (err error) {
		answer, _, err = callProject[[]gitLabIssue](ctx, p, http.MethodGet, "/issues", &gitlab.ListProjectIssuesOptions{
			State: gitlab.Ptr("opened"), OrderBy: gitlab.Ptr("created_at"), Sort: gitlab.Ptr("desc"), ListOptions: gitlab.ListOptions{PerPage: 100},
		})
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	for _, one := range answer {
		if one.IID <= 0 || one.Confidential || len(all) == most {
			continue
		}
		may, err := p.canWrite(ctx, one.Author.ID)
		switch {
		case err != nil:
			return nil, 0, err
		case !may:
			others++
		default:
			all = append(all, ListedIssue{Number: one.IID, Title: one.Title, Web: one.WebURL, Labels: one.Labels})
		}
	}
	return all, others, nil
}

func (p *gitLabProject) getPull(ctx context.Context, number int) (PullRequest, error) {
	var answer gitlab.BasicMergeRequest
	err := p.client.callWithRetry(ctx, p.ref, func(ctx context.Context) (err error) {
		answer, _, err = callProject[gitlab.BasicMergeRequest](ctx, p, http.MethodGet, fmt.Sprintf("/merge_requests/%d", number), nil)
		return err
	})
	return fromGitLabMergeRequest(answer), err
}

// listPulls lists the merge requests in a state, open or all, with the same branch, of the project itself,
// and base.
func (p *gitLabProject) listPulls(ctx context.Context, like PullRequest, state string) (all []PullRequest, err error) {
	if state == "open" {
		state = "opened"
	}
	list := func(ctx context.Context, page int) ([]gitlab.BasicMergeRequest, int, error) {
		return callProject[[]gitlab.BasicMergeRequest](ctx, p, http.MethodGet, "/merge_requests", &gitlab.ListProjectMergeRequestsOptions{
			State: &state, SourceBranch: &like.Branch, TargetBranch: &like.Base, ListOptions: gitlab.ListOptions{Page: int64(page), PerPage: 100},
		})
	}
	_, err = readPages(ctx, p.client, p.ref, maxPages, list, func(one gitlab.BasicMergeRequest) error {
		if one.SourceBranch == like.Branch && one.TargetBranch == like.Base && one.SourceProjectID == one.TargetProjectID {
			all = append(all, fromGitLabMergeRequest(one))
		}
		return nil
	})
	return all, err
}

func (p *gitLabProject) openPull(ctx context.Context, n PullRequest) (PullRequest, error) {
	made, _, err := callProject[gitlab.BasicMergeRequest](ctx, p, http.MethodPost, "/merge_requests", &gitlab.CreateMergeRequestOptions{
		Title: &n.Title, Description: &n.Body, SourceBranch: &n.Branch, TargetBranch: &n.Base,
	})
	return fromGitLabMergeRequest(made), p.ref.explainError(err)
}

func (p *gitLabProject) updatePull(ctx context.Context, number int, n PullRequest) (PullRequest, error) {
	var answer gitlab.BasicMergeRequest
	err := p.client.callWithRetry(ctx, p.ref, func(ctx context.Context) (err error) {
		path := fmt.Sprintf("/merge_requests/%d", number)
		answer, _, err = callProject[gitlab.BasicMergeRequest](ctx, p, http.MethodPut, path, &gitlab.UpdateMergeRequestOptions{Title: &n.Title, Description: &n.Body})
		return err
	})
	return fromGitLabMergeRequest(answer), err
}

func fromGitLabMergeRequest(p gitlab.BasicMergeRequest) PullRequest {
	one := PullRequest{Number: int(p.IID), Web: p.WebURL, State: PullOpen, Branch: p.SourceBranch, Base: p.TargetBranch, Commit: p.SHA}
	switch {
	case p.State == "merged" || p.MergedAt != nil:
		one.State = PullMerged
	case p.State == "closed":
		one.State = PullClosed
	}
	return one
}
