package forge

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// commentMark is the prefix of every comment that Nexus writes. Forges do not show it.
const commentMark = "<!-- nexus:"

// RunMark returns the first line of the comment about a run, which identifies the comment.
func RunMark(run string) string { return commentMark + run + " -->\n" }

// FindComment returns the ID of the comment of this token's user that begins with a mark, or "". The
// token of an app cannot ask for its user: its comments are those of a bot.
func (c Client) FindComment(ctx context.Context, r IssueRef, mark string) (string, error) {
	me, err := c.userName(ctx, r)
	bot := r.Kind == GitHub && hasStatus(err, http.StatusForbidden)
	if err != nil && !bot {
		return "", err
	}
	found, more := "", false
	look := func(id int64, body string, mine bool) {
		if found == "" && mine && strings.HasPrefix(strings.ReplaceAll(body, "\r\n", "\n"), mark) {
			found = strconv.FormatInt(id, 10)
		}
	}
	if r.Kind == GitLab {
		more, err = readPages(ctx, c, r, gitLabNotesPath(r), maxSought, func(one gitLabNote) error {
			look(one.ID, one.Body, strings.EqualFold(one.Author.Name, me))
			return nil
		})
	} else {
		more, err = readPages(ctx, c, r, gitHubCommentsPath(r), maxSought, func(one gitHubComment) error {
			look(one.ID, one.Body, bot && one.User.Type == "Bot" || !bot && strings.EqualFold(one.User.Login, me))
			return nil
		})
	}
	if more && found == "" && err == nil { // otherwise a second comment could be written if it is on a later page
		return "", r.explainError(fmt.Errorf("the issue has more than %d comments, and the one of this run is not among them", maxSought*100))
	}
	return found, err
}

// WriteComment writes a comment, a new one if id is "", and returns its ID. A comment that was deleted is
// written again.
func (c Client) WriteComment(ctx context.Context, r IssueRef, id, text string) (string, error) {
	send := map[string]string{"body": text}
	if id != "" {
		method, path := http.MethodPatch, fmt.Sprintf("/repos/%s/issues/comments/%s", r.Project, id)
		if r.Kind == GitLab {
			method, path = http.MethodPut, fmt.Sprintf("/projects/%s/issues/%d/notes/%s", url.PathEscape(r.Project), r.Number, id)
		}
		_, err := c.callAPI(ctx, r, method, path, send, nil)
		if !hasStatus(err, http.StatusNotFound, http.StatusGone) {
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
	if _, err := c.callAPI(ctx, r, http.MethodPost, r.issuePath()+path, send, &made); err != nil {
		return "", err
	}
	return strconv.FormatInt(made.ID, 10), nil
}
