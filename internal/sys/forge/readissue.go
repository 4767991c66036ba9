package forge

import (
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/pattern"
)

const (
	maxAnswer = 4 << 20   // bytes of one response of a forge
	maxPages  = 20        // read pages of 100 comments each
	maxSought = 100       // pages searched for our own comment
	maxText   = 100 << 10 // bytes of a fetched text
)

func gitHubCommentsPath(r IssueRef) string { return r.issuePath() + "/comments?sort=created" }

func gitLabNotesPath(r IssueRef) string { return r.issuePath() + "/notes?sort=asc&order_by=created_at" }

// Issue is an issue of a forge.
type Issue struct {
	Title, Body, Author string
	Closed              bool
	Comments            []IssueComment // by people with write access, the oldest first
	Left                int            // comments of others
	Hidden              int            // removed HTML comments and link titles, which the forge does not show
	More                bool           // there are more comments than were read
	Unread              bool           // comments not read: GitLab shows them only to a token
	Unproved            bool           // write access could not be checked: membership counts instead
}

// IssueComment is a comment on an issue.
type IssueComment struct {
	ID           string
	Author, Body string
}

// GoalText returns the issue as a goal: its title, its text, and the comments of people with write
// access to the project.
func (i Issue) GoalText(r IssueRef) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n", strings.TrimSpace(i.Title), strings.TrimSpace(i.Body))
	if len(i.Comments) > 0 {
		b.WriteString("\nWhat was said about it:\n")
	}
	for _, c := range i.Comments {
		fmt.Fprintf(&b, "\n%s: %s\n", c.Author, strings.TrimSpace(c.Body))
	}
	fmt.Fprintf(&b, "\n(%s)\n", r.Web)
	return strings.ToValidUTF8(strings.ReplaceAll(b.String(), "\r\n", "\n"), "\uFFFD")
}

// ReadIssue reads an issue and its comments.
func (c Client) ReadIssue(ctx context.Context, r IssueRef) (Issue, error) {
	if r.Kind == GitLab {
		return c.readGitLab(ctx, r)
	}
	return c.readGitHub(ctx, r)
}

type gitHubComment struct {
	ID   int64  `json:"id"`
	Body string `json:"body"`
	User struct {
		Login string `json:"login"`
		Type  string `json:"type"`
	} `json:"user"`
	Association string `json:"author_association"`
}

func (r IssueRef) issuePath() string {
	if r.Kind == GitLab {
		return fmt.Sprintf("/projects/%s/issues/%d", url.PathEscape(r.Project), r.Number)
	}
	return fmt.Sprintf("/repos/%s/issues/%d", r.Project, r.Number)
}

func (c Client) readGitHub(ctx context.Context, r IssueRef) (Issue, error) {
	var answer struct {
		gitHubComment

		Title   string           `json:"title"`
		State   string           `json:"state"`
		Request *json.RawMessage `json:"pull_request"`
	}
	if _, err := c.callAPI(ctx, r, http.MethodGet, r.issuePath(), nil, &answer); err != nil {
		return Issue{}, err
	}
	if answer.Request != nil {
		return Issue{}, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: r.Web + " is a pull request",
			Hint: "Give an issue, or review the branch with nexus review.",
		}
	}
	i := Issue{Title: answer.Title, Author: answer.User.Login, Closed: answer.State == "closed"}
	i.Body = i.visibleText(answer.Body)
	rights := writePermissions{c: c, r: r, known: map[string]bool{}, refused: r.Token == ""}
	var err error
	i.More, err = readPages(ctx, c, r, gitHubCommentsPath(r), maxPages, func(one gitHubComment) error {
		may, err := rights.canWrite(ctx, one)
		if err == nil {
			i.addComment(IssueComment{strconv.FormatInt(one.ID, 10), one.User.Login, one.Body}, may)
		}
		return err
	})
	i.Unproved = rights.refused
	return i, err
}

// writePermissions checks and caches who may write to a project of GitHub.
type writePermissions struct {
	c       Client
	r       IssueRef
	known   map[string]bool
	refused bool // the API refused the check
}

// canWrite reports whether the author of a comment may write to the project. If that cannot be
// checked, members of the project count. Strangers are not checked: there may be thousands.
func (a *writePermissions) canWrite(ctx context.Context, one gitHubComment) (bool, error) {
	belongs := slices.Contains([]string{"OWNER", "MEMBER", "COLLABORATOR"}, one.Association)
	if !belongs && one.Association != "CONTRIBUTOR" || strings.HasPrefix(one.Body, commentMark) {
		return false, nil
	}
	if may, ok := a.known[one.User.Login]; ok {
		return may, nil
	}
	if a.refused {
		return belongs, nil
	}
	var answer struct {
		Permission string `json:"permission"`
		Role       string `json:"role_name"`
	}
	at := fmt.Sprintf("/repos/%s/collaborators/%s/permission", a.r.Project, url.PathEscape(one.User.Login))
	_, err := a.c.callAPI(ctx, a.r, http.MethodGet, at, nil, &answer)
	switch {
	case hasStatus(err, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound):
		a.refused = true
		return belongs, nil
	case err != nil:
		return false, err
	}
	right := []string{"admin", "maintain", "write"}
	may := slices.Contains(right, answer.Permission) || slices.Contains(right, answer.Role)
	a.known[one.User.Login] = may
	return may, nil
}

