package egress

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// EgressGrant defines which commands have network access, and to which hosts. The nil Grant permits
// nothing.
type EgressGrant struct {
	List     HostAccessList
	Upstream func(HostTarget) (*url.URL, error) // selects an upstream proxy, see [Proxy]
	Gates    []string                           // names of the gates with access
	Roles    []string                           // roles of the agents with access
}

// GatewayForGate returns the gateway of a gate, nil if it has no access.
func (g *EgressGrant) GatewayForGate(name string) *CommandNetworkAccess {
	if g == nil || !slices.Contains(g.Gates, name) {
		return nil
	}
	return g.NewGateway()
}

// GatewayForRole returns the gateway for the commands of agents in a role, nil if they have no
// access.
func (g *EgressGrant) GatewayForRole(name string) *CommandNetworkAccess {
	if g == nil || !slices.Contains(g.Roles, name) {
		return nil
	}
	return g.NewGateway()
}

// NewGateway returns a new gateway.
func (g *EgressGrant) NewGateway() *CommandNetworkAccess {
	w := &CommandNetworkAccess{list: g.List}
	w.proxy = Proxy{List: g.List, Upstream: g.Upstream, Judged: w.book.Add, Asked: func() { w.asked.Add(1) }}
	return w
}

// CommandNetworkAccess is the network access of some commands, with the log of its use. It may be used by many
// goroutines.
type CommandNetworkAccess struct {
	list  HostAccessList
	proxy Proxy
	book  DecisionLog
	asked atomic.Int64
}

// ConnectionCount returns the number of connections requested so far, including the open ones.
func (w *CommandNetworkAccess) ConnectionCount() int {
	if w == nil {
		return 0
	}
	return int(w.asked.Load())
}

// TryHosts tries to connect to each entry of the list that names a single host, and returns the
// failures, in the order of the list.
func (w *CommandNetworkAccess) TryHosts(ctx context.Context) []EgressDecision {
	var all []EgressDecision
	for _, r := range w.list.Allow {
		if r.below || r.all {
			continue
		}
		d := EgressDecision{HostTarget: HostTarget{r.host, r.port}}
		c, no := w.proxy.withLimits().dialTarget(ctx, &d)
		if no != nil {
			d.Why = no.text
			all = append(all, d)
			continue
		}
		_ = c.Close()
	}
	return all
}

// Serve serves connections until ctx ends, see [Proxy.Serve].
func (w *CommandNetworkAccess) Serve(ctx context.Context, l net.Listener) { w.proxy.Serve(ctx, l) }

// CanReach reports whether a URL's host and port are on the list. The nil Gateway reaches nothing.
func (w *CommandNetworkAccess) CanReach(host string, port int) bool {
	return w != nil && w.list.canReach(host, port)
}

// maxLocal limits the ports of this machine that a gateway opens.
const maxLocal = 8

// LocalPortServers returns a server for each port of this machine that is on the list. Programs use no
// proxy for their own loopback, so each of these ports is opened there.
func (w *CommandNetworkAccess) LocalPortServers() map[int]func(context.Context, net.Listener) {
	all := map[int]func(context.Context, net.Listener){}
	for _, r := range w.list.Allow {
		if !isLoopback(r.host) || len(all) == maxLocal {
			continue
		}
		to := HostTarget{r.host, r.port}
		all[int(r.port)] = func(ctx context.Context, l net.Listener) { w.proxy.RelayAllTo(ctx, l, to) }
	}
	return all
}

// TakeDecisions returns the decisions since its last call.
func (w *CommandNetworkAccess) TakeDecisions() []DecisionCount {
	if w == nil {
		return nil
	}
	return w.book.TakeCounts()
}

// ProxyEnv returns the environment with the settings that tools need to use the gateway. If private is
// set, the user's package caches are read but not written.
func (w *CommandNetworkAccess) ProxyEnv(env []string, private bool) []string {
	value := func(name string) (v string) {
		for _, e := range env {
			if rest, ok := strings.CutPrefix(e, name+"="); ok {
				v = rest
			}
		}
		return v
	}
	all := slices.Clone(env)
	for _, s := range stack.AllStacks() {
		if online := s.Environment.Online; online != nil && len(s.Hosts) > 0 && w.CanReach(s.Hosts[0].Hosts[0], portHTTPS) {
			all = append(all, online(value, private)...)
		}
	}
	return all
}

// RefusalText describes the refused connections to an agent, and the possible next steps.
func RefusalText(all []DecisionCount) string {
	var b strings.Builder
	for _, t := range all {
		if t.Why == "" {
			continue
		}
		verb := "refused"
		if t.Allowed {
			verb = "failed"
		}
		fmt.Fprintf(&b, "[network: %s %s", t.HostTarget, verb)
		if t.Times > 1 {
			b.WriteString(" " + strconv.Itoa(t.Times) + " times")
		}
		fmt.Fprintf(&b, ": %s]\n", sanitize.TruncateText(t.Why, 300))
	}
	if b.Len() > 0 && slices.ContainsFunc(all, func(t DecisionCount) bool { return !t.Allowed }) {
		b.WriteString("[network: only hosts on the list can be reached; do without, or say in finish which host is needed and why: a person can add it to network.allow]\n")
	}
	return b.String()
}
