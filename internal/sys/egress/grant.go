package egress

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus/legible"
)

// Grant says who may go out, and where to. The nil Grant lets nobody.
type Grant struct {
	List     List
	Upstream func(Target) (*url.URL, error) // see [Proxy]
	Gates    []string                       // gates of these names
	Roles    []string                       // agents in these roles
}

// Gate returns the way out for a gate, nil where it has none.
func (g *Grant) Gate(name string) *Way {
	if g == nil || !slices.Contains(g.Gates, name) {
		return nil
	}
	return g.Open()
}

// Role returns the way out for what agents in a role run, nil where they have
// none.
func (g *Grant) Role(name string) *Way {
	if g == nil || !slices.Contains(g.Roles, name) {
		return nil
	}
	return g.Open()
}

// Open returns a way out.
func (g *Grant) Open() *Way {
	w := &Way{list: g.List}
	w.proxy = Proxy{List: g.List, Upstream: g.Upstream, Judged: w.book.Add}
	return w
}

// Way is the way out of somebody's commands, and what went through it. It may
// be used by many goroutines.
type Way struct {
	list  List
	proxy Proxy
	book  Ledger
}

// Serve is [Proxy.Serve].
func (w *Way) Serve(ctx context.Context, l net.Listener) { w.proxy.Serve(ctx, l) }

// Reaches reports whether a URL's host and port are on the list. The nil Way
// reaches nothing.
func (w *Way) Reaches(host string, port int) bool { return w != nil && w.list.reaches(host, port) }

// Take returns what was decided since it was last called.
func (w *Way) Take() []Tally {
	if w == nil {
		return nil
	}
	return w.book.Take()
}

// Env returns an environment with what tools need to fetch what they may. Go's
// own cache of modules is not written: what is fetched goes to a private one,
// which takes from that as from a proxy.
func (w *Way) Env(env []string, private bool) []string {
	modules, err := Preset("go")
	if err != nil || !w.Reaches(modules[0], portHTTPS) {
		return env
	}
	from := "https://" + modules[0] // the first of them is the proxy; see `go help goproxy`
	env = slices.Clone(env)
	value := func(name string) (v string) {
		for _, e := range env {
			if rest, ok := strings.CutPrefix(e, name+"="); ok {
				v = rest
			}
		}
		return v
	}
	if have := value("GOMODCACHE"); have != "" && private {
		from = (&url.URL{Scheme: "file", Path: have + "/cache/download"}).String() + "," + from
		env = append(env, "GOMODCACHE=/tmp/gomodcache", "GOFLAGS="+strings.TrimSpace(value("GOFLAGS")+" -modcacherw"))
	}
	return append(env, "GOPROXY="+from)
}

// Refusals says to an agent what did not get through, and what can be done.
func Refusals(all []Tally) string {
	var b strings.Builder
	for _, t := range all {
		if t.Why == "" {
			continue
		}
		verb := "refused"
		if t.Allowed {
			verb = "failed"
		}
		fmt.Fprintf(&b, "[network: %s %s", t.Target, verb)
		if t.Times > 1 {
			b.WriteString(" " + strconv.Itoa(t.Times) + " times")
		}
		fmt.Fprintf(&b, ": %s]\n", legible.Cut(t.Why, 300))
	}
	if b.Len() > 0 && slices.ContainsFunc(all, func(t Tally) bool { return !t.Allowed }) {
		b.WriteString("[network: only hosts on the list can be reached; do without, or say in finish which host is needed and why: a person can add it to network.allow]\n")
	}
	return b.String()
}
