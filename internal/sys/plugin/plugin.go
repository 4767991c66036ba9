// Package plugin runs plugins: third-party programs that answer questions, in JSON lines over
// standard input and output.
//
// A program is started for one piece of work, such as the review of one change. Both sides
// introduce themselves, the program gets one question at a time, and it ends with its input. It
// runs in the sandbox unless a person agreed to something else. Its output is untrusted: limited
// in size, validated against a schema, and used only as the answer to the question. docs/extend.md
// describes the protocol.
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

// defaultTimeout is the timeout for an answer of a plugin without one of its own.
const defaultTimeout = 30 * time.Second

// DeclaredPlugin is a configured plugin.
type DeclaredPlugin struct {
	Name string
	config.PluginSettings
	Own bool // it belongs to the user, not to the project
}

// ListPlugins returns the active plugins, ordered by name. An invalid plugin is an error for every kind:
// it may have been meant to be required.
func ListPlugins(c config.Config, o config.SettingOrigins) ([]DeclaredPlugin, error) {
	theirs := o.ProjectEntries(config.PluginSection)
	var all []DeclaredPlugin
	for _, name := range slices.Sorted(maps.Keys(c.Plugins)) {
		p := DeclaredPlugin{Name: name, PluginSettings: c.Plugins[name], Own: !slices.Contains(theirs, name)}
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

// check returns why a plugin is invalid as declared, or "".
func (p DeclaredPlugin) check() string {
	switch {
	case p.Command == "":
		return "it has no command"
	case len(p.Kinds) == 0:
		return "it names no kinds of questions (kinds)"
	case p.Required && !slices.ContainsFunc(p.Kinds, func(k string) bool { return k != string(nexus.PluginReporter) }):
		return "required applies to plugins that answer questions, and a reporter only receives events: leave it out"
	case p.userCommand().UsesUserVariables():
		return "it names a variable of yours, which only your own configuration may do"
	}
	return ""
}

// PluginsOfKind returns the plugins of a kind.
func PluginsOfKind(all []DeclaredPlugin, k nexus.PluginKind) []DeclaredPlugin {
	return slices.DeleteFunc(slices.Clone(all), func(p DeclaredPlugin) bool { return !p.IsOfKind(k) })
}

// IsOfKind reports whether a plugin answers questions of a kind.
func (p DeclaredPlugin) IsOfKind(k nexus.PluginKind) bool { return slices.Contains(p.Kinds, string(k)) }

// IsUnsandboxed reports whether it runs outside of the sandbox.
func (p DeclaredPlugin) IsUnsandboxed() bool { return p.Sandbox == "off" }

// AnswerTimeout returns its timeout for each answer.
func (p DeclaredPlugin) AnswerTimeout() time.Duration { return cmp.Or(p.Timeout, defaultTimeout) }

// CommandLine returns its command line.
func (p DeclaredPlugin) CommandLine() []string { return append([]string{p.Command}, p.Args...) }

// userCommand returns the plugin's command.
func (p DeclaredPlugin) userCommand() usercmd.UserCommand {
	return usercmd.UserCommand{Args: p.CommandLine(), Env: p.Env, Network: p.Network, Own: p.Own, Free: p.IsUnsandboxed()}
}

// TrustItem returns the item that a person must agree to before the plugin runs; nil: none.
func (p DeclaredPlugin) TrustItem(root *os.Root) *trust.TrustItem {
	files := trust.FilesOfCommand(root, "", p.CommandLine())
	return p.userCommand().TrustItem("plugin:"+p.Name, struct {
		Kinds    []string          `json:"kinds"`
		Command  []string          `json:"command"`
		Env      []string          `json:"env,omitempty"`
		Timeout  string            `json:"timeout"`
		Required bool              `json:"required,omitzero"`
		Network  []string          `json:"network,omitempty"`
		Sandbox  string            `json:"sandbox"`
		Files    map[string]string `json:"files,omitempty"` // of the repository, with SHA-256 sums
	}{p.Kinds, p.CommandLine(), p.Env, p.AnswerTimeout().String(), p.Required, p.Network, cmp.Or(p.Sandbox, "on"), files}, files)
}

// ReadTrustState returns the trust state of a plugin.
func (p DeclaredPlugin) ReadTrustState(r *usercmd.UserCommandRunner) (trust.TrustState, error) {
	return r.TrustState(p.TrustItem)
}

// Error is the reason why a plugin did not answer.
type Error struct {
	Plugin string
	State  nexus.PluginAnswerState
	Why    string
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("plugin %s: %s: %s", e.Plugin, e.State, e.Why) }