// addComment adds a comment, unless Nexus or somebody without write access wrote it.
func (i *Issue) addComment(c IssueComment, writes bool) {
	switch {
	case strings.HasPrefix(c.Body, commentMark):
	case writes:
		c.Body = i.visibleText(c.Body)
		i.Comments = append(i.Comments, c)
	default:
		i.Left++
	}
}

// linkDefinitionPattern matches the URL of a link that is defined apart from the text. Its title and an
// invalid URL are never shown, so people use the form for comments: [//]: # (a comment).
var linkDefinitionPattern = pattern.LazyRegexp(`(?m)^([ \t>*+-]*\[[^\]\n]+\]:[ \t]*)(<[^<>\n]*>|\S+)` +
	`((?:[ \t]+|[ \t]*\n[ \t]*)(?:"[^"]*"|'[^']*'|\([^()]*\)))?[ \t]*$`)

// visibleText returns the part of a text that a forge shows: without HTML comments (one without an
// end extends to the end), and without the titles of links that are defined apart from the text.
func (i *Issue) visibleText(text string) string {
	var b strings.Builder
	for open := true; open; {
		var before, rest string
		before, rest, open = strings.Cut(text, "<!--")
		b.WriteString(before)
		if open {
			i.Hidden++
			b.WriteByte(' ') // prevents joining the text on both sides
			_, text, _ = strings.Cut(rest, "-->")
		}
	}
	return linkDefinitionPattern().ReplaceAllStringFunc(strings.ReplaceAll(b.String(), "\r\n", "\n"), func(whole string) string {
		m := linkDefinitionPattern().FindStringSubmatch(whole)
		switch spaced := strings.Contains(m[2], " "); {
		case m[3] == "" && !spaced:
			return whole
		case spaced || m[2] == "#" || m[2] == "<>":
			i.Hidden++
			return ""
		default:
			i.Hidden++
			return m[1] + m[2]
		}
	})
}

type gitLabAuthor struct {
	ID   int64  `json:"id"`
	Name string `json:"username"`
}

type gitLabNote struct {
	ID           int64        `json:"id"`
	Body         string       `json:"body"`
	System       bool         `json:"system"`
	Internal     bool         `json:"internal"`
	Confidential bool         `json:"confidential"` // its name on older servers
	Author       gitLabAuthor `json:"author"`
}

func (c Client) readGitLab(ctx context.Context, r IssueRef) (Issue, error) {
	var answer struct {
		Title  string       `json:"title"`
		Body   string       `json:"description"`
		State  string       `json:"state"`
		Author gitLabAuthor `json:"author"`
	}
	if _, err := c.callAPI(ctx, r, http.MethodGet, r.issuePath(), nil, &answer); err != nil {
		return Issue{}, err
	}
	i := Issue{Title: answer.Title, Author: answer.Author.Name, Closed: answer.State == "closed"}
	i.Body = i.visibleText(answer.Body)
	if r.Token == "" { // even of a public issue, comments are only for logged-in users
		i.Unread = true
		return i, nil
	}
	writes := map[int64]bool{}
	var err error
	i.More, err = readPages(ctx, c, r, gitLabNotesPath(r), maxPages, func(one gitLabNote) error {
		if one.System || one.Internal || one.Confidential {
			return nil
		}
		may, known := writes[one.Author.ID]
		if !known {
			var err error
			if may, err = c.isMember(ctx, r, one.Author.ID); err != nil {
				return err
			}
			writes[one.Author.ID] = may
		}
		i.addComment(IssueComment{strconv.FormatInt(one.ID, 10), one.Author.Name, one.Body}, may)
		return nil
	})
	return i, err
}

// isMember reports whether somebody may write to a project of GitLab: a developer, or more.
func (c Client) isMember(ctx context.Context, r IssueRef, id int64) (bool, error) {
	const developer = 30
	var answer struct {
		Level int `json:"access_level"`
	}
	_, err := c.callAPI(ctx, r, http.MethodGet, fmt.Sprintf("/projects/%s/members/all/%d", url.PathEscape(r.Project), id), nil, &answer)
	if hasStatus(err, http.StatusNotFound) {
		return false, nil
	}
	return answer.Level >= developer, err
}

// FetchText returns the text at a URL.
func (c Client) FetchText(ctx context.Context, address string) (string, error) {
	u, err := url.Parse(address)
	fail := func(why string, cause error) error {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "fetch " + address + ": " + why, Cause: cause,
			Hint: "Give the address of a text, such as a raw Markdown file, or a file with -f.",
		}
	}
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())) {
		return "", fail("it is no https address", nil)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", fail("it is no address", err)
	}
	req.Header.Set("User-Agent", "nexus")
	req.Header.Set("Accept", "text/markdown, text/plain;q=0.9")
	data, header, err := c.readAnswer(req)
	if err != nil {
		return "", fail("it cannot be read", err)
	}
	kind, _, _ := mime.ParseMediaType(header.Get("Content-Type")) // an invalid type counts as none
	switch {
	case kind != "" && !strings.HasPrefix(kind, "text/") || kind == "text/html":
		return "", fail("it is "+kind+", not plain text", nil)
	case len(data) > maxText:
		return "", fail(fmt.Sprintf("it has %d bytes, the maximum is %d", len(data), maxText), nil)
	case !utf8.Valid(data):
		return "", fail("it is not UTF-8", nil)
	}
	return string(data), nil
}
