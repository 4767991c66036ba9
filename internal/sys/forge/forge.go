// Package forge reads issues of GitHub and GitLab with their comments, updates one comment on an
// issue, and opens pull requests.
//
// Issues are text of strangers: comments of people without write access are left out, and
// responses of a forge are trusted only as text.
package forge

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Kind is the kind of a forge.
type Kind string

// The kinds of forges.
const (
	GitHub Kind = "GitHub"
	GitLab Kind = "GitLab"
)

// IssueRef names an issue. The zero Ref names none.
type IssueRef struct {
	Kind    Kind
	API     string // URL of the API, without a slash at its end
	Web     string // URL of the issue, for people
	Project string // owner/name, or group/subgroup/name
	Number  int
	Token   string // may be empty; it is sent only to API
}

// EnvLookup returns a variable of the environment, or "".
type EnvLookup func(name string) string

const (
	gitHubURL = "https://github.com"
	gitHubAPI = "https://api.github.com"
	gitLabURL = "https://gitlab.com"
)

var (
	issueNumberPattern = regexp.MustCompile(`^#([1-9]\d{0,8})$`)
	shortRefPattern    = regexp.MustCompile(`^([\w.-]+/[\w.-]+)#([1-9]\d{0,8})$`)
	projectPathPattern = regexp.MustCompile(`^[\w.-]+(/[\w.-]+)+$`)
	issuePathPattern   = regexp.MustCompile(`^/(.+?)/(-/)?(?:issues|work_items)/([1-9]\d{0,8})/?$`)
)

// ParseIssueRef parses a reference to an issue: its URL, owner/name#12 on GitHub, or #12 in the project of
// a remote's URL. It returns the zero Ref for any other text, and an error for an issue that
// cannot be reached.
//
// The token is that of GITHUB_TOKEN, GH_TOKEN or GITLAB_TOKEN, for the forge that GITHUB_API_URL
// and GITHUB_SERVER_URL, or CI_API_V4_URL and CI_SERVER_URL, name; without them, github.com and
// gitlab.com.
func ParseIssueRef(text, remote string, env EnvLookup) (IssueRef, error) {
	text = strings.TrimSpace(text)
	if m := issueNumberPattern.FindStringSubmatch(text); m != nil {
		return issueOfRemote(m[1], remote, env)
	}
	if m := shortRefPattern.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[2]) // cannot fail: digits
		return gitHubIssueRef(m[1], n, env)
	}
	if strings.ContainsAny(text, " \t\n") || !strings.HasPrefix(text, "http://") && !strings.HasPrefix(text, "https://") {
		return IssueRef{}, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return IssueRef{}, nil //nolint:nilerr // it names no issue, and whoever fetches it says so
	}
	m := issuePathPattern.FindStringSubmatch(u.Path)
	if m == nil || !projectPathPattern.MatchString(m[1]) {
		return IssueRef{}, nil
	}
	n, _ := strconv.Atoi(m[3]) // cannot fail: digits
	server := serverAddress(u.Scheme, u.Host)
	switch {
	case m[2] == "" && server == gitHubServerURL(env):
		return gitHubIssueRef(m[1], n, env)
	case m[2] != "" || server == gitLabServerURL(env):
		return gitLabIssueRef(server, m[1], n, env)
	default:
		return IssueRef{}, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("%s is no forge that Nexus knows", server),
			Hint: "For GitHub Enterprise set GITHUB_SERVER_URL and GITHUB_API_URL, as its Actions do.",
		}
	}
}

func gitHubServerURL(env EnvLookup) string {
	return normalAddress(cmp.Or(env("GITHUB_SERVER_URL"), gitHubURL))
}

func gitLabServerURL(env EnvLookup) string {
	return normalAddress(cmp.Or(env("CI_SERVER_URL"), gitLabURL))
}

// serverAddress returns the base URL of a server. Host names are case-insensitive, and GitHub has two
// names.
func serverAddress(scheme, host string) string {
	host = strings.ToLower(host)
	if host == "www.github.com" {
		host = "github.com"
	}
	return strings.ToLower(scheme) + "://" + host
}

// normalAddress returns the base URL of a server in the form of [serverAddress].
func normalAddress(address string) string {
	address = strings.TrimSuffix(strings.TrimSpace(address), "/")
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return serverAddress(u.Scheme, u.Host) + strings.TrimSuffix(u.Path, "/")
	}
	return address
}

// checkProjectPath refuses project names that are paths to other resources.
func checkProjectPath(name string) error {
	for part := range strings.SplitSeq(name, "/") {
		if part == "." || part == ".." {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: name + " is no project of a forge",
				Hint: "Give the issue's whole address, as a browser shows it.",
			}
		}
	}
	return nil
}

