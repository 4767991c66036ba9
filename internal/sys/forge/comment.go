package forge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// mark begins every comment that Nexus writes. Forges do not show it.
const mark = "<!-- nexus:"

// Mark is the first line of the comment about a run: by it, the comment is found again.
func Mark(run string) string { return mark + run + " -->\n" }

// Find returns the ID of the comment of this token's user that begins with a mark; empty for none.
func (c Client) Find(ctx context.Context, r Ref, mark string) (string, error) {
	list := "/comments?per_page=100&page="
	if r.Kind == GitLab {
		list = notes
	}
	for page := 1; page <= maxPages; page++ {
		var all []struct {
			ID   int64  `json:"id"`
			Body string `json:"body"`
		}
		if err := c.call(ctx, r, http.MethodGet, r.path()+list+strconv.Itoa(page), nil, &all); err != nil {
			return "", err
		}
		for _, one := range all {
			if strings.HasPrefix(strings.ReplaceAll(one.Body, "\r\n", "\n"), mark) {
				return strconv.FormatInt(one.ID, 10), nil
			}
		}
		if len(all) < 100 {
			break
		}
	}
	return "", nil
}

// Write writes a comment, a new one where id is empty, and returns its ID. A comment that somebody deleted
// is written anew.
func (c Client) Write(ctx context.Context, r Ref, id, text string) (string, error) {
	send := map[string]string{"body": text}
	if id != "" {
		method, path := http.MethodPatch, fmt.Sprintf("/repos/%s/issues/comments/%s", r.Project, id)
		if r.Kind == GitLab {
			method, path = http.MethodPut, fmt.Sprintf("/projects/%s/issues/%d/notes/%s", url.PathEscape(r.Project), r.Number, id)
		}
		err := c.call(ctx, r, method, path, send, nil)
		if e, ok := errors.AsType[*statusError](err); !ok || e.code != http.StatusNotFound && e.code != http.StatusGone {
			return id, err
		}
	}
	path := "/comments"
	if r.Kind == GitLab {
		path = "/notes"
	}
	var made struct {
		ID int64 `json:"id"`
	}
	if err := c.call(ctx, r, http.MethodPost, r.path()+path, send, &made); err != nil {
		return "", err
	}
	return strconv.FormatInt(made.ID, 10), nil
}
