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
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/pattern"
)

// Kind is the kind of a forge.
type Kind string

// The kinds of forges.
const (
	GitHub Kind = "GitHub"
	GitLab Kind = "GitLab"
)

// Ref names an issue. The zero Ref names none.
type Ref struct {
	Kind    Kind
	API     string // URL of the API, without a slash at its end
	Web     string // URL of the issue, for people
	Project string // owner/name, or group/subgroup/name
	Number  int
	Token   string // may be empty; it is sent only to API
}

// Env returns a variable of the environment, or "".
type Env func(name string) string

const (
	gitHub    = "https://github.com"
	gitHubAPI = "https://api.github.com"
	gitLab    = "https://gitlab.com"
)

var (
	number  = pattern.Lazy(`^#([1-9]\d{0,8})$`)
	short   = pattern.Lazy(`^([\w.-]+/[\w.-]+)#([1-9]\d{0,8})$`)
	project = pattern.Lazy(`^[\w.-]+(/[\w.-]+)+$`)
	issue   = pattern.Lazy(`^/(.+?)/(-/)?(?:issues|work_items)/([1-9]\d{0,8})/?$`)
)

// Parse parses a reference to an issue: its URL, owner/name#12 on GitHub, or #12 in the project of
// a remote's URL. It returns the zero Ref for any other text, and an error for an issue that
// cannot be reached.
//
// The token is that of GITHUB_TOKEN, GH_TOKEN or GITLAB_TOKEN, for the forge that GITHUB_API_URL
// and GITHUB_SERVER_URL, or CI_API_V4_URL and CI_SERVER_URL, name; without them, github.com and
// gitlab.com.
func Parse(text, remote string, env Env) (Ref, error) {
	text = strings.TrimSpace(text)
	if m := number().FindStringSubmatch(text); m != nil {
		return ofRemote(m[1], remote, env)
	}
	if m := short().FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[2]) // cannot fail: digits
		return gitHubRef(m[1], n, env)
	}
	if strings.ContainsAny(text, " \t\n") || !strings.HasPrefix(text, "http://") && !strings.HasPrefix(text, "https://") {
		return Ref{}, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return Ref{}, nil //nolint:nilerr // it names no issue, and whoever fetches it says so
	}
	m := issue().FindStringSubmatch(u.Path)
	if m == nil || !project().MatchString(m[1]) {
		return Ref{}, nil
	}
	n, _ := strconv.Atoi(m[3]) // cannot fail: digits
	server := serverOf(u.Scheme, u.Host)
	switch {
	case m[2] == "" && server == gitHubServer(env):
		return gitHubRef(m[1], n, env)
	case m[2] != "" || server == gitLabServer(env):
		return gitLabRef(server, m[1], n, env)
	default:
		return Ref{}, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("%s is no forge that Nexus knows", server),
			Hint: "For GitHub Enterprise set GITHUB_SERVER_URL and GITHUB_API_URL, as its Actions do.",
		}
	}
}

func gitHubServer(env Env) string {
	return normal(cmp.Or(env("GITHUB_SERVER_URL"), gitHub))
}

func gitLabServer(env Env) string {
	return normal(cmp.Or(env("CI_SERVER_URL"), gitLab))
}

// serverOf returns the base URL of a server. Host names are case-insensitive, and GitHub has two
// names.
func serverOf(scheme, host string) string {
	host = strings.ToLower(host)
	if host == "www.github.com" {
		host = "github.com"
	}
	return strings.ToLower(scheme) + "://" + host
}

