package forge

import (
	"context"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

const (
	maxAnswer = 4 << 20   // bytes of one response of a forge
	maxPages  = 20        // read pages of 100 comments each
	maxSought = 100       // pages searched for our own comment
	maxText   = 100 << 10 // bytes of a fetched text
)

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
	p, err := c.openProject(r)
	if err != nil {
		return Issue{}, err
	}
	return p.readIssue(ctx)
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
var linkDefinitionPattern = regexp.MustCompile(`(?m)^([ \t>*+-]*\[[^\]\n]+\]:[ \t]*)(<[^<>\n]*>|\S+)` +
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
	return linkDefinitionPattern.ReplaceAllStringFunc(strings.ReplaceAll(b.String(), "\r\n", "\n"), func(whole string) string {
		m := linkDefinitionPattern.FindStringSubmatch(whole)
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
	data, header, err := c.readResponseBody(req)
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
