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
	maxAnswer = 4 << 20   // bytes of one answer of a forge
	maxPages  = 20        // isFor 100 comments each that are read
	maxSought = 100       // isFor them that a comment of ours is sought on
	maxText   = 100 << 10 // bytes of a text that is fetched
)

func gitHubComments(r Ref) string { return r.path() + "/comments?sort=created" }

func gitLabNotes(r Ref) string { return r.path() + "/notes?sort=asc&order_by=created_at" }

// Issue is what a forge says of an issue.
type Issue struct {
	Title, Body, Author string
	Closed              bool
	Comments            []Comment // isFor those who may write to the project, the oldest first
	Left                int       // comments that others wrote
	Hidden              int       // HTML comments and titles of links that were taken out, which nobody sees on the forge
	More                bool      // there are more comments than are read
	Unread              bool      // the comments were not read: GitLab shows them for a token alone
	Unproved            bool      // who may write could not be asked: who belongs to the project counts
}

// Comment is what somebody said.
type Comment struct {
	ID           string
	Author, Body string
}

// Goal is the issue as a goal: its title, its text, and what people with a right
// to write to the project said about it.
func (i Issue) Goal(r Ref) string {
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

// Read reads an issue and what was said about it.
func (c Client) Read(ctx context.Context, r Ref) (Issue, error) {
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

func (r Ref) path() string {
	if r.Kind == GitLab {
		return fmt.Sprintf("/projects/%s/issues/%d", url.PathEscape(r.Project), r.Number)
	}
	return fmt.Sprintf("/repos/%s/issues/%d", r.Project, r.Number)
}

func (c Client) readGitHub(ctx context.Context, r Ref) (Issue, error) {
	var answer struct {
		gitHubComment

		Title   string           `json:"title"`
		State   string           `json:"state"`
		Request *json.RawMessage `json:"pull_request"`
	}
	if _, err := c.call(ctx, r, http.MethodGet, r.path(), nil, &answer); err != nil {
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
	i.More, err = pages(ctx, c, r, gitHubComments(r), maxPages, func(one gitHubComment) error {
		may, err := rights.canWrite(ctx, one)
		if err == nil {
			i.add(Comment{strconv.FormatInt(one.ID, 10), one.User.Login, one.Body}, may)
		}
		return err
	})
	i.Unproved = rights.refused
	return i, err
}

// writePermissions knows who may write to a project of GitHub.
type writePermissions struct {
	c       Client
	r       Ref
	known   map[string]bool
	refused bool // who may write cannot be asked
}

// canWrite reports whether the author of a comment may write to the project. Where that cannot be
// asked, who belongs to the project may. Strangers are not asked about: there may be thousands.
func (a *writePermissions) canWrite(ctx context.Context, one gitHubComment) (bool, error) {
	belongs := slices.Contains([]string{"OWNER", "MEMBER", "COLLABORATOR"}, one.Association)
	if !belongs && one.Association != "CONTRIBUTOR" || strings.HasPrefix(one.Body, mark) {
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
	_, err := a.c.call(ctx, a.r, http.MethodGet, at, nil, &answer)
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

// add takes over a comment, unless Nexus wrote it or somebody who may not write to
// the project.
func (i *Issue) add(c Comment, writes bool) {
	switch {
	case strings.HasPrefix(c.Body, mark):
	case writes:
		c.Body = i.visibleText(c.Body)
		i.Comments = append(i.Comments, c)
	default:
		i.Left++
	}
}

// definition is the address of a link, which stands apart from the text. Its title and what is no address are shown nowhere, so that
// people write comments so: [//]: # (a comment).
var definition = pattern.Lazy(`(?m)^([ \t>*+-]*\[[^\]\n]+\]:[ \t]*)(<[^<>\n]*>|\S+)` +
	`((?:[ \t]+|[ \t]*\n[ \t]*)(?:"[^"]*"|'[^']*'|\([^()]*\)))?[ \t]*$`)

// visibleText is what people see of a text on a forge: without HTML comments, of which one without an end goes to the end, and
// without the titles of links that are defined apart from the text.
func (i *Issue) visibleText(text string) string {
	var b strings.Builder
	for open := true; open; {
		var before, rest string
		before, rest, open = strings.Cut(text, "<!--")
		b.WriteString(before)
		if open {
			i.Hidden++
			b.WriteByte(' ') // what is around it joins to no other
			_, text, _ = strings.Cut(rest, "-->")
		}
	}
	return definition().ReplaceAllStringFunc(strings.ReplaceAll(b.String(), "\r\n", "\n"), func(whole string) string {
		m := definition().FindStringSubmatch(whole)
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
	Confidential bool         `json:"confidential"` // as older servers call it
	Author       gitLabAuthor `json:"author"`
}

func (c Client) readGitLab(ctx context.Context, r Ref) (Issue, error) {
	var answer struct {
		Title  string       `json:"title"`
		Body   string       `json:"description"`
		State  string       `json:"state"`
		Author gitLabAuthor `json:"author"`
	}
	if _, err := c.call(ctx, r, http.MethodGet, r.path(), nil, &answer); err != nil {
		return Issue{}, err
	}
	i := Issue{Title: answer.Title, Author: answer.Author.Name, Closed: answer.State == "closed"}
	i.Body = i.visibleText(answer.Body)
	if r.Token == "" { // also of a public issue, nobody else reads the comments
		i.Unread = true
		return i, nil
	}
	writes := map[int64]bool{}
	var err error
	i.More, err = pages(ctx, c, r, gitLabNotes(r), maxPages, func(one gitLabNote) error {
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
		i.add(Comment{strconv.FormatInt(one.ID, 10), one.Author.Name, one.Body}, may)
		return nil
	})
	return i, err
}

// isMember reports whether somebody may write to a project of GitLab: a developer, or more.
func (c Client) isMember(ctx context.Context, r Ref, id int64) (bool, error) {
	const developer = 30
	var answer struct {
		Level int `json:"access_level"`
	}
	_, err := c.call(ctx, r, http.MethodGet, fmt.Sprintf("/projects/%s/members/all/%d", url.PathEscape(r.Project), id), nil, &answer)
	if hasStatus(err, http.StatusNotFound) {
		return false, nil
	}
	return answer.Level >= developer, err
}

// Fetch returns the text at an address.
func (c Client) Fetch(ctx context.Context, address string) (string, error) {
	u, err := url.Parse(address)
	fail := func(why string, cause error) error {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "fetch " + address + ": " + why, Cause: cause,
			Hint: "Give the address of a text, such as a raw Markdown file, or a file with -f.",
		}
	}
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())) {
		return "", fail("it is no https address", nil)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", fail("it is no address", err)
	}
	req.Header.Set("User-Agent", "nexus")
	req.Header.Set("Accept", "text/markdown, text/plain;q=0.9")
	data, header, err := c.do(req)
	if err != nil {
		return "", fail("it cannot be read", err)
	}
	kind, _, _ := mime.ParseMediaType(header.Get("Content-Type")) // one that cannot be read is none
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
