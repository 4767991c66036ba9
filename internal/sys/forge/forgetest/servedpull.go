package forgetest

import (
	"encoding/json"
	"net/http"
	"net/http/cgi"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ServedPullRequest is a pull request of the project.
type ServedPullRequest struct {
	Number       int
	Branch, Base string
	Title, Body  string
	State        string // open, closed or merged
	Stranger     bool   // its branch is in another project
	Commit       string // last head of its branch
}

// ServeGit serves the project's repository, which is o/r.git below dir, with a git program.
// Requests without the token are refused.
func (s *Server) ServeGit(git, dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dir = filepath.Join(dir, "o", "r.git")
	s.git = &cgi.Handler{
		Path: git, Args: []string{"http-backend"}, Root: "/",
		Env: []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=nexus", "GIT_CONFIG_NOSYSTEM=1"},
	}
}

// PullRequests returns the pull requests.
func (s *Server) PullRequests() []ServedPullRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]ServedPullRequest(nil), s.pulls...)
}

// OpenPull opens a pull request on behalf of somebody else.
func (s *Server) OpenPull(p ServedPullRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.Number, p.State = len(s.pulls)+1, "open"
	s.pulls = append(s.pulls, p)
}

// EndPull closes a pull request, or merges it.
func (s *Server) EndPull(number int, state string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pulls[number-1].State = state
}

// StallNextPull leaves the next request that opens a pull request without a response, before or after the
// pull request exists, until the client goes. The channel is closed once the client waits.
func (s *Server) StallNextPull(when string) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stall, s.stalled = when, make(chan struct{})
	return s.stalled
}

// waitIfStalled leaves a client without a response, if [Server.StallNextPull] asked for it.
func (s *Server) waitIfStalled(r *http.Request, when string) {
	if s.stall != when {
		return
	}
	s.stall = ""
	close(s.stalled)
	s.mu.Unlock()
	<-r.Context().Done()
	s.mu.Lock()
}

// branchCommit returns the commit of a branch of the served repository, or "".
func (s *Server) branchCommit(branch string) string {
	if s.dir == "" {
		return ""
	}
	text, err := os.ReadFile(filepath.Join(s.dir, "refs", "heads", filepath.FromSlash(branch)))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// serveGitAuthorized serves git to clients with the token.
func (s *Server) serveGitAuthorized(w http.ResponseWriter, r *http.Request) {
	user, token, _ := r.BasicAuth()
	if s.git == nil || token != Token || user != "x-access-token" && user != "oauth2" {
		w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
		writeJSON(w, http.StatusUnauthorized, map[string]any{"message": "Requires authentication"})
		return
	}
	s.git.ServeHTTP(w, r)
}

func (s *Server) serveGitHubPulls(w http.ResponseWriter, r *http.Request, path string) {
	if r.Header.Get("Authorization") != "Bearer "+Token {
		writeJSON(w, http.StatusUnauthorized, map[string]any{"message": "Requires authentication"})
		return
	}
	s.servePulls(w, r, path, func(p ServedPullRequest) any {
		name, state, merged := "o/r", p.State, any(nil)
		if p.Stranger {
			name = "eve/r"
		}
		if state == "merged" {
			state, merged = "closed", "2026-01-01T00:00:00Z"
		}
		return map[string]any{
			"number": p.Number, "html_url": s.web.URL + "/o/r/pull/" + strconv.Itoa(p.Number), "state": state, "merged_at": merged,
			"head": map[string]any{"ref": p.Branch, "sha": p.Commit, "repo": map[string]any{"full_name": name}},
			"base": map[string]any{"ref": p.Base},
		}
	})
}

func (s *Server) serveGitLabPulls(w http.ResponseWriter, r *http.Request, path string) {
	if r.Header.Get("Private-Token") != Token {
		writeJSON(w, http.StatusUnauthorized, map[string]any{"message": "401 Unauthorized"})
		return
	}
	s.servePulls(w, r, path, func(p ServedPullRequest) any {
		state, from := map[string]string{"open": "opened"}[p.State], 1
		if state == "" {
			state = p.State
		}
		if p.Stranger {
			from = 2
		}
		return map[string]any{
			"iid": p.Number, "web_url": s.web.URL + "/o/r/-/merge_requests/" + strconv.Itoa(p.Number), "state": state,
			"sha": p.Commit, "source_branch": p.Branch, "target_branch": p.Base, "source_project_id": from, "target_project_id": 1,
		}
	})
}

// servePulls lists, shows, opens or changes pull requests.
func (s *Server) servePulls(w http.ResponseWriter, r *http.Request, path string, tell func(ServedPullRequest) any) {
	n, _ := strconv.Atoi(strings.TrimPrefix(path, "/"))
	var sent struct {
		Title, Body, Description, Head, Base string
		Source                               string `json:"source_branch"`
		Target                               string `json:"target_branch"`
	}
	if r.Method != http.MethodGet && json.NewDecoder(r.Body).Decode(&sent) != nil {
		writeJSON(w, http.StatusUnprocessableEntity, map[string]any{"message": "Validation Failed"})
		return
	}
	branch, base, body := sent.Head+sent.Source, sent.Base+sent.Target, sent.Body+sent.Description
	switch {
	case path == "" && r.Method == http.MethodGet:
		all := []any{}
		for _, p := range s.pulls {
			if p.State == "open" || r.URL.Query().Get("state") == "all" {
				all = append(all, tell(p))
			}
		}
		writeJSON(w, http.StatusOK, all)
	case path == "" && r.Method == http.MethodPost && branch != "" && base != "" && sent.Title != "":
		for _, p := range s.pulls {
			if p.Branch == branch && p.State == "open" && !p.Stranger {
				writeJSON(w, http.StatusUnprocessableEntity, map[string]any{"message": "A pull request already exists"})
				return
			}
		}
		if s.waitIfStalled(r, "before"); r.Context().Err() != nil {
			return
		}
		s.pulls = append(s.pulls, ServedPullRequest{
			Number: len(s.pulls) + 1, Branch: branch, Base: base, Title: sent.Title, Body: body, State: "open", Commit: s.branchCommit(branch),
		})
		s.waitIfStalled(r, "after")
		writeJSON(w, http.StatusCreated, tell(s.pulls[len(s.pulls)-1]))
	case n < 1 || n > len(s.pulls):
		writeJSON(w, http.StatusNotFound, map[string]any{"message": "Not Found"})
	case r.Method == http.MethodGet:
		writeJSON(w, http.StatusOK, tell(s.pulls[n-1]))
	case branch+base == "":
		s.pulls[n-1].Title, s.pulls[n-1].Body, s.pulls[n-1].Commit = sent.Title, body, s.branchCommit(s.pulls[n-1].Branch)
		writeJSON(w, http.StatusOK, tell(s.pulls[n-1]))
	default:
		writeJSON(w, http.StatusUnprocessableEntity, map[string]any{"message": "Validation Failed"})
	}
}
