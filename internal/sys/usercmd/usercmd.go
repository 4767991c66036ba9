// Package usercmd makes commands ready to run that people declared for Nexus,
// such as hooks and plugins: it holds them to what people agreed to, and says
// in which box they run, with which environment, directories and network.
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

// Command is a command as somebody declared it.
type Command struct {
	Args    []string // program and arguments; no shell reads them
	Env     []string // "NAME=value"
	Network []string // presets and hosts that it reaches; none: no network
	Own     bool     // it is the user's, not the project's
	Free    bool     // it runs outside of the sandbox
}

// UsesUserVariables reports whether it names a variable of the user's though it is not
// the user's own.
func (c Command) UsesUserVariables() bool {
	return !c.Own && slices.ContainsFunc(c.Env, func(v string) bool { return strings.Contains(v, "${") })
}

// files returns the files that its command line names by an absolute path.
func (c Command) files() []string {
	var all []string
	for _, arg := range c.Args {
		if info, err := os.Stat(arg); filepath.IsAbs(arg) && filepath.Clean(arg) == arg && err == nil && info.Mode().IsRegular() {
			all = append(all, arg)
		}
	}
	return all
}

// Item writes out what somebody has to agree to before it is run, nil for
// nothing: what the user declared is agreed to, as long as it stays in the
// sandbox, and no file of the repository that it names gets at the user's
// variables or the network.
func (c Command) Item(name string, text any, files map[string]string) *trust.Item {
	if c.Own && !c.Free && (len(files) == 0 || len(c.Env) == 0 && len(c.Network) == 0) {
		return nil
	}
	data, err := json.MarshalIndent(text, "", "  ")
	if err != nil {
		return nil // plain values can be encoded
	}
	return &trust.Item{Name: name, Text: string(data) + "\n"}
}

// Runner knows where the commands of one repository run. It may be used by many
// goroutines.
type Runner struct {
	Box    *sandbox.Box
	Open   *sandbox.Box // off, for commands outside of the sandbox
	Dir    string       // the repository
	State  string       // directory of the repository's state
	Env    func(string) string
	Book   *trust.Store
	Way    func(names []string) (*egress.Gateway, error) // a way out to what the user named
	Hidden func(dir string) []string                     // files in a directory that hold secrets; nil: none
	Mask   func([]byte) []byte                           // takes keys out of what they say; nil: nothing does
	Learn  func(value string)                            // makes Mask know a value of their environment; may be nil
	Mark   string                                        // names the owner to [sandbox.Sweep]
}

// TrustState says whether somebody agreed to what item says of the repository as it
// is now.
func (r *Runner) TrustState(item func(*os.Root) *trust.Item) (trust.State, error) {
	root, err := os.OpenRoot(r.Dir)
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }() // only read
	it := item(root)
	if it == nil {
		return trust.Trusted, nil
	}
	judged, err := r.Book.ItemStates(r.Dir, []trust.Item{*it})
	if err != nil {
		return "", err
	}
	return judged[0].State, nil
}

// Prepare returns what is run, and in which box. The command may write to own, which
// stays. It reads the repository, in which it starts, what trees names,
// and the files of the user's that the user's own command names.
func (r *Runner) Prepare(c Command, own string, vars []string, trees ...string) (*sandbox.Box, sandbox.Command, error) {
	if err := os.MkdirAll(own, 0o700); err != nil {
		return nil, sandbox.Command{}, err
	}
	set := c.Env
	if c.Own {
		var err error
		if set, err = config.Fill(set, r.Env); err != nil {
			return nil, sandbox.Command{}, err
		}
	}
	for _, v := range set { // may hold keys
		if _, value, _ := strings.Cut(v, "="); r.Learn != nil {
			r.Learn(value)
		}
	}
	made := sandbox.Command{Args: c.Args, Dir: r.Dir, Mark: r.Mark, Env: sandbox.QuietEnv(slices.Concat(vars, set)...)}
	if c.Free {
		made.Env = append(made.Env, "HOME="+r.Env("HOME"))
		return r.Open, made, nil
	}
	made.Readable, made.Writable = append([]string{r.Dir}, trees...), []string{own}
	if c.Own {
		made.Readable = append(made.Readable, c.files()...)
	}
	if r.Hidden != nil {
		for _, dir := range append([]string{r.Dir}, trees...) {
			made.Hidden = append(made.Hidden, r.Hidden(dir)...)
		}
	}
	if len(c.Network) > 0 {
		way, err := r.Way(c.Network)
		if err != nil {
			return nil, made, err
		}
		made.Proxy, made.Local, made.Env = way.Serve, way.LocalPorts(), way.Env(made.Env, r.Box.HidesHost())
	}
	return r.Box, made, nil
}

// Own returns the directory that a command may write to, by its kind and its
// name.
func (r *Runner) Own(kind, name string) string { return filepath.Join(r.State, kind, name) }

// Text returns what a command said, without keys.
func (r *Runner) Text(data []byte) string {
	if r.Mask != nil {
		data = r.Mask(data)
	}
	return strings.ToValidUTF8(string(data), "?")
}
