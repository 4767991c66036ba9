package forge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sethvargo/go-retry"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

const (
	maxAnswer = 4 << 20   // bytes of one answer of a forge
	maxPages  = 20        // of 100 comments each
	maxText   = 100 << 10 // bytes of a text that is fetched
)

// notes is where GitLab lists the comments on an issue, before the number of a page.
const notes = "/notes?sort=asc&order_by=created_at&per_page=100&page="

// Issue is what a forge says of an issue.
type Issue struct {
	Title, Body, Author string
	Closed              bool
	Comments            []Comment // of those who may write to the project, the oldest first
	Left                int       // comments that others wrote
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

// Client speaks with forges. HTTP may be nil.
type Client struct {
	HTTP *http.Client
	Wait time.Duration // before a second try; 0: a second
}

// statusError is an answer that is none.
type statusError struct {
	code int
	text string
}

func (e *statusError) Error() string { return fmt.Sprintf("%d %s", e.code, e.text) }

// call makes a request, and again where the forge is busy.
func (c Client) call(ctx context.Context, r Ref, method, path string, send, dest any) error {
	at, err := url.Parse(r.API + path)
	if err != nil || at.Scheme != "https" && !loopback(at.Hostname()) {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: r.API + " is no https address",
			Hint: "A token goes over https alone.",
		}
	}
	wait := c.Wait
	if wait == 0 {
		wait = time.Second
	}
	var body []byte
	if send != nil {
		if body, err = json.Marshal(send); err != nil {
			return err
		}
	}
	err = retry.Do(ctx, retry.WithMaxRetries(3, retry.NewExponential(wait)), func(ctx context.Context) error {
		err := c.once(ctx, r, method, at.String(), body, dest)
		e, answered := errors.AsType[*statusError](err)
		if err != nil && ctx.Err() == nil && method != http.MethodPost && (!answered || e.code >= 500 || e.code == http.StatusTooManyRequests) {
			return retry.RetryableError(err)
		}
		return err
	})
	return r.explain(err)
}

