// Package plugin runs plugins: programs of other people that are asked
// questions, in JSON lines over standard input and output.
//
// A program is started for a piece of work, such as the review of one change.
// Both sides say who they are, it is asked, one question at a time, and it ends when
// its input does. It runs in the sandbox unless somebody agreed to something
// else. Whatever it says is data from a stranger: bounded, held to a schema,
// and good for nothing but the answer to the question that was asked.
// docs/extend.md describes the protocol.
package plugin

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
	"github.com/nexus-ai-builder/nexus/internal/sys/usercmd"
)

// usual is the time for an answer of a plugin that has no timeout of its own.
const usual = 30 * time.Second

// Plugin is a plugin as somebody declared it.
type Plugin struct {
	Name string
	config.Plugin
	Own bool // it is the user's, not the project's
}

// All returns the plugins that hold, in the order of their names. One that
// cannot be run as it is declared is an error, whatever it is for: it may have
// been meant to be required.
func All(c config.Config, o config.Origins) ([]Plugin, error) {
	theirs := o.Projects(config.PluginSection)
	var all []Plugin
	for _, name := range slices.Sorted(maps.Keys(c.Plugins)) {
		p := Plugin{Name: name, Plugin: c.Plugins[name], Own: !slices.Contains(theirs, name)}
		if why := p.check(); why != "" {
			return nil, &nexus.Error{
				Code: nexus.CodeInvalidConfig, Message: fmt.Sprintf("plugins.%s: %s", name, why),
				Hint: `Write, for example, command = "my-plugin" and kinds = ["reviewer"]; docs/extend.md explains it.`,
			}
		}
		all = append(all, p)
	}
	return all, nil
}

// check says why a plugin cannot be used as it is declared.
func (p Plugin) check() string {
	switch {
	case p.Command == "":
		return "it has no command"
	case len(p.Kinds) == 0:
		return "it names no kinds of questions (kinds)"
	case p.Required && !slices.ContainsFunc(p.Kinds, func(k string) bool { return k != string(nexus.PluginReporter) }):
		return "required applies to plugins that answer questions, and a reporter only receives events: leave it out"
	case p.declared().UsesUserVariables():
		return "it names a variable of yours, which only your own configuration may do"
	}
	return ""
}

// OfKind returns the plugins of a kind.
func OfKind(all []Plugin, k nexus.PluginKind) []Plugin {
	return slices.DeleteFunc(slices.Clone(all), func(p Plugin) bool { return !p.IsOfKind(k) })
}

// IsOfKind reports whether a plugin is asked for something of a kind.
func (p Plugin) IsOfKind(k nexus.PluginKind) bool { return slices.Contains(p.Kinds, string(k)) }

// IsUnsandboxed reports whether it is run outside of the sandbox.
func (p Plugin) IsUnsandboxed() bool { return p.Sandbox == "off" }

// Limit is the time that it has for each answer.
func (p Plugin) Limit() time.Duration { return cmp.Or(p.Timeout, usual) }

// Argv is its command line.
func (p Plugin) Argv() []string { return append([]string{p.Command}, p.Args...) }

// declared is the plugin's command.
func (p Plugin) declared() usercmd.Command {
	return usercmd.Command{Args: p.Argv(), Env: p.Env, Network: p.Network, Own: p.Own, Free: p.IsUnsandboxed()}
}

// Item is what somebody has to agree to before it is run; nil: nothing.
func (p Plugin) Item(root *os.Root) *trust.Item {
	files := trust.CommandFiles(root, "", p.Argv())
	return p.declared().Item("plugin:"+p.Name, struct {
		Kinds    []string          `json:"kinds"`
		Command  []string          `json:"command"`
		Env      []string          `json:"env,omitempty"`
		Timeout  string            `json:"timeout"`
		Required bool              `json:"required,omitzero"`
		Network  []string          `json:"network,omitempty"`
		Sandbox  string            `json:"sandbox"`
		Files    map[string]string `json:"files,omitempty"` // of the repository, by SHA-256
	}{p.Kinds, p.Argv(), p.Env, p.Limit().String(), p.Required, p.Network, cmp.Or(p.Sandbox, "on"), files}, files)
}

// TrustState says how a plugin stands.
func (p Plugin) TrustState(r *usercmd.Runner) (trust.State, error) { return r.TrustState(p.Item) }

// Error says why a plugin did not answer.
type Error struct {
	Plugin string
	State  nexus.PluginState
	Why    string
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("plugin %s: %s: %s", e.Plugin, e.State, e.Why) }
