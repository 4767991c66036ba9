package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// connectionServeFunc serves connections until ctx ends, and returns when all its work has ended.
type connectionServeFunc func(ctx context.Context, l net.Listener)

var errOver = errors.New("the command is over")

// serveLocal serves on a port of the host's own loopback, if there is no box. It returns the port,
// and a function that ends the server.
func serveLocal(ctx context.Context, serve connectionServeFunc) (port int, done func(), err error) {
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, nil, fmt.Errorf("open the proxy's port: %w", err)
	}
	if a, ok := l.Addr().(*net.TCPAddr); ok {
		port = a.Port
	}
	ended := make(chan struct{})
	ctx, stop := context.WithCancelCause(ctx)
	go func() { serve(ctx, l); close(ended) }()
	return port, func() { stop(errOver); <-ended }, nil
}

// proxyEnv returns the variables that make programs use a proxy on a port of their loopback.
func proxyEnv(port int) []string {
	at := "127.0.0.1:" + strconv.Itoa(port)
	url := "http://" + at
	const none = "localhost,127.0.0.1,::1"
	env := []string{"HTTP_PROXY=" + url, "HTTPS_PROXY=" + url, "http_proxy=" + url, "https_proxy=" + url, "NO_PROXY=" + none, "no_proxy=" + none}
	for _, v := range stack.MergedEnvironment().Proxied {
		env = append(env, strings.NewReplacer("{url}", url, "{host}", "127.0.0.1", "{port}", strconv.Itoa(port)).Replace(v))
	}
	return env
}

// certificateVars returns the paths of the host's trusted CA certificates, and the variables in
// env that name some.
func certificateVars(env []string) (paths, vars []string) {
	paths = []string{
		"/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/ssl/ca-bundle.pem", "/etc/ssl/openssl.cnf",
		"/etc/pki/tls/certs", "/etc/pki/tls/cert.pem", "/etc/pki/ca-trust/extracted", "/etc/ca-certificates/extracted", "/var/lib/ca-certificates",
	}
	names := append([]string{"SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "NIX_SSL_CERT_FILE"}, stack.MergedEnvironment().Trusts...)
	for _, e := range env {
		name, path, _ := strings.Cut(e, "=")
		if !slices.Contains(names, name) || !filepath.IsAbs(path) || filepath.Clean(path) != path || path == "/" {
			continue
		}
		vars = append(vars, e)
		if !slices.ContainsFunc(paths, func(p string) bool { return path == p || strings.HasPrefix(path, p+"/") }) {
			paths = append(paths, path)
		}
	}
	return slices.DeleteFunc(paths, func(p string) bool {
		_, err := os.Stat(p)
		return err != nil
	}), vars
}
