package forge

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/sethvargo/go-retry"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Client is a client of GitHub and GitLab. HTTP may be nil.
type Client struct {
	HTTP *http.Client
	Wait time.Duration // before a retry; 0: a second
}

// statusError is a response with an error status.
type statusError struct {
	code int
	text string
}

func (e *statusError) Error() string { return fmt.Sprintf("%d %s", e.code, e.text) }

// errTooLarge is the error of a response that is not read, because it is too large.
var errTooLarge = errors.New("the answer is too large")

// checkAddress refuses an address to which a token could be read on the way.
func (r IssueRef) checkAddress() error {
	at, err := url.Parse(r.API)
	if err != nil || at.Scheme != "https" && !isLoopback(at.Hostname()) {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: r.API + " is no https address",
			Hint: "Nexus sends a token only over https.",
		}
	}
	return nil
}

// callWithRetry calls the forge, and repeats the call if the forge is busy: it changes nothing, or has the same
// result each time.
func (c Client) callWithRetry(ctx context.Context, r IssueRef, call func(context.Context) error) error {
	wait := cmp.Or(c.Wait, time.Second)
	err := retry.Do(ctx, retry.WithMaxRetries(3, retry.NewExponential(wait)), func(ctx context.Context) error {
		err := call(ctx)
		if err != nil && ctx.Err() == nil && IsTransient(err) {
			return retry.RetryableError(err)
		}
		return err
	})
	return r.explainError(err)
}

// IsTransient reports whether an error may disappear soon: the forge is busy or unreachable.
func IsTransient(err error) bool {
	if e, answered := errors.AsType[*statusError](err); answered {
		return e.code >= 500 || e.code == http.StatusTooManyRequests
	}
	_, network := errors.AsType[*url.Error](err)
	return network && !errors.Is(err, errTooLarge) || errors.Is(err, io.ErrUnexpectedEOF)
}

// hasStatus reports whether a forge responded with one of these statuses.
func hasStatus(err error, codes ...int) bool {
	e, ok := errors.AsType[*statusError](err)
	return ok && slices.Contains(codes, e.code)
}

// readPages reads at most `most` pages of a list, and reports whether there are more. The list returns a
// page, and the number of the next one. A short page may not be the last: a forge removes the entries that
// the reader must not see.
func readPages[T any](ctx context.Context, c Client, r IssueRef, most int, list func(ctx context.Context, page int) ([]T, int, error), visit func(T) error) (more bool, err error) {
	page := 1
	for range most {
		var all []T
		next := 0
		err := c.callWithRetry(ctx, r, func(ctx context.Context) (err error) {
			all, next, err = list(ctx, page)
			return err
		})
		if err != nil {
			return false, err
		}
		for _, one := range all {
			if err := visit(one); err != nil {
				return false, err
			}
		}
		if page = next; page < 2 {
			return false, nil
		}
	}
	return true, nil
}

// httpClient returns the client below the libraries of the forges.
func (c Client) httpClient() *http.Client {
	same := http.Client{Timeout: 30 * time.Second}
	if c.HTTP != nil {
		same = *c.HTTP
	}
	same.Transport = boundedResponseTransport{cmp.Or[http.RoundTripper](same.Transport, http.DefaultTransport)}
	same.CheckRedirect = func(next *http.Request, via []*http.Request) error {
		if next.URL.Host != via[0].URL.Host || next.URL.Scheme != via[0].URL.Scheme || len(via) > 5 {
			return http.ErrUseLastResponse // a token must not be sent elsewhere
		}
		return nil
	}
	return &same
}

// boundedResponseTransport limits the size of responses, and turns an error status into a [*statusError], the same for
// both forges. Otherwise the libraries read as much as a server sends.
type boundedResponseTransport struct{ next http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (t boundedResponseTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	_ = resp.Body.Close() // it was read, or is not needed
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxAnswer:
		return nil, errTooLarge
	case resp.StatusCode >= 400:
		var said struct {
			Message any `json:"message"`
		}
		_ = json.Unmarshal(data, &said) // other texts have no message
		text := http.StatusText(resp.StatusCode)
		if s, ok := said.Message.(string); ok {
			text += ": " + s
		}
		return nil, &statusError{resp.StatusCode, text}
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
	return resp, nil
}

// readResponseBody sends a request and returns the body and the headers of the response.
func (c Client) readResponseBody(req *http.Request) ([]byte, http.Header, error) {
	resp, err := c.httpClient().Do(req)
	if err != nil {
		return nil, nil, withoutAddress(err)
	}
	data, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close() // it is in memory
	if err == nil && resp.StatusCode >= 300 {
		err = &statusError{resp.StatusCode, http.StatusText(resp.StatusCode)}
	}
	return data, resp.Header, err
}

// withoutAddress removes the address from the error of a response: the message around it has one.
func withoutAddress(err error) error {
	if s, ok := errors.AsType[*statusError](err); ok {
		return s
	}
	if errors.Is(err, errTooLarge) {
		return errTooLarge
	}
	return err
}

// explainError adds the next step to an error.
func (r IssueRef) explainError(err error) error {
	if err == nil {
		return nil
	}
	err = withoutAddress(err)
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

// forgeProject is a project of a forge.
type forgeProject interface {
	issueReader
	commentWriter
	pullRequestStore
}

type issueReader interface {
	readIssue(ctx context.Context) (Issue, error)
	listIssues(ctx context.Context, most int) (all []ListedIssue, others int, err error)
}

type commentWriter interface {
	findComment(ctx context.Context, visit func(id int64, body string, mine bool)) (more bool, err error)
	updateComment(ctx context.Context, id int64, text string) error
	addComment(ctx context.Context, text string) (id int64, err error)
}

type pullRequestStore interface {
	pullRequestReader
	openPull(ctx context.Context, p PullRequest) (PullRequest, error)
	updatePull(ctx context.Context, number int, p PullRequest) (PullRequest, error)
}

type pullRequestReader interface {
	getPull(ctx context.Context, number int) (PullRequest, error)
	listPulls(ctx context.Context, like PullRequest, state string) ([]PullRequest, error)
}

// openProject returns the project with the issue.
func (c Client) openProject(r IssueRef) (forgeProject, error) {
	if r.Kind == GitLab {
		return c.openGitLab(r)
	}
	return c.openGitHub(r)
}
