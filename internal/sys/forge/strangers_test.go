package forge_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/forge"
	"github.com/nexus-ai-builder/nexus/internal/sys/forge/forgetest"
)

// TestServers tells servers and projects apart, however they are written.
func TestServers(t *testing.T) {
	for _, c := range []struct {
		text, remote, server, api, want string // what is wrong begins with "!"
	}{
		{"https://GitHub.com/o/r/issues/1", "", "", "", "https://api.github.com o/r"},
		{"https://www.github.com/o/r/issues/1", "", "", "", "https://api.github.com o/r"},
		{"#1", "https://github.com/o/r.git/", "", "", "https://api.github.com o/r"},
		{"#1", "git@GitHub.com:o/r.git", "", "", "https://api.github.com o/r"},
		{"#1", "https://github.com/../r.git", "", "", "!belongs to no project"},
		{"o/..#1", "", "", "", "!is no project"},
		{"https://github.com/./r/issues/1", "", "", "", "!is no project"},
		{"https://gitlab.com/g/../p/-/issues/1", "", "", "", "!is no project"},
		{"o/r#1", "", "", "https://api.github.com/", "https://api.github.com o/r"},
		{"o/r#1", "", "", "https://git.example.org/api/v3", "!two forges"},
		{"o/r#1", "", "https://git.example.org", "https://api.github.com", "!two forges"},
		{"o/r#1", "", "https://Git.example.org/", "https://git.example.org/api/v3/", "https://git.example.org/api/v3 o/r"},
		{"o/r#1", "", "https://git.example.org", "https://evilgit.example.org/api/v3", "!two forges"},
		{"o/r#1", "", "https://git.example.org", "https://api.evil.git.example.org", "!two forges"},
		{"o/r#1", "", "https://x.ghe.com", "https://api.x.ghe.com", "https://api.x.ghe.com o/r"},
	} {
		env := map[string]string{"GITHUB_SERVER_URL": c.server, "GITHUB_API_URL": c.api, "GITHUB_TOKEN": "hub"}
		r, err := forge.ParseIssueRef(c.text, c.remote, func(name string) string { return env[name] })
		got := r.API + " " + r.Project
		if err != nil {
			got = "!" + err.Error()
		}
		if why, wrong := strings.CutPrefix(c.want, "!"); got != c.want && (!wrong || !strings.Contains(got, why)) {
			t.Errorf("%s (%s): %s, want %s", c.text, c.remote, got, c.want)
		}
	}
}

// TestShortPages are not the last ones.
func TestShortPages(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, c forge.Client, r forge.IssueRef) {
		t.Helper()
		s.Short = true
		for range 250 {
			s.AddComments(forgetest.ServedComment{Author: "eve", Body: "+1"})
		}
		s.AddComments(forgetest.ServedComment{Author: "cy", Body: "Last word", Writer: true})
		if i, err := c.ReadIssue(t.Context(), r); err != nil || len(i.Comments) != 1 || i.Left != 125 || i.More {
			t.Errorf("%+v, %v", i, err)
		}
		for range 2000 {
			s.AddComments(forgetest.ServedComment{Author: "x", Body: forge.RunCommentMark("r2"), Inside: true})
		}
		if i, err := c.ReadIssue(t.Context(), r); err != nil || !i.More {
			t.Errorf("%v, %v", i.More, err)
		}
	})
}

// TestFindFar finds its own comment behind thousands of others, and says so where there are too many to look.
func TestFindFar(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, c forge.Client, r forge.IssueRef) {
		t.Helper()
		s.AddComments(make([]forgetest.ServedComment, 2_500)...)
		mine, err := c.WriteComment(t.Context(), r, "", forge.RunCommentMark("r1")+"mine")
		if err != nil {
			t.Fatal(err)
		}
		if id, err := c.FindComment(t.Context(), r, forge.RunCommentMark("r1")); id != mine || err != nil {
			t.Error(id, mine, err)
		}
		s.AddComments(make([]forgetest.ServedComment, 7_600)...)
		if id, err := c.FindComment(t.Context(), r, forge.RunCommentMark("r2")); id != "" || err == nil || !strings.Contains(err.Error(), "more than 10000 comments") {
			t.Error(id, err)
		}
	})
}

