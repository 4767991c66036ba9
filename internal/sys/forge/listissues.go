package forge

import "context"

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
	p, err := c.openProject(r)
	if err != nil {
		return nil, 0, err
	}
	return p.listIssues(ctx, most)
}
