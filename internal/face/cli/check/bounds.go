package check

import (
	"context"
	"maps"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/bounds"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/view/verdict"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
	"github.com/nexus-ai-builder/nexus/internal/work/measure"
)

// bounded reports whether the change is checked against the definition of done.
func (f checkFlags) bounded() bool {
	return f.base != "" && !f.partly()
}

// partly reports whether only the tests of the named gates are measured. The definition of done
// covers all tests.
func (f checkFlags) partly() bool {
	return len(f.gates) > 0 && !slices.Contains(f.gates, "done")
}

// measured returns the gates with the measuring ones at the end, and the rules for the change.
func (f checkFlags) measured(a *console.Console, dir string, c config.Config, gates []gate.Gate) ([]gate.Gate, nexus.DoneRules, error) {
	if f.coverage {
		mode := c.Done.Modes[nexus.CoverageBound]
		if mode != nexus.BoundBlock || f.partly() { // the bounds cover all tests
			mode = nexus.BoundWarn
		}
		modes := map[string]nexus.BoundMode{}
		if f.bounded() {
			modes = maps.Clone(c.Done.Modes)
		}
		modes[nexus.CoverageBound] = mode
		c.Done.Modes = modes
	}
	if !f.bounded() && !f.coverage {
		return gates, c.Done, nil
	}
	rows, err := detect.Gates(dir, c.Gates)
	if f.partly() {
		rows = slices.DeleteFunc(rows, func(g gate.Gate) bool { return !asked(f.gates, g) })
	}
	return app.Meter(c, a.Env).AppendMeasuringGates(gates, rows, false), c.Done, err
}

// bound checks the change since the base against the definition of done, and appends the result
// to the verdict. Warnings do not change a verdict.
func bound(ctx context.Context, a *console.Console, f checkFlags, dir string, c config.Config, said verdict.Verdict, taken measure.Measurements) (verdict.Verdict, error) {
	if !f.bounded() && !f.coverage {
		return said, nil
	}
	user, err := git.Find(ctx, dir)
	if err != nil {
		return verdict.Verdict{}, err
	}
	commit := ""
	if f.base != "" {
		if commit, err = user.Resolve(ctx, f.base); err != nil {
			return verdict.Verdict{}, err
		}
	}
	working, err := readWorking(ctx, user)
	if err != nil {
		return verdict.Verdict{}, err
	}
	defer working.Close()
	change := measure.Change{Repo: working.Repo, Base: commit, Tree: working.Hash, Taken: taken, Dirs: []string{dir}}
	if f.partly() && c.Done.Command == "" {
		rows, err := detect.Gates(dir, c.Gates)
		if err != nil {
			return verdict.Verdict{}, err
		}
		change.LimitToMeasured(rows, func(g gate.Gate) bool { return asked(f.gates, g) })
	}
	found, decides, err := app.Meter(c, a.Env).Judge(ctx, change)
	if err != nil {
		return verdict.Verdict{}, err
	}
	only := len(f.gates) > 0 && !slices.ContainsFunc(f.gates, func(n string) bool { return n != "done" })
	if only && len(decides) == 0 {
		decides = append(decides, nexus.Evidence{Gate: "done", State: nexus.Pass, Tree: working.Hash, Command: "check the change against the definition of done"})
	}
	v := said.WithGates(decides...)
	for _, e := range found {
		if !bounds.Decides(c.Done, e) {
			v = v.WithInformational(e)
		}
	}
	return v, nil
}

// apart removes a name that is not a command from the requested names.
func apart(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n+": " == nexus.DonePrefix })
}
