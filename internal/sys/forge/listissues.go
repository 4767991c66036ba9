package forge

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// ListedIssue is an open issue in a list.
type ListedIssue struct {
	Number int
	Title  string
	Web    string
	Labels []string
}

// ListIssues returns at most `most` open issues of a project, the newest first, and the number of issues
// by authors outside of the project, which are left out. GitLab shows membership only to a token.
func (c Client) ListIssues(ctx context.Context, r IssueRef, most int) (all []ListedIssue, others int, err error) {
	if r.Kind == GitLab {
		return c.listGitLab(ctx, r, most)
	}
	var answer []struct {
		Number      int    `json:"number"`
		Title       string `json:"title"`
		Web         string `json:"html_url"`
		Association string `json:"author_association"`
		Request     *struct {
			URL string `json:"url"`
		} `json:"pull_request"`
		Labels []struct {
			Name string `json:"name"`
		} `json:"labels"`
	}
	path := fmt.Sprintf("/repos/%s/issues?state=open&sort=created&per_page=100", r.Project)
	if _, err := c.callAPI(ctx, r, http.MethodGet, path, nil, &answer); err != nil {
		return nil, 0, err
	}
	for _, one := range answer {
		switch {
		case one.Request != nil || one.Number <= 0 || len(all) == most:
			continue
		case !slices.Contains([]string{"OWNER", "MEMBER", "COLLABORATOR"}, one.Association):
			others++
			continue
		}
		l := ListedIssue{Number: one.Number, Title: one.Title, Web: one.Web}
		for _, label := range one.Labels {
			l.Labels = append(l.Labels, label.Name)
		}
		all = append(all, l)
	}
	return all, others, nil
}

// listGitLab lists the issues by developers of a project, and by members with more rights.
func (c Client) listGitLab(ctx context.Context, r IssueRef, most int) (all []ListedIssue, others int, err error) {
	if r.Token == "" {
		return nil, 0, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "the issues of GitLab are not listed: it shows the members of a project only with a token",
			Hint: "Set GITLAB_TOKEN to a token that may read " + r.Project + ".",
		}
	}
	var answer []struct {
		Number       int          `json:"iid"`
		Title        string       `json:"title"`
		Web          string       `json:"web_url"`
		Author       gitLabAuthor `json:"author"`
		Confidential bool         `json:"confidential"`
		Labels       []string     `json:"labels"`
	}
	path := fmt.Sprintf("/projects/%s/issues?state=opened&order_by=created_at&sort=desc&per_page=100", url.PathEscape(r.Project))
	if _, err := c.callAPI(ctx, r, http.MethodGet, path, nil, &answer); err != nil {
		return nil, 0, err
	}
	belongs := map[int64]bool{}
	for _, one := range answer {
		if one.Number <= 0 || one.Confidential || len(all) == most {
			continue
		}
		may, known := belongs[one.Author.ID]
		if !known {
			if may, err = c.isMember(ctx, r, one.Author.ID); err != nil {
				return nil, 0, err
			}
			belongs[one.Author.ID] = may
		}
		if !may {
			others++
			continue
		}
		all = append(all, ListedIssue{Number: one.Number, Title: one.Title, Web: one.Web, Labels: one.Labels})
	}
	return all, others, nil
}
