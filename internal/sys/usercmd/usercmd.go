// Package usercmd prepares user-configured commands, such as hooks and plugins, for running: it
// checks that people agreed to them, and chooses their sandbox, environment, directories and
// network.
package usercmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/egress"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
)

// UserCommand is a configured command.
type UserCommand struct {
	Args    []string // program and arguments; no shell reads them
	Env     []string // "NAME=value"
	Network []string // presets and hosts that it may reach; none: no network
	Own     bool     // it belongs to the user, not to the project
	Free    bool     // it runs outside of the sandbox
}

// UsesUserVariables reports whether a command that is not the user's own names one of the user's
// variables.
func (c UserCommand) UsesUserVariables() bool {
	return !c.Own && slices.ContainsFunc(c.Env, func(v string) bool { return strings.Contains(v, "${") })
}

// absolutePathsInCommand returns the files that its command line names by an absolute path.
func (c UserCommand) absolutePathsInCommand() []string {
	var all []string
	for _, arg := range c.Args {
		if info, err := os.Stat(arg); filepath.IsAbs(arg) && filepath.Clean(arg) == arg && err == nil && info.Mode().IsRegular() {
			all = append(all, arg)
		}
	}
	return all
}

// TrustItem returns the item that a person must agree to before the command runs, or nil for none. The
// user's own commands need no agreement if they run in the sandbox, and if no file of the
// repository that they name gets the user's variables or the network.
func (c UserCommand) TrustItem(name string, text any, files map[string]string) *trust.TrustItem {
	if c.Own && !c.Free && (len(files) == 0 || len(c.Env) == 0 && len(c.Network) == 0) {
		return nil
	}
	data, err := json.MarshalIndent(text, "", "  ")
	if err != nil {
		return nil // plain values always encode
	}
	return &trust.TrustItem{Name: name, Text: string(data) + "\n"}
}

// UserCommandRunner has the environment for the commands of one repository. It may be used by many
// goroutines.
type UserCommandRunner struct {
	Box         *sandbox.Box
	Unboxed     *sandbox.Box // without confinement, for commands outside of the sandbox
	Dir         string       // the repository
	State       string       // directory of the repository's state
	Env         func(string) string
	Trust       *trust.Store
	OpenGateway func(names []string) (*egress.CommandNetworkAccess, error) // returns a gateway to the hosts that the user named
	Hidden      func(dir string) []string                                  // files in a directory that contain secrets; nil: none
	Mask        func([]byte) []byte                                        // removes keys from their output; nil: no masking
	Learn       func(value string)                                         // adds a value of their environment to Mask; may be nil
	Mark        string                                                     // name of the owner for [sandbox.Sweep]
}

// TrustState returns whether a person agreed to the item for the current state of the repository.
func (r *UserCommandRunner) TrustState(item func(*os.Root) *trust.TrustItem) (trust.TrustState, error) {
	root, err := os.OpenRoot(r.Dir)
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }() // only read
	it := item(root)
	if it == nil {
		return trust.StateTrusted, nil
	}
	judged, err := r.Trust.ItemStates(r.Dir, []trust.TrustItem{*it})
	if err != nil {
		return "", err
	}
	return judged[0].State, nil
}

// PrepareCommand returns the sandbox and the command to run. The command may write to own, which is kept.
// It can read the repository, in which it starts, the directories in trees, and the files that a
// user's own command names.
func (r *UserCommandRunner) PrepareCommand(c UserCommand, own string, vars []string, trees ...string) (*sandbox.Box, sandbox.Command, error) {
	if err := os.MkdirAll(own, 0o700); err != nil {
		return nil, sandbox.Command{}, err
	}
	set := c.Env
	if c.Own {
		var err error
		if set, err = config.ExpandVariables(set, r.Env); err != nil {
			return nil, sandbox.Command{}, err
		}
	}
	for _, v := range set { // may contain keys
		if _, value, _ := strings.Cut(v, "="); r.Learn != nil {
			r.Learn(value)
		}
	}
	made := sandbox.Command{Args: c.Args, Dir: r.Dir, Mark: r.Mark, Env: sandbox.AgentCommandEnv(slices.Concat(vars, set)...)}
	if c.Free {
		made.Env = append(made.Env, "HOME="+r.Env("HOME"))
		return r.Unboxed, made, nil
	}
	made.Readable, made.Writable = append([]string{r.Dir}, trees...), []string{own}
	if c.Own {
		made.Readable = append(made.Readable, c.absolutePathsInCommand()...)
	}
	if r.Hidden != nil {
		for _, dir := range append([]string{r.Dir}, trees...) {
			made.Hidden = append(made.Hidden, r.Hidden(dir)...)
		}
	}
	if len(c.Network) > 0 {
		way, err := r.OpenGateway(c.Network)
		if err != nil {
			return nil, made, err
		}
		made.Proxy, made.Local, made.Env = way.Serve, way.LocalPortServers(), way.ProxyEnv(made.Env, r.Box.HidesHost())
	}
	return r.Box, made, nil
}

// CommandDataDir returns the writable directory of a command, by its kind and its name.
func (r *UserCommandRunner) CommandDataDir(kind, name string) string {
	return filepath.Join(r.State, kind, name)
}

// MaskText returns the output of a command without keys.
func (r *UserCommandRunner) MaskText(data []byte) string {
	if r.Mask != nil {
		data = r.Mask(data)
	}
	return strings.ToValidUTF8(string(data), "?")
}
