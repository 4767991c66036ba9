package git

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// RemoteRepo is a repository on a server.
type RemoteRepo struct {
	URL  string // https; http only to this machine
	User string // user name of the token, as the server expects it
	// Token authenticates the user. Git receives it in its environment, and sends it only to the
	// server of URL.
	Token string
}

// Push creates a branch on a server, or moves it forward to a commit of the repository. It never
// forces: a branch with other commits is unchanged, and Push returns an error. No hook runs, and
// neither the user's keys nor credential helpers are used.
func (r Repo) Push(ctx context.Context, to RemoteRepo, branch, commit string) error {
	u, err := url.Parse(to.URL)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())) {
		return invalidInputError(to.URL+" is no https address", "Nexus sends a token only over https.", err)
	}
	if err := CheckRef("refs/heads/" + branch); err != nil {
		return invalidInputError(fmt.Sprintf("%q is not a branch", branch), "Name a branch.", err)
	}
	r.Env = append(append([]string{}, r.Env...), "GIT_ALLOW_PROTOCOL="+u.Scheme)
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "GIT_SSL_CAINFO", "SSL_CERT_FILE"} {
		if v, ok := os.LookupEnv(name); ok {
			r.Env = append(r.Env, name+"="+v)
		}
	}
	basic := base64.StdEncoding.EncodeToString([]byte(to.User + ":" + to.Token))
	settings := []string{
		"http.followRedirects", "false", // the header would be sent to the new host
		"http." + u.Scheme + "://" + u.Host + "/.extraHeader", http.CanonicalHeaderKey("authorization") + ": Basic " + basic,
	}
	r.Env = append(r.Env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(settings)/2))
	for i := 0; i < len(settings); i += 2 {
		r.Env = append(r.Env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i/2, settings[i]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i/2, settings[i+1]))
	}
	_, err = r.Run(ctx, "push", "--quiet", "--no-verify", "--no-signed", "--no-follow-tags", "--recurse-submodules=no",
		"--end-of-options", to.URL, commit+":refs/heads/"+branch)
	return pushError(err, to, branch)
}

// pushError returns the reason why a branch was not pushed, with the next step.
func pushError(err error, to RemoteRepo, branch string) error {
	x, ok := errors.AsType[*ExitError](err)
	if !ok {
		return err
	}
	e := &nexus.Error{
		Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("%s was not pushed to %s", branch, to.URL), Cause: err,
		Hint: "Push it yourself: git push origin " + branch + ".",
	}
	switch said := x.Stderr; {
	case strings.Contains(said, "non-fast-forward") || strings.Contains(said, "fetch first"):
		e.Message = fmt.Sprintf("%s has other commits at %s", branch, to.URL)
		e.Hint = "Somebody pushed to it. Merge it, or delete it there; nothing is overwritten."
	case strings.Contains(said, "LFS objects"): // GitHub and GitLab check them
		e.Hint = "The server lacks content that git LFS keeps, and Nexus does not send it. Send it yourself: git lfs push origin " + branch + "."
	case strings.Contains(said, "Authentication failed") || strings.Contains(said, "could not read Username") || strings.Contains(said, "403"):
		e.Hint = "Use a token that may write to the project."
	}
	return e
}

// isLoopback reports whether a host is this machine.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
