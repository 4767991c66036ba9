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
	"strconv"
	"strings"
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

// callAPI sends a request, and repeats it if the forge is busy.
func (c Client) callAPI(ctx context.Context, r IssueRef, method, path string, send, dest any) (http.Header, error) {
	at, err := url.Parse(r.API + path)
	if err != nil || at.Scheme != "https" && !isLoopback(at.Hostname()) {
		return nil, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: r.API + " is no https address",
			Hint: "Nexus sends a token only over https.",
		}
	}
	wait := c.Wait
	if wait == 0 {
		wait = time.Second
	}
	var body []byte
	if send != nil {
		if body, err = json.Marshal(send); err != nil {
			return nil, err
		}
	}
	var header http.Header
	err = retry.Do(ctx, retry.WithMaxRetries(3, retry.NewExponential(wait)), func(ctx context.Context) error {
		var err error
		header, err = c.sendOnce(ctx, r, method, at.String(), body, dest)
		if err != nil && ctx.Err() == nil && method != http.MethodPost && IsTransient(err) {
			return retry.RetryableError(err)
		}
		return err
	})
	return header, r.explainError(err)
}

// IsTransient reports whether an error may disappear soon: the forge is busy or unreachable.
func IsTransient(err error) bool {
	if e, answered := errors.AsType[*statusError](err); answered {
		return e.code >= 500 || e.code == http.StatusTooManyRequests
	}
	_, network := errors.AsType[*url.Error](err)
	return network || errors.Is(err, io.ErrUnexpectedEOF)
}

// hasStatus reports whether a forge responded with one of these statuses.
func hasStatus(err error, codes ...int) bool {
	e, ok := errors.AsType[*statusError](err)
	return ok && slices.Contains(codes, e.code)
}

// readPages reads at most `most` pages of a list, and reports whether there are more. A short page may
// not be the last: a forge removes the entries that the reader must not see.
func readPages[T any](ctx context.Context, c Client, r IssueRef, path string, most int, visit func(T) error) (more bool, err error) {
	page := "1"
	for range most {
		var all []T
		header, err := c.callAPI(ctx, r, http.MethodGet, path+"&per_page=100&page="+page, nil, &all)
		if err != nil {
			return false, err
		}
		for _, one := range all {
			if err := visit(one); err != nil {
				return false, err
			}
		}
		if page = nextPage(r.Kind, header); page == "" {
			return false, nil
		}
	}
	return true, nil
}

// nextPage returns the number of the next page from a header, or "".
func nextPage(k Kind, h http.Header) string {
	page := h.Get("X-Next-Page")
	if k == GitHub {
		page = ""
		for link := range strings.SplitSeq(strings.Join(h.Values("Link"), ","), ",") {
			at, rel, _ := strings.Cut(link, ">")
			if u, err := url.Parse(strings.Trim(at, " <")); err == nil && strings.Contains(rel, `rel="next"`) {
				page = u.Query().Get("page")
			}
		}
	}
	if n, err := strconv.Atoi(page); err != nil || n < 2 {
		return ""
	}
	return page
}

// userName returns the user name of the token.
func (c Client) userName(ctx context.Context, r IssueRef) (string, error) {
	var answer struct {
		Login string `json:"login"`    // GitHub
		Name  string `json:"username"` // GitLab
	}
	_, err := c.callAPI(ctx, r, http.MethodGet, "/user", nil, &answer)
	return cmp.Or(answer.Login, answer.Name), err
}

func (c Client) sendOnce(ctx context.Context, r IssueRef, method, at string, body []byte, dest any) (http.Header, error) {
	req, err := http.NewRequestWithContext(ctx, method, at, bytes.NewReader(body))
	if err != nil {
		return nil, err
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
	data, header, err := c.readAnswer(req)
	if err != nil || dest == nil {
		return header, err
	}
	if err := json.Unmarshal(data, dest); err != nil {
		return nil, fmt.Errorf("read what %s answered: %w", r.Kind, err)
	}
	return header, nil
}

// readAnswer sends a request and returns the body and the headers of the response.
func (c Client) readAnswer(req *http.Request) ([]byte, http.Header, error) {
	client := c.HTTP
	if client == nil {
		client = &http.Client{Timeout: 30 * time.Second}
	}
	same := *client
	same.CheckRedirect = func(next *http.Request, via []*http.Request) error {
		if next.URL.Host != via[0].URL.Host || next.URL.Scheme != via[0].URL.Scheme || len(via) > 5 {
			return http.ErrUseLastResponse // a token must not be sent elsewhere
		}
		return nil
	}
	resp, err := same.Do(req)
	if err != nil {
		return nil, nil, err
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	_ = resp.Body.Close() // it was read, or is not needed
	switch {
	case err != nil:
		return nil, nil, err
	case len(data) > maxAnswer:
		return nil, nil, errors.New("the answer is too large")
	case resp.StatusCode >= 300:
		var said struct {
			Message any `json:"message"`
		}
		_ = json.Unmarshal(data, &said) // other texts have no message
		text := http.StatusText(resp.StatusCode)
		if s, ok := said.Message.(string); ok {
			text += ": " + s
		}
		return nil, nil, &statusError{resp.StatusCode, text}
	}
	return data, resp.Header, nil
}

// explainError adds the next step to an error.
func (r IssueRef) explainError(err error) error {
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
