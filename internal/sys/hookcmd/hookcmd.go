// Package hookcmd finds the configured hooks and runs their commands, with an event on standard
// input and an exit code as the answer.
//
// A command runs in the sandbox: it can read the repository, write only its own directory, and has
// no network. A hook in the user's own settings may run outside of the sandbox. A hook of the
// project's file, and any hook outside of the sandbox, runs only while it is unchanged since a
// person agreed to it, including the files of the repository that its command line names.
package hookcmd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
	"github.com/nexus-ai-builder/nexus/internal/sys/usercmd"
)

const (
	defaultTimeout = 30 * time.Second // timeout of a hook without one of its own
	maxSaid        = 1_000            // characters of standard error used as the reason
)

// DeclaredHook is a configured hook.
type DeclaredHook struct {
	Name string
	config.HookSettings
	Own bool // it belongs to the user, not to the project
}

// ListHooks returns the active hooks, ordered by name. An invalid hook is an error: its purpose may be
// to refuse something.
func ListHooks(c config.Config, o config.SettingOrigins) ([]DeclaredHook, error) {
	theirs := o.ProjectEntries(config.HookSection)
	var all []DeclaredHook
	for _, name := range slices.Sorted(maps.Keys(c.Hooks)) {
		h := DeclaredHook{Name: name, HookSettings: c.Hooks[name], Own: !slices.Contains(theirs, name)}
		if why := h.checkDeclaration(); why != "" {
			return nil, &nexus.Error{
				Code: nexus.CodeInvalidConfig, Message: fmt.Sprintf("hooks.%s: %s", name, why),
				Hint: `Write, for example, on = ["run.end"] and command = ["notify-send", "done"]; docs/extend.md explains it.`,
			}
		}
		all = append(all, h)
	}
	return all, nil
}

// checkDeclaration returns why a hook is invalid as declared, or "".
func (h DeclaredHook) checkDeclaration() string {
	switch {
	case len(h.Command) == 0 || h.Command[0] == "":
		return "it has no command"
	case len(h.On) == 0:
		return "it has no points at which it is run (on)"
	case h.userCommand().UsesUserVariables():
		return "it names a variable of yours, which only your own configuration may do"
	}
	return ""
}

// HooksAtPoint returns the hooks of a point.
func HooksAtPoint(all []DeclaredHook, p nexus.HookPoint) []DeclaredHook {
	return slices.DeleteFunc(slices.Clone(all), func(h DeclaredHook) bool { return !h.RunsAt(p) })
}

// RunsAt reports whether a hook runs at a point.
func (h DeclaredHook) RunsAt(p nexus.HookPoint) bool { return slices.Contains(h.On, string(p)) }

// MayRefuse reports whether it runs at a point at which hooks may refuse.
func (h DeclaredHook) MayRefuse() bool {
	return slices.ContainsFunc(h.On, func(p string) bool { return nexus.HookPoint(p).CanRefuse() })
}

// HasObservingPoint reports whether it runs at a point at which hooks may not refuse.
func (h DeclaredHook) HasObservingPoint() bool {
	return slices.ContainsFunc(h.On, func(p string) bool { return !nexus.HookPoint(p).CanRefuse() })
}

// IsUnsandboxed reports whether it runs outside of the sandbox.
func (h DeclaredHook) IsUnsandboxed() bool { return h.Sandbox == "off" }

// TimeLimit returns its timeout.
func (h DeclaredHook) TimeLimit() time.Duration { return cmp.Or(h.Timeout, defaultTimeout) }

// TrustItem returns the item that a person must agree to before the hook runs; nil: none.
func (h DeclaredHook) TrustItem(root *os.Root) *trust.TrustItem {
	files := trust.FilesOfCommand(root, "", h.Command)
	return h.userCommand().TrustItem("hook:"+h.Name, struct {
		On      []string          `json:"on"`
		Command []string          `json:"command"`
		Env     []string          `json:"env,omitempty"`
		Timeout string            `json:"timeout"`
		Network []string          `json:"network,omitempty"`
		Sandbox string            `json:"sandbox"`
		Files   map[string]string `json:"files,omitempty"` // of the repository, with SHA-256 sums
	}{h.On, h.Command, h.Env, h.TimeLimit().String(), h.Network, cmp.Or(h.Sandbox, "on"), files}, files)
}

// userCommand returns the hook's command.
func (h DeclaredHook) userCommand() usercmd.UserCommand {
	return usercmd.UserCommand{Args: h.Command, Env: h.Env, Network: h.Network, Own: h.Own, Free: h.IsUnsandboxed()}
}

// HookOutcome describes how a hook ended.
type HookOutcome struct {
	State  nexus.HookCommandState
	Exit   int    // -1 if it was killed or did not run
	Why    string // reason, for people; empty if it succeeded
	Took   time.Duration
	Stdout string
	Stderr string
}

