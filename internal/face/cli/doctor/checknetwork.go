package doctor

import (
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// checkNetwork reports which hosts commands can reach in this sandbox.
func checkNetwork(a *console.Console, box *sandbox.Box, n config.NetworkAccessSettings) Check {
	c := Check{Name: "network", State: Fine, Detail: "off"}
	if box.Name() == string(sandbox.ModeOff) {
		c.State, c.Detail = Notice, "unrestricted: without a sandbox, commands reach everything you can"
		return c
	}
	no := box.CheckEgress()
	g, err := n.EgressGrant(a.Env)
	switch {
	case err != nil:
		return checkOf("network", "", err)
	case g == nil && no != nil:
		c.Detail = "off; this sandbox supports no network"
	case g == nil:
		c.Detail = "off; a list of hosts can be allowed, see network.mode"
	case no != nil:
		return checkOf("network", "", no)
	case len(g.Gates)+len(g.Roles) == 0:
		c.State, c.Detail = Notice, "hosts are allowed, but for no gate or role"
		c.Hint = "Name gates or roles in network.gates or network.roles."
	default:
		c.Detail = fmt.Sprintf("%s for hosts; gates: %s; roles: %s", view.CountWithNoun(len(g.List.Allow), "rule"), joinOrNone(g.Gates), joinOrNone(g.Roles))
		if g.Upstream != nil {
			c.State, c.Detail = Notice, c.Detail+"; through the proxy of your environment, which resolves names, so addresses are not checked"
		}
	}
	return c
}

func joinOrNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