// TestGitLabServers keeps the token of one server from the API of another.
func TestGitLabServers(t *testing.T) {
	for _, c := range []struct{ server, api, want string }{
		{"", "", "https://gitlab.com/api/v4 lab"},
		{"", "https://lab.example.org/api/v4", "!two forges"},
		{"https://lab.example.org", "https://other.example.org/api/v4", "https://gitlab.com/api/v4 "},
		{"https://gitlab.com", "https://GitLab.com/api/v4/", "https://gitlab.com/api/v4 lab"},
		{"https://gitlab.com", "http://gitlab.com/api/v4", "!two forges"},
	} {
		env := map[string]string{"CI_SERVER_URL": c.server, "CI_API_V4_URL": c.api, "GITLAB_TOKEN": "lab"}
		r, err := forge.ParseIssueRef("https://gitlab.com/g/p/-/issues/1", "", func(name string) string { return env[name] })
		got := r.API + " " + r.Token
		if err != nil {
			got = "!" + err.Error()
		}
		if why, wrong := strings.CutPrefix(c.want, "!"); got != c.want && (!wrong || !strings.Contains(got, why)) {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// TestHidden is not read.
func TestHidden(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, c forge.Client, r forge.IssueRef) {
		t.Helper()
		s.Body = "Be loud.<!-- secret one\n --> Be<!---->quick. <!-<!-- x -->- secret -->"
		s.AddComments(forgetest.ServedComment{Author: "bob", Body: "Only ASCII <!-- secret two", Writer: true})
		s.AddComments(forgetest.ServedComment{Author: "bob", Body: "among us", Writer: true, Inside: r.Kind == forge.GitLab})
		i, err := c.ReadIssue(t.Context(), r)
		goal := i.GoalText(r)
		if err != nil || i.Hidden != 4 || strings.Contains(goal, "<!--") || strings.Contains(goal, "secret two") || !strings.Contains(goal, "bob: Only ASCII\n") {
			t.Errorf("%+v, %v, %s", i, err, goal)
		}
		if strings.Contains(goal, "among us") != (r.Kind == forge.GitHub) {
			t.Error(goal)
		}
	})
}

// TestDefinitions are read without what no page shows of them.
func TestDefinitions(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, c forge.Client, r forge.IssueRef) {
		t.Helper()
		s.Body = "See [1] and [x].\r\n\r\n[1]: https://example.org/a\r\n[//]: # (secret one)\n[x]: https://example.org/b 'secret\ntwo'\n> [y]: <secret three and more>\n- [z]: #\n \"secret four\"\n[note]: is it (kept)\n- [x] done (kept, too)"
		i, err := c.ReadIssue(t.Context(), r)
		goal := i.GoalText(r)
		if err != nil || i.Hidden != 4 || strings.Contains(goal, "secret") {
			t.Errorf("%+v, %v, %s", i, err, goal)
		}
		for _, want := range []string{"See [1] and [x].", "\n[1]: https://example.org/a\n", "\n[x]: https://example.org/b\n", "[note]: is it (kept)", "- [x] done (kept, too)"} {
			if !strings.Contains(goal, want) {
				t.Errorf("%q is missing in %q", want, goal)
			}
		}
	})
}

// TestElsewhere goes no token, whatever a forge answers: not to another host, and not in the clear.
func TestElsewhere(t *testing.T) {
	for _, to := range []string{"https://evil.example.org/x", "http://api.example.org/x", "https://api.example.org:8443/x"} {
		var asked []string
		c := forge.Client{Wait: time.Microsecond, HTTP: &http.Client{Transport: trip(func(r *http.Request) *http.Response {
			asked = append(asked, r.URL.String())
			return &http.Response{StatusCode: http.StatusFound, Header: http.Header{"Location": {to}}, Body: http.NoBody, Request: r}
		})}}
		if _, err := c.ReadIssue(t.Context(), forge.IssueRef{Kind: forge.GitHub, API: "https://api.example.org", Project: "o/r", Number: 7, Token: "hub"}); err == nil || len(asked) != 1 {
			t.Errorf("%s: %q, %v", to, asked, err)
		}
	}
}