// ReadTrustState returns the trust state of a hook.
func (h DeclaredHook) ReadTrustState(r *usercmd.UserCommandRunner) (trust.TrustState, error) {
	return r.TrustState(h.TrustItem)
}

// HasProgram reports whether the hook's program exists in its environment. The program is not run.
func (h DeclaredHook) HasProgram(ctx context.Context, r *usercmd.UserCommandRunner) (bool, error) {
	box, c, err := h.sandboxCommand(r, HookEvent{})
	if err != nil {
		return false, err
	}
	c.Args, c.Stdin, c.Proxy, c.Timeout = []string{"sh", "-c", `command -v "$1"`, "sh", h.Command[0]}, nil, nil, defaultTimeout
	result, err := box.Run(ctx, c)
	return result.Exit == 0, err
}

// RunHook runs a hook with an event, and returns when it and all processes that it started are dead.
// It returns an error only if ctx ended before.
func (h DeclaredHook) RunHook(ctx context.Context, r *usercmd.UserCommandRunner, e HookEvent) (HookOutcome, error) {
	state, err := h.ReadTrustState(r)
	switch {
	case err != nil:
		return HookOutcome{State: nexus.HookNotRun, Exit: -1, Why: err.Error()}, nil //nolint:nilerr // the outcome says it
	case state != trust.StateTrusted:
		why := fmt.Sprintf("it is not trusted (%s); read it with nexus trust, then trust it with nexus trust --yes", state)
		return HookOutcome{State: nexus.HookUntrusted, Exit: -1, Why: why}, nil
	}
	box, c, err := h.sandboxCommand(r, e)
	if err != nil {
		return HookOutcome{State: nexus.HookNotRun, Exit: -1, Why: err.Error()}, nil //nolint:nilerr // the outcome says it
	}
	result, err := box.Run(ctx, c)
	if ctx.Err() != nil {
		return HookOutcome{}, context.Cause(ctx)
	}
	return h.outcomeOfResult(r, result, err), nil
}

// sandboxCommand returns the hook's command and its sandbox.
func (h DeclaredHook) sandboxCommand(r *usercmd.UserCommandRunner, e HookEvent) (*sandbox.Box, sandbox.Command, error) {
	e.Version, e.Hook, e.Dir = EventVersion, h.Name, r.Dir
	data, err := json.Marshal(e)
	if err != nil {
		return nil, sandbox.Command{}, err
	}
	var trees []string
	if e.Tree != "" {
		trees = append(trees, e.Tree)
	}
	own := r.CommandDataDir("hooks", h.Name)
	box, c, err := r.PrepareCommand(h.userCommand(), own, e.environ(own), trees...)
	c.Stdin, c.Timeout = bytes.NewReader(append(data, '\n')), h.TimeLimit()
	return box, c, err
}

// signalExitBase is added to a signal's number for the exit code of a killed process.
const signalExitBase = 128

// outcomeOfResult converts the result of a command.
func (h DeclaredHook) outcomeOfResult(r *usercmd.UserCommandRunner, result sandbox.Result, err error) HookOutcome {
	o := HookOutcome{Exit: result.Exit, Took: result.Duration, Stdout: r.MaskText(result.Stdout), Stderr: r.MaskText(result.Stderr)}
	said := strings.TrimSpace(o.Stderr)
	reason := func(otherwise string) string {
		if said == "" {
			return otherwise
		}
		return sanitize.TruncateText(sanitize.RevealHidden(said), maxSaid)
	}
	switch {
	case errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}):
		o.State, o.Exit, o.Why = nexus.HookNotRun, -1, fmt.Sprintf("there is no program %q", sanitize.TruncateText(h.Command[0], 80))
	case err != nil:
		o.State, o.Exit, o.Why = nexus.HookNotRun, -1, err.Error()
	case result.TimedOut:
		o.State, o.Why = nexus.HookTimeout, fmt.Sprintf("it was killed after %s", h.TimeLimit())
	case result.Over != "":
		o.State, o.Why = nexus.HookKilled, result.Exceeded
	case result.Exit == 0:
		o.State = nexus.HookOK
	case result.Exit == 2:
		o.State, o.Why = nexus.HookRefused, reason("it gave no reason")
	case result.Exit > signalExitBase && result.Exit <= signalExitBase+64:
		o.State, o.Why = nexus.HookKilled, fmt.Sprintf("it was ended by signal %d", result.Exit-signalExitBase)
	default:
		o.State, o.Why = nexus.HookFailed, fmt.Sprintf("exit code %d: %s", result.Exit, reason("it said nothing"))
	}
	return o
}
