package app

import (
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/egress"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
)

// networkItem is the name of a repository's network settings as an item to agree to.
const networkItem = "nexus.toml [network]"

// networkTrustItems returns the network access that the repository at dir requests, as an item to
// agree to.
func networkTrustItems(dir string) ([]trust.TrustItem, error) {
	text, err := config.RequestedNetwork(dir)
	if err != nil || text == "" {
		return nil, err
	}
	return []trust.TrustItem{{Name: networkItem, Text: text}}, nil
}

// EgressGrantFor returns the network access for work on the repository at dir: none unless the user
// configures it, and none of the repository's requests unless a person agreed to them.
func EgressGrantFor(c config.NetworkAccessSettings, dir string, book *trust.Store, env func(string) string) (*egress.EgressGrant, error) {
	if c.Mode != "list" {
		return nil, nil //nolint:nilnil // nobody's grant, which is a value of its own
	}
	items, err := networkTrustItems(dir)
	if err != nil {
		return nil, err
	}
	if len(items) > 0 && book == nil {
		return nil, &nexus.Error{
			Code: nexus.CodeUntrusted, Message: networkItem + " is not trusted here",
			Hint: "Work on a repository without it, or with network.mode off.",
		}
	}
	if len(items) > 0 {
		if err := book.CheckTrusted(dir, items); err != nil {
			return nil, err
		}
	}
	return c.EgressGrant(env)
}

// CommandEgressGrant returns a grant for one command: off, list, or names of presets and hosts with
// commas between. Hosts that the configuration denies are denied.
func CommandEgressGrant(mode string, c config.NetworkAccessSettings, dir string, book *trust.Store, env func(string) string) (*egress.EgressGrant, error) {
	switch mode {
	case "", "off", "none":
		return nil, nil //nolint:nilnil // nobody's grant, which is a value of its own
	case "list":
		c.Mode = "list"
		return EgressGrantFor(c, dir, book, env)
	}
	own := config.NetworkAccessSettings{Mode: "list", Deny: c.Deny, Upstream: c.Upstream}
	for name := range strings.SplitSeq(mode, ",") {
		if _, err := egress.PresetHosts(name); err == nil {
			own.Allow = append(own.Allow, name)
			continue
		}
		if _, err := egress.ParseAllowedHost(name); err != nil || !strings.ContainsAny(name, ".:") {
			return nil, &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("no network %q", sanitize.TruncateText(name, 80)), Cause: err,
				Hint: "Use off, list, or presets and hosts separated by commas, such as npm,example.com:8443; presets are " + strings.Join(egress.PresetNames(), ", ") + ".",
			}
		}
		own.Allow = append(own.Allow, name)
	}
	return own.EgressGrant(env)
}

// EnforceableEgressGrant is [EgressGrantFor], and returns an error if the sandbox cannot enforce it.
func EnforceableEgressGrant(c config.NetworkAccessSettings, dir string, book *trust.Store, env func(string) string, box *sandbox.Box) (*egress.EgressGrant, error) {
	g, err := EgressGrantFor(c, dir, book, env)
	if err == nil && g != nil && len(g.Gates)+len(g.Roles) > 0 {
		err = box.CheckEgress()
	}
	return g, err
}