func (c Client) once(ctx context.Context, r Ref, method, at string, body []byte, dest any) error {
	req, err := http.NewRequestWithContext(ctx, method, at, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("User-Agent", "nexus")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	switch {
	case r.Kind == GitHub:
		req.Header.Set("Accept", "application/vnd.github+json")
		req.Header.Set("X-GitHub-Api-Version", "2022-11-28")
		if r.Token != "" {
			req.Header.Set("Authorization", "Bearer "+r.Token)
		}
	case r.Token != "":
		req.Header.Set("PRIVATE-TOKEN", r.Token)
	}
	data, _, err := c.do(req)
	if err != nil || dest == nil {
		return err
	}
	if err := json.Unmarshal(data, dest); err != nil {
		return fmt.Errorf("read what %s answered: %w", r.Kind, err)
	}
	return nil
}

// do returns the body of an answer.
func (c Client) do(req *http.Request) ([]byte, http.Header, error) {
	client := c.HTTP
	if client == nil {
		client = &http.Client{Timeout: 30 * time.Second}
	}
	same := *client
	same.CheckRedirect = func(next *http.Request, via []*http.Request) error {
		if next.URL.Host != via[0].URL.Host || next.URL.Scheme != via[0].URL.Scheme || len(via) > 5 {
			return http.ErrUseLastResponse // a token goes nowhere else
		}
		return nil
	}
	resp, err := same.Do(req)
	if err != nil {
		return nil, nil, err
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	_ = resp.Body.Close() // it was read, or is not wanted
	switch {
	case err != nil:
		return nil, nil, err
	case len(data) > maxAnswer:
		return nil, nil, errors.New("the answer is too large")
	case resp.StatusCode >= 300:
		var said struct {
			Message any `json:"message"`
		}
		_ = json.Unmarshal(data, &said) // what is no JSON says nothing
		text := http.StatusText(resp.StatusCode)
		if s, ok := said.Message.(string); ok {
			text += ": " + s
		}
		return nil, nil, &statusError{resp.StatusCode, text}
	}
	return data, resp.Header, nil
}

// explain says what to do about an error.
func (r Ref) explain(err error) error {
	if err == nil {
		return nil
	}
	e := &nexus.Error{
		Code: nexus.CodeInvalidInput, Message: "read " + r.Web, Cause: err,
		Hint: "Try again later, or copy the issue's text into a file and give it with -f.",
	}
	variable := "GITHUB_TOKEN"
	if r.Kind == GitLab {
		variable = "GITLAB_TOKEN"
	}
	if s, ok := errors.AsType[*statusError](err); ok {
		switch s.code {
		case http.StatusUnauthorized, http.StatusForbidden:
			e.Hint = "Set " + variable + " to a token that may read the issues of " + r.Project + "."
		case http.StatusNotFound, http.StatusGone:
			e.Code, e.Hint = nexus.CodeNotFound, "Check its number. If the project is private, set "+variable+" to a token that may read it."
		}
	}
	return e
}

// Read reads an issue and what was said about it.
func (c Client) Read(ctx context.Context, r Ref) (Issue, error) {
	if r.Kind == GitLab {
		return c.readGitLab(ctx, r)
	}
	return c.readGitHub(ctx, r)
}

// writers are the associations of GitHub that come with a right to write.
func writers() []string { return []string{"OWNER", "MEMBER", "COLLABORATOR"} }

type gitHubComment struct {
	ID   int64  `json:"id"`
	Body string `json:"body"`
	User struct {
		Login string `json:"login"`
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
	if err := c.call(ctx, r, http.MethodGet, r.path(), nil, &answer); err != nil {
		return Issue{}, err
	}
	if answer.Request != nil {
		return Issue{}, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: r.Web + " is a pull request",
			Hint: "Give an issue, or review the branch with nexus review.",
		}
	}
	i := Issue{Title: answer.Title, Body: answer.Body, Author: answer.User.Login, Closed: answer.State == "closed"}
	for page := 1; page <= maxPages; page++ {
		var all []gitHubComment
		if err := c.call(ctx, r, http.MethodGet, r.path()+"/comments?per_page=100&page="+strconv.Itoa(page), nil, &all); err != nil {
			return Issue{}, err
		}
		for _, one := range all {
			i.add(Comment{strconv.FormatInt(one.ID, 10), one.User.Login, one.Body}, slices.Contains(writers(), one.Association))
		}
		if len(all) < 100 {
			break
		}
	}
	return i, nil
}

// add takes over a comment, unless Nexus wrote it or somebody who may not write to
// the project.
func (i *Issue) add(c Comment, writes bool) {
	switch {
	case strings.HasPrefix(c.Body, mark):
	case writes:
		i.Comments = append(i.Comments, c)
	default:
		i.Left++
	}
}

type gitLabAuthor struct {
	ID   int64  `json:"id"`
	Name string `json:"username"`
}

type gitLabNote struct {
	ID     int64        `json:"id"`
	Body   string       `json:"body"`
	System bool         `json:"system"`
	Author gitLabAuthor `json:"author"`
}

func (c Client) readGitLab(ctx context.Context, r Ref) (Issue, error) {
	var answer struct {
		Title  string       `json:"title"`
		Body   string       `json:"description"`
		State  string       `json:"state"`
		Author gitLabAuthor `json:"author"`
	}
	if err := c.call(ctx, r, http.MethodGet, r.path(), nil, &answer); err != nil {
		return Issue{}, err
	}
	i := Issue{Title: answer.Title, Body: answer.Body, Author: answer.Author.Name, Closed: answer.State == "closed"}
	writes := map[int64]bool{}
	for page := 1; page <= maxPages; page++ {
		var all []gitLabNote
		if err := c.call(ctx, r, http.MethodGet, r.path()+notes+strconv.Itoa(page), nil, &all); err != nil {
			return Issue{}, err
		}
		for _, one := range all {
			if one.System {
				continue
			}
			may, known := writes[one.Author.ID]
			if !known {
				may = c.member(ctx, r, one.Author.ID)
				writes[one.Author.ID] = may
			}
			i.add(Comment{strconv.FormatInt(one.ID, 10), one.Author.Name, one.Body}, may)
		}
		if len(all) < 100 {
			break
		}
	}
	return i, nil
}

// member reports whether somebody may write to a project of GitLab: a developer, or
// more. Who cannot be asked about may not.
func (c Client) member(ctx context.Context, r Ref, id int64) bool {
	const developer = 30
	var answer struct {
		Level int `json:"access_level"`
	}
	err := c.call(ctx, r, http.MethodGet, fmt.Sprintf("/projects/%s/members/all/%d", url.PathEscape(r.Project), id), nil, &answer)
	return err == nil && answer.Level >= developer
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
