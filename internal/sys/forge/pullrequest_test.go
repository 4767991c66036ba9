package forge_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/forge"
	"github.com/nexus-ai-builder/nexus/internal/sys/forge/forgetest"
)

// TestOffer opens one pull request for a branch, says something else in it later, finds it though somebody else has one
// of the same name, and opens another one when people closed it.
func TestOffer(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, c forge.Client, r forge.IssueRef) {
		t.Helper()
		s.OpenPull(forgetest.ServedPullRequest{Branch: "nexus/improve/todo", Base: "main", Title: "Mine", Stranger: true})
		s.OpenPull(forgetest.ServedPullRequest{Branch: "nexus/improve/todo", Base: "old", Title: "Elsewhere"})
		s.EndPull(2, "closed")
		p := forge.PullRequest{Branch: "nexus/improve/todo", Base: "main", Title: "todo", Body: "One."}
		made, fresh, err := c.OpenOrUpdatePullRequest(t.Context(), r, p)
		if err != nil || !fresh || made.Number != 3 || made.State != forge.PullOpen || !strings.HasSuffix(made.Web, "/3") {
			t.Fatalf("%+v %v %v", made, fresh, err)
		}
		p.Title, p.Body = "todo, 2 changes", "Two."
		s.FailNext(http.StatusBadGateway)
		if made, fresh, err = c.OpenOrUpdatePullRequest(t.Context(), r, p); err != nil || fresh || made.Number != 3 {
			t.Fatalf("%+v %v %v", made, fresh, err)
		}
		want := forgetest.ServedPullRequest{Number: 3, Branch: "nexus/improve/todo", Base: "main", Title: "todo, 2 changes", Body: "Two.", State: "open"}
		if diff := cmp.Diff(want, s.PullRequests()[2]); diff != "" {
			t.Error(diff)
		}
		for said, is := range map[string]forge.PullRequestState{"merged": forge.PullMerged, "closed": forge.PullClosed} {
			s.EndPull(3, said)
			if got, err := c.GetPullRequest(t.Context(), r, 3); err != nil || got.State != is {
				t.Errorf("%s: %+v, %v", said, got, err)
			}
		}
		if made, fresh, err = c.OpenOrUpdatePullRequest(t.Context(), r, p); err != nil || !fresh || made.Number != 4 {
			t.Errorf("%+v %v %v", made, fresh, err)
		}
		s.OpenPull(forgetest.ServedPullRequest{Branch: "nexus/improve/todo", Base: "main", Title: "Theirs", Stranger: true, Commit: "c9"})
		s.EndPull(5, "closed")
		ended, err := c.EndedPullRequests(t.Context(), r, p)
		if err != nil || len(ended) != 1 || ended[0].Number != 3 || ended[0].State != forge.PullClosed && ended[0].State != forge.PullMerged {
			t.Errorf("%+v, %v", ended, err)
		}
		r.Token = "wrong"
		_, _, err = c.OpenOrUpdatePullRequest(t.Context(), r, p)
		if e, ok := errors.AsType[*nexus.Error](err); !ok || !strings.Contains(e.Hint, "may write to o/r and open pull requests") {
			t.Error(err)
		}
	})
}

// TestProject names the project of a remote and where git finds it.
func TestProject(t *testing.T) {
	none := func(string) string { return "" }
	for remote, want := range map[string]string{
		"git@github.com:o/r.git": "https://github.com/o/r.git x-access-token", "https://gitlab.com/g/s/p": "https://gitlab.com/g/s/p.git oauth2",
		"ssh://git@github.com:22/o/issues": "https://github.com/o/issues.git x-access-token",
	} {
		r, err := forge.ParseProjectOfRemote(remote, none)
		if address, user := r.CloneAddress(); err != nil || address+" "+user != want || r.Number != 0 {
			t.Errorf("%s: %s %s, %v", remote, address, user, err)
		}
	}
	if _, err := forge.ParseProjectOfRemote("/srv/git/r", none); err == nil {
		t.Error("a directory is a project")
	}
}

// TestList lists the open issues of those who belong to a project.
func TestList(t *testing.T) {
	each(t, func(t *testing.T, s *forgetest.Server, c forge.Client, r forge.IssueRef) {
		t.Helper()
		all, others, err := c.ListIssues(t.Context(), r, 10)
		want := []forge.ListedIssue{{Number: 7, Title: "Shout", Web: r.Web, Labels: []string{"bug"}}}
		if diff := cmp.Diff(want, all); diff != "" || others != 1 || err != nil {
			t.Error(diff, others, err)
		}
		if r.Token = ""; r.Kind == forge.GitLab {
			if _, _, err := c.ListIssues(t.Context(), r, 10); err == nil {
				t.Error("who belongs to a project is known without a token")
			}
		}
	})
}
