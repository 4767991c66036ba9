package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/config/valuekind"
	"github.com/nexus-ai-builder/nexus/internal/sys/egress"
)

func networkKeys() []SettingKey {
	const host = `hosts as "name", "name:port", "*.name" or an address`
	return []SettingKey{
		newSingleKey("network.mode", valuekind.OneOfKind("off", "list"), "off: commands reach only their own loopback; list: commands of network.gates and network.roles reach the hosts on the list, through a proxy",
			func(c *Config) *string { return &c.Network.Mode }).withProjectDenied("you decide whether anything leaves this machine"),
		newSingleKey("network.allow", hostListKind(egress.ParseAllowedHost), host+", or names of package registries: "+strings.Join(egress.PresetNames(), ", ")+"; default port: 443; a private address needs its port. Each file may add; the project's needs nexus trust",
			func(c *Config) *[]string { return &c.Network.Allow }).withMergedLayers(),
		newSingleKey("network.deny", hostListKind(egress.ParseDeniedHost), host+`, or "*", that are always refused, on every port if none is given; each file may add`,
			func(c *Config) *[]string { return &c.Network.Deny }).withMergedLayers(),
		newSingleKey("network.gates", valuekind.NameListKind(), "gates whose commands may use the network, such as one that installs; each file may add; the project's needs nexus trust",
			func(c *Config) *[]string { return &c.Network.Gates }).withMergedLayers(),
		newSingleKey("network.roles", valuekind.NameListKind(), "roles whose commands may use the network; each file may add; the project's needs nexus trust",
			func(c *Config) *[]string { return &c.Network.Roles }).withMergedLayers(),
		newSingleKey("network.upstream", valuekind.BooleanKind(), "use the proxy that HTTPS_PROXY and HTTP_PROXY name in your environment; the proxy resolves host names, so Nexus cannot check their addresses",
			func(c *Config) *bool { return &c.Network.Upstream }).withProjectDenied("it decides who resolves names"),
	}
}

// hostListKind returns the kind that reads a list of hosts.
func hostListKind(parse func(string) (egress.HostRule, error)) valuekind.Kind {
	return valuekind.CheckedListKind("list of hosts", func(names []string) (any, error) {
		for _, n := range names {
			if _, err := parse(n); err != nil {
				return nil, err
			}
		}
		return names, nil
	})
}

// RequestedNetwork returns the network access that a project's file requests, in the syntax of the
// file, or "". Denied hosts are no request.
func RequestedNetwork(root string) (string, error) {
	path := filepath.Join(root, "nexus.toml")
	data, err := ReadFile(path)
	if os.IsNotExist(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	tree, err := parseTOML(data)
	if err != nil {
		return "", tomlError(path, err)
	}
	section, _ := tree["network"].(map[string]any)
	var b strings.Builder
	for _, name := range []string{"allow", "gates", "roles"} {
		items, _ := section[name].([]any)
		var texts []string
		for _, it := range items {
			texts = append(texts, fmt.Sprint(it))
		}
		slices.Sort(texts)
		if len(texts) > 0 {
			fmt.Fprintf(&b, "%s = %s\n", name, valuekind.FormatValue(texts))
		}
	}
	return b.String(), nil
}

// EgressGrant returns the network access that the configuration permits, nil for none; env is the user's
// environment.
func (n NetworkAccessSettings) EgressGrant(env func(string) string) (*egress.EgressGrant, error) {
	if n.Mode != "list" {
		return nil, nil //nolint:nilnil // nobody's grant, which is a value of its own
	}
	var presets, hosts []string
	for _, name := range n.Allow {
		if slices.Contains(egress.PresetNames(), name) {
			presets = append(presets, name)
		} else {
			hosts = append(hosts, name)
		}
	}
	l, err := egress.ParseHostLists(hosts, presets, n.Deny)
	if err != nil {
		return nil, err
	}
	g := &egress.EgressGrant{List: l, Gates: n.Gates, Roles: n.Roles}
	if n.Upstream {
		g.Upstream = egress.ProxyFromEnvironment(env)
	}
	return g, nil
}
