package app

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/egress"
	"github.com/nexus-ai-builder/nexus/internal/sys/mcp/serverconfig"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/mcptools"
)

// MCPServerTrust is an MCP server, and whether it may be used.
type MCPServerTrust struct {
	serverconfig.DeclaredServer
	State trust.TrustState
	Text  string // the command that it would run
}

// MCPServers returns all MCP servers of the repository at dir, ordered by name. If one of its
// files is broken it returns an error, together with the other servers.
func (a *App) MCPServers(dir string) (all []MCPServerTrust, err error) {
	c, origins, err := a.LoadSettings()
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	declared, broken := serverconfig.ListDeclaredServers(c, origins, root)
	for _, d := range declared {
		s := MCPServerTrust{d, trust.StateTrusted, d.ConsentText(root)}
		if !d.Own && d.Why == nil {
			judged, err := a.TrustStore().ItemStates(dir, []trust.TrustItem{{Name: d.TrustKey(), Text: s.Text}})
			if err != nil {
				return nil, err
			}
			s.State = judged[0].State
		}
		all = append(all, s)
	}
	return all, broken
}

// MCPServerTrustItems returns the items that a person must agree to: the repository's servers, and the
// last known descriptions of their tools.
func (a *App) MCPServerTrustItems(dir string) ([]trust.TrustItem, error) {
	all, err := a.MCPServers(dir)
	if err != nil {
		return nil, err
	}
	var items []trust.TrustItem
	var known []string
	for _, s := range all {
		if !s.Own && s.Why == nil {
			items = append(items, trust.TrustItem{Name: s.TrustKey(), Text: s.Text})
		}
		known = append(known, s.TrustKey()+"/")
	}
	met, err := a.TrustStore().LastSeenItems(dir)
	if err != nil {
		return nil, err
	}
	for _, item := range met {
		for _, its := range known {
			if strings.HasPrefix(item.Name, its) {
				items = append(items, item)
			}
		}
	}
	return items, nil
}

// MCPServerEgress gives server programs network access to the hosts and presets that the user
// named for them, except denied ones.
func (a *App) MCPServerEgress() func(names []string) (*egress.CommandNetworkAccess, error) {
	return func(names []string) (*egress.CommandNetworkAccess, error) {
		c, _, err := a.LoadSettings()
		if err != nil {
			return nil, err
		}
		g, err := CommandEgressGrant(strings.Join(names, ","), c.Network, "", nil, a.Env)
		if err != nil {
			return nil, err
		}
		return g.NewGateway(), nil
	}
}

// OpenMCPServers returns the MCP servers that agents may use in the repository at dir. It reports
// which of them they may not use, with the remedy. It starts none.
func (a *App) OpenMCPServers(dir string) (*mcptools.RunMCPServers, error) {
	all, err := a.MCPServers(dir)
	if e, ok := errors.AsType[*nexus.Error](err); ok && e.Code == nexus.CodeInvalidConfig { // work continues without it
		a.reportText(fmt.Sprintf("MCP servers of the repository are left out: %s", sanitize.RevealHidden(err.Error())))
	} else if err != nil {
		return nil, err
	}
	s := &mcptools.RunMCPServers{Text: map[string]string{}, Root: dir, Book: a.TrustStore(), Env: a.Env, Say: a.reportText, Way: a.MCPServerEgress()}
	for _, one := range all {
		switch {
		case one.Why != nil:
			a.reportText(fmt.Sprintf("MCP server %s of %s is left out: %s", one.Name, one.From, sanitize.RevealHidden(one.Why.Error())))
		case one.State != trust.StateTrusted:
			a.reportText(fmt.Sprintf("MCP server %s of %s is left out: it is not trusted (%s); read what it would run with nexus trust, then trust it with nexus trust --yes", one.Name, one.From, one.State))
		default:
			s.List = append(s.List, one.DeclaredServer)
			s.Text[one.Name] = one.Text
		}
	}
	return s, nil
}