type trip func(*http.Request) *http.Response

func (t trip) RoundTrip(r *http.Request) (*http.Response, error) { return t(r), nil }

// TestLargeAnswer is none: what would not fit is not cut.
func TestLargeAnswer(t *testing.T) {
	c := forge.Client{Wait: time.Microsecond, HTTP: &http.Client{Transport: answers(`{"title":"a"}` + strings.Repeat(" ", 4<<20))}}
	if _, err := c.ReadIssue(t.Context(), forge.IssueRef{Kind: forge.GitLab, API: "https://api.example.org", Project: "o/r", Number: 7}); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Error(err)
	}
}

// TestConfidential notes are not read, as older servers of GitLab call what is internal.
func TestConfidential(t *testing.T) {
	c := forge.Client{HTTP: &http.Client{Transport: trip(func(r *http.Request) *http.Response {
		body := `{"title":"a","access_level":40}`
		if strings.HasSuffix(r.URL.Path, "/notes") {
			body = `[{"id":1,"body":"inside","confidential":true,"author":{"id":1}},{"id":2,"body":"outside","author":{"id":1}}]`
		}
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}
	})}}
	i, err := c.ReadIssue(t.Context(), forge.IssueRef{Kind: forge.GitLab, API: "https://api.example.org", Project: "o/r", Number: 7, Token: "lab"})
	if err != nil || len(i.Comments) != 1 || i.Comments[0].Body != "outside" {
		t.Errorf("%+v, %v", i, err)
	}
}

// TestRights are asked for; where they cannot be, who belongs to the project is heard.
func TestRights(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, c forge.Client, r forge.IssueRef) {
		t.Helper()
		s.AddComments(forgetest.ServedComment{Author: "eve", Body: "no"}, forgetest.ServedComment{Author: "mia", Body: "reads", Member: true}, forgetest.ServedComment{Author: "bob", Body: "writes", Writer: true})
		if i, err := c.ReadIssue(t.Context(), r); err != nil || len(i.Comments) != 1 || i.Left != 2 || i.Unproved {
			t.Errorf("%+v, %v", i, err)
		}
		if r.Kind == forge.GitHub {
			s.Mute = true
			if i, err := c.ReadIssue(t.Context(), r); err != nil || len(i.Comments) != 2 || i.Left != 1 || !i.Unproved {
				t.Errorf("%+v, %v", i, err)
			}
		} else {
			s.FailNext(0, 0, http.StatusForbidden)
			if _, err := c.ReadIssue(t.Context(), r); err == nil {
				t.Error("who cannot be asked about is left out without a word")
			}
		}
		r.Token = ""
		i, err := c.ReadIssue(t.Context(), r)
		if err != nil || i.Unread != (r.Kind == forge.GitLab) || len(i.Comments) != map[forge.Kind]int{forge.GitHub: 2}[r.Kind] {
			t.Errorf("%+v, %v", i, err)
		}
	})
}

// TestFindOwn finds no comment of another person.
func TestFindOwn(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, c forge.Client, r forge.IssueRef) {
		t.Helper()
		s.AddComments(forgetest.ServedComment{Author: "eve", Body: forge.RunCommentMark("r1")})
		if id, err := c.FindComment(t.Context(), r, forge.RunCommentMark("r1")); id != "" || err != nil {
			t.Error(id, err)
		}
		own, err := c.WriteComment(t.Context(), r, "", forge.RunCommentMark("r1")+"mine")
		if err != nil {
			t.Fatal(err)
		}
		for _, app := range []bool{false, true} { // an app may not ask who it is
			s.App = app
			if id, err := c.FindComment(t.Context(), r, forge.RunCommentMark("r1")); id != own || err != nil {
				t.Error(app, id, own, err)
			}
		}
	})
}
