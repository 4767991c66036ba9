package forge

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// commentMark is the prefix of every comment that Nexus writes. Forges do not show it.
const commentMark = "<!-- nexus:"

// RunCommentMark returns the first line of the comment about a run, which identifies the comment.
func RunCommentMark(run string) string { return commentMark + run + " -->\n" }

// FindComment returns the ID of the comment of this token's user that begins with a mark, or "". The
// token of an app cannot ask for its user: its comments are those of a bot.
func (c Client) FindComment(ctx context.Context, r IssueRef, mark string) (string, error) {
	p, err := c.openProject(r)
	if err != nil {
		return "", err
	}
	found := ""
	more, err := p.findComment(ctx, func(id int64, body string, mine bool) {
		if found == "" && mine && strings.HasPrefix(strings.ReplaceAll(body, "\r\n", "\n"), mark) {
			found = strconv.FormatInt(id, 10)
		}
	})
	if more && found == "" && err == nil { // otherwise a second comment could be written if it is on a later page
		return "", r.explainError(fmt.Errorf("the issue has more than %d comments, and the one of this run is not among them", maxSought*100))
	}
	return found, err
}

// WriteComment writes a comment, a new one if id is "", and returns its ID. A comment that was deleted is
// written again.
func (c Client) WriteComment(ctx context.Context, r IssueRef, id, text string) (string, error) {
	p, err := c.openProject(r)
	if err != nil {
		return "", err
	}
	if n, wrong := strconv.ParseInt(id, 10, 64); wrong == nil {
		err := p.updateComment(ctx, n, text)
		if !hasStatus(err, http.StatusNotFound, http.StatusGone) {
			return id, err
		}
	}
	made, err := p.addComment(ctx, text)
	if err != nil {
		return "", err
	}
	return strconv.FormatInt(made, 10), nil
}
