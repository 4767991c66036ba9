package forge

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Listed is an open issue, as a list of them has it.
type Listed struct {
	Number int
	Title  string
	Web    string
	Labels []string
}

// List returns the open issues of the project of an issue, the newest first, at most so many, and
// how many others wrote than those who belong to the project: these are left out. GitLab does not
// say there who may write, so that its issues are not listed.
func (c Client) List(ctx context.Context, r Ref, most int) (all []Listed, others int, err error) {
	if r.Kind != GitHub {
		return nil, 0, &nexus.Error{
			Code: nexus.CodeNotFound, Message: fmt.Sprintf("the issues of %s are not listed: it does not say who may write to the project", r.Kind),
			Hint: "Give one issue to nexus run by its address.",
		}
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
	if _, err := c.call(ctx, r, http.MethodGet, path, nil, &answer); err != nil {
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
		l := Listed{Number: one.Number, Title: one.Title, Web: one.Web}
		for _, label := range one.Labels {
			l.Labels = append(l.Labels, label.Name)
		}
		all = append(all, l)
	}
	return all, others, nil
}
