package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/hookcmd"
	"github.com/nexus-ai-builder/nexus/internal/sys/plugin"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
	"github.com/nexus-ai-builder/nexus/internal/sys/usercmd"
)

// untrusted is the hint about a command that was not trusted yet.
const untrusted = "Read what it would run with nexus trust, then trust it with nexus trust --yes."

// checkHooks lists the hooks, and those that cannot run: they are not trusted in their current
// form, or their program is missing. It does not run them.
func checkHooks(ctx context.Context, a *console.Console, p *app.Repository) []Check {
	state, done, err := tempStateDir()
	if err != nil {
		return []Check{checkOf("temporary files", "", err)}
	}
	defer done()
	all, r, err := a.HooksOfRepository(ctx, p.Repo.Work, state, "doctor")
	if err != nil {
		return []Check{checkOf("hooks", "", err)}
	}
	var checks []Check
	for _, h := range all {
		c := Check{Name: "hooks " + h.Name, State: Fine, Detail: "at " + strings.Join(h.On, ", ")}
		state, err := h.ReadTrustState(r)
		if err == nil && state == trust.StateTrusted {
			err = checkHookProgram(ctx, r, h)
		}
		missing, none := errors.AsType[*nexus.Error](err)
		switch blocks := h.MayRefuse(); {
		case err == nil && state == trust.StateTrusted:
		case err == nil:
			c.State, c.Detail, c.Hint = Notice, fmt.Sprintf("it is not trusted (%s), and not run", state), untrusted
			if blocks {
				why := fmt.Sprintf("hook:%s is not trusted here (%s)", h.Name, state)
				c.State, c.err = Blocker, &nexus.Error{Code: nexus.CodeUntrusted, Message: why, Hint: untrusted}
			}
		case none && missing.Code == nexus.CodeNotFound:
			c.State, c.Detail, c.Hint = Notice, missing.Message, missing.Hint
			if blocks {
				c.State, c.Detail = Blocker, missing.Message+": a hook that cannot run counts as a refusal"
			}
		default:
			return append(checks, checkOf(c.Name, "", err))
		}
		checks = append(checks, c)
	}
	return checks
}

// tempStateDir creates a directory in place of the repository's state directory, which checks do not
// write to.
func tempStateDir() (dir string, done func(), err error) {
	dir, err = os.MkdirTemp("", "nexus-doctor-")
	return dir, func() { _ = os.RemoveAll(dir) }, err // a temporary directory
}

// checkHookProgram returns an error if the program of a hook is missing in the place where the hook would
// run.
func checkHookProgram(ctx context.Context, r *usercmd.UserCommandRunner, h hookcmd.DeclaredHook) error {
	found, err := h.HasProgram(ctx, r)
	if err != nil || found {
		return err
	}
	return &nexus.Error{
		Code: nexus.CodeNotFound, Message: fmt.Sprintf("there is no program %q where it runs", sanitize.TruncateText(h.Command[0], 80)),
		Hint: "Install it, correct hooks." + h.Name + ".command, or remove the hook.",
	}
}

// checkPlugins sends a greeting to each trusted plugin, and reports why the others are not used.
func checkPlugins(ctx context.Context, a *console.Console, p *app.Repository) []Check {
	state, done, err := tempStateDir()
	if err != nil {
		return []Check{checkOf("temporary files", "", err)}
	}
	defer done()
	all, r, err := a.PluginsOfRepository(ctx, p.Repo.Work, state, "doctor")
	if err != nil {
		return []Check{checkOf("plugins", "", err)}
	}
	var checks []Check
	for _, one := range all {
		c := Check{Name: "plugins " + one.Name, State: Fine}
		s, err := one.StartSession(ctx, r)
		failed, plain := errors.AsType[*plugin.Error](err)
		switch {
		case err == nil:
			c.Detail = fmt.Sprintf("%s %s, %s", s.Hello.Name, s.Hello.Version, strings.Join(slices.Clone(one.Kinds), ", "))
			s.Close()
		case plain:
			c.State, c.Detail = Notice, sanitize.RevealHidden(fmt.Sprintf("%s: %s", failed.State, failed.Why))
			c.Hint = "A run works without it. Try it with nexus plugins test " + one.Name + "."
			if failed.State == nexus.PluginUntrusted {
				c.Hint = untrusted
			}
			if one.Required {
				e := plugin.RequiredError(failed)
				c.State, c.err, c.Detail = Blocker, e, c.Detail+"; it is required"
			}
		default:
			return append(checks, checkOf(c.Name, "", err))
		}
		checks = append(checks, c)
	}
	return checks
}