func gitHubIssueRef(project string, n int, env EnvLookup) (IssueRef, error) {
	if err := checkProjectPath(project); err != nil {
		return IssueRef{}, err
	}
	server := gitHubServerURL(env)
	api := server + "/api/v3"
	if server == gitHubURL {
		api = gitHubAPI
	}
	if said := env("GITHUB_API_URL"); said != "" {
		if said = normalAddress(said); !isSameForge(server, said) {
			return IssueRef{}, &nexus.Error{
				Code:    nexus.CodeInvalidInput,
				Message: fmt.Sprintf("GITHUB_API_URL is %s, and GITHUB_SERVER_URL is %s: they are two forges", said, server),
				Hint:    "Set both for GitHub Enterprise, as its Actions do, or neither for github.com.",
			}
		}
		api = said
	}
	return IssueRef{
		Kind: GitHub, API: api, Web: fmt.Sprintf("%s/%s/issues/%d", server, project, n), Project: project, Number: n,
		Token: cmp.Or(env("GITHUB_TOKEN"), env("GH_TOKEN")),
	}, nil
}

// isSameForge reports whether a server and an API belong to one forge: they have the same host, or
// the API has the host api.HOST.
func isSameForge(server, api string) bool {
	if server == gitHubURL {
		return api == gitHubAPI
	}
	s, err := url.Parse(server)
	a, wrong := url.Parse(api)
	return err == nil && wrong == nil && s.Scheme == a.Scheme && (a.Host == s.Host || a.Host == "api."+s.Host)
}

// gitLabIssueRef returns the reference to an issue of GitLab. A token is sent only to the server of the
// environment, by default gitlab.com.
func gitLabIssueRef(server, project string, n int, env EnvLookup) (IssueRef, error) {
	if err := checkProjectPath(project); err != nil {
		return IssueRef{}, err
	}
	r := IssueRef{Kind: GitLab, API: server + "/api/v4", Web: fmt.Sprintf("%s/%s/-/issues/%d", server, project, n), Project: project, Number: n}
	if server == gitLabServerURL(env) {
		r.API = normalAddress(cmp.Or(env("CI_API_V4_URL"), r.API))
		r.Token = env("GITLAB_TOKEN")
	}
	if !isSameForge(server, r.API) {
		return IssueRef{}, &nexus.Error{
			Code:    nexus.CodeInvalidInput,
			Message: fmt.Sprintf("CI_API_V4_URL is %s, and the issue is at %s: they are two forges", r.API, server),
			Hint:    "Set CI_SERVER_URL as well, as GitLab's own jobs do, or neither for gitlab.com.",
		}
	}
	return r, nil
}

// issueOfRemote returns the reference to an issue of the project in a remote's URL.
func issueOfRemote(digits, remote string, env EnvLookup) (IssueRef, error) {
	n, _ := strconv.Atoi(digits) // cannot fail: digits
	server, project := parseRemoteProject(remote)
	switch {
	case project == "":
		return IssueRef{}, &nexus.Error{
			Code:    nexus.CodeInvalidInput,
			Message: "the issue #" + digits + " belongs to no project: the remote origin has no address of one",
			Hint:    "Give the issue's whole address.",
		}
	case server == gitHubServerURL(env):
		return gitHubIssueRef(project, n, env)
	case server == gitLabServerURL(env) || strings.Contains(server, "gitlab"):
		return gitLabIssueRef(server, project, n, env)
	default:
		return IssueRef{}, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("the issue #%s is at %s, which is no forge that Nexus knows", digits, server),
			Hint: "Give the issue's whole address.",
		}
	}
}

// parseRemoteProject returns the server and the project of a remote's URL, in any form that git
// accepts.
func parseRemoteProject(remote string) (server, name string) {
	remote = strings.TrimSuffix(strings.TrimRight(strings.TrimSpace(remote), "/"), ".git")
	host, path := "", ""
	if u, err := url.Parse(remote); err == nil && u.Host != "" {
		host, path = u.Host, strings.Trim(u.Path, "/")
		if u.Scheme == "http" && isLoopback(u.Hostname()) {
			server = serverAddress("http", host)
		} else if u.Scheme == "ssh" {
			host = u.Hostname()
		}
	} else if at, rest, ok := strings.Cut(remote, ":"); ok && !strings.Contains(at, "/") {
		_, host, _ = strings.Cut(at, "@")
		host, path = cmp.Or(host, at), strings.Trim(rest, "/")
	}
	if !projectPathPattern.MatchString(path) || host == "" || checkProjectPath(path) != nil {
		return "", ""
	}
	return cmp.Or(server, serverAddress("https", host)), path
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