// normal returns the base URL of a server in the form of [serverOf].
func normal(address string) string {
	address = strings.TrimSuffix(strings.TrimSpace(address), "/")
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return serverOf(u.Scheme, u.Host) + strings.TrimSuffix(u.Path, "/")
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

func gitHubRef(project string, n int, env Env) (Ref, error) {
	if err := checkProjectPath(project); err != nil {
		return Ref{}, err
	}
	server := gitHubServer(env)
	api := server + "/api/v3"
	if server == gitHub {
		api = gitHubAPI
	}
	if said := env("GITHUB_API_URL"); said != "" {
		if said = normal(said); !isSameForge(server, said) {
			return Ref{}, &nexus.Error{
				Code:    nexus.CodeInvalidInput,
				Message: fmt.Sprintf("GITHUB_API_URL is %s, and GITHUB_SERVER_URL is %s: they are two forges", said, server),
				Hint:    "Set both for GitHub Enterprise, as its Actions do, or neither for github.com.",
			}
		}
		api = said
	}
	return Ref{
		Kind: GitHub, API: api, Web: fmt.Sprintf("%s/%s/issues/%d", server, project, n), Project: project, Number: n,
		Token: cmp.Or(env("GITHUB_TOKEN"), env("GH_TOKEN")),
	}, nil
}

// isSameForge reports whether a server and an API belong to one forge: they have the same host, or
// the API has the host api.HOST.
func isSameForge(server, api string) bool {
	if server == gitHub {
		return api == gitHubAPI
	}
	s, err := url.Parse(server)
	a, wrong := url.Parse(api)
	return err == nil && wrong == nil && s.Scheme == a.Scheme && (a.Host == s.Host || a.Host == "api."+s.Host)
}

// gitLabRef returns the reference to an issue of GitLab. A token is sent only to the server of the
// environment, by default gitlab.com.
func gitLabRef(server, project string, n int, env Env) (Ref, error) {
	if err := checkProjectPath(project); err != nil {
		return Ref{}, err
	}
	r := Ref{Kind: GitLab, API: server + "/api/v4", Web: fmt.Sprintf("%s/%s/-/issues/%d", server, project, n), Project: project, Number: n}
	if server == gitLabServer(env) {
		r.API = normal(cmp.Or(env("CI_API_V4_URL"), r.API))
		r.Token = env("GITLAB_TOKEN")
	}
	if !isSameForge(server, r.API) {
		return Ref{}, &nexus.Error{
			Code:    nexus.CodeInvalidInput,
			Message: fmt.Sprintf("CI_API_V4_URL is %s, and the issue is at %s: they are two forges", r.API, server),
			Hint:    "Set CI_SERVER_URL as well, as GitLab's own jobs do, or neither for gitlab.com.",
		}
	}
	return r, nil
}

// ofRemote returns the reference to an issue of the project in a remote's URL.
func ofRemote(digits, remote string, env Env) (Ref, error) {
	n, _ := strconv.Atoi(digits) // cannot fail: digits
	server, project := remoteProject(remote)
	switch {
	case project == "":
		return Ref{}, &nexus.Error{
			Code:    nexus.CodeInvalidInput,
			Message: "the issue #" + digits + " belongs to no project: the remote origin has no address of one",
			Hint:    "Give the issue's whole address.",
		}
	case server == gitHubServer(env):
		return gitHubRef(project, n, env)
	case server == gitLabServer(env) || strings.Contains(server, "gitlab"):
		return gitLabRef(server, project, n, env)
	default:
		return Ref{}, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("the issue #%s is at %s, which is no forge that Nexus knows", digits, server),
			Hint: "Give the issue's whole address.",
		}
	}
}

// remoteProject returns the server and the project of a remote's URL, in any form that git
// accepts.
func remoteProject(remote string) (server, name string) {
	remote = strings.TrimSuffix(strings.TrimRight(strings.TrimSpace(remote), "/"), ".git")
	host, path := "", ""
	if u, err := url.Parse(remote); err == nil && u.Host != "" {
		host, path = u.Host, strings.Trim(u.Path, "/")
		if u.Scheme == "http" && loopback(u.Hostname()) {
			server = serverOf("http", host)
		} else if u.Scheme == "ssh" {
			host = u.Hostname()
		}
	} else if at, rest, ok := strings.Cut(remote, ":"); ok && !strings.Contains(at, "/") {
		_, host, _ = strings.Cut(at, "@")
		host, path = cmp.Or(host, at), strings.Trim(rest, "/")
	}
	if !project().MatchString(path) || host == "" || checkProjectPath(path) != nil {
		return "", ""
	}
	return cmp.Or(server, serverOf("https", host)), path
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
