package gate

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/egress"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
)

// runWithNetwork runs a command with a network gateway, nil for none, and returns the hosts
// that it requested. Refused requests are listed at the end of its standard error.
func runWithNetwork(ctx context.Context, b *sandbox.Box, c sandbox.Command, way *egress.CommandNetworkAccess) (sandbox.Result, []nexus.RequestedHost, error) {
	if way == nil {
		r, err := b.Run(ctx, c)
		return r, nil, err
	}
	c.Proxy, c.Local, c.Env = way.Serve, way.LocalPortServers(), way.ProxyEnv(c.Env, b.HidesHost())
	r, err := b.Run(ctx, c)
	all := way.TakeDecisions()
	r.Stderr = append(r.Stderr, egress.RefusalText(all)...)
	return r, egress.RequestedHostsOf(all), err
}
