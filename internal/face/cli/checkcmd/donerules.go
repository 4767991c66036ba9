package checkcmd

import (
	"context"
	"maps"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/definitionofdone"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/view/verdict"
	"github.com/nexus-ai-builder/nexus/internal/work/changemetrics"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
)

// checksDoneRules reports whether the change is checked against the definition of done.
func (f Options) checksDoneRules() bool {
	return f.Base != "" && !f.measuresSomeGates()
}

// measuresSomeGates reports whether only the tests of the named gates are measured. The definition of done
// covers all tests.
func (f Options) measuresSomeGates() bool {
	return len(f.Gates) > 0 && !slices.Contains(f.Gates, "done")
}

// addMeasuringGates returns the gates with the measuring ones at the end, and the rules for the change.
func (f Options) addMeasuringGates(a *console.Console, dir string, c config.Config, gates []gate.QualityGate) ([]gate.QualityGate, nexus.DefinitionOfDone, error) {
	if f.Coverage {
		mode := c.Done.Modes[nexus.CoverageBound]
		if mode != nexus.BoundBlock || f.measuresSomeGates() { // the bounds cover all tests
			mode = nexus.BoundWarn
		}
		modes := map[string]nexus.BoundMode{}
		if f.checksDoneRules() {
			modes = maps.Clone(c.Done.Modes)
		}
		modes[nexus.CoverageBound] = mode
		c.Done.Modes = modes
	}
	if !f.checksDoneRules() && !f.Coverage {
		return gates, c.Done, nil
	}
	rows, err := detect.DetectGates(dir, c.Gates)
	if f.measuresSomeGates() {
		rows = slices.DeleteFunc(rows, func(g gate.QualityGate) bool { return !isNamedGate(f.Gates, g) })
	}
	return app.NewChangeMeasurer(c, a.Env).AppendMeasuringGates(gates, rows, false), c.Done, err
}

// checkDoneRules checks the change since the base against the definition of done, and appends the result
// to the verdict. Warnings do not change a verdict.
func checkDoneRules(ctx context.Context, a *console.Console, f Options, dir string, c config.Config, said verdict.TreeVerdict, taken changemetrics.GateMeasurements) (verdict.TreeVerdict, error) {
	if !f.checksDoneRules() && !f.Coverage {
		return said, nil
	}
	user, err := git.FindRepo(ctx, dir)
	if err != nil {
		return verdict.TreeVerdict{}, err
	}
	commit := ""
	if f.Base != "" {
		if commit, err = user.Resolve(ctx, f.Base); err != nil {
			return verdict.TreeVerdict{}, err
		}
	}
	working, err := readWorking(ctx, user)
	if err != nil {
		return verdict.TreeVerdict{}, err
	}
	defer working.Close()
	change := changemetrics.MeasureRequest{Repo: working.Repo, Base: commit, Tree: working.Hash, Taken: taken, Dirs: []string{dir}}
	if f.measuresSomeGates() && c.Done.Command == "" {
		rows, err := detect.DetectGates(dir, c.Gates)
		if err != nil {
			return verdict.TreeVerdict{}, err
		}
		change.LimitToMeasured(rows, func(g gate.QualityGate) bool { return isNamedGate(f.Gates, g) })
	}
	found, decides, err := app.NewChangeMeasurer(c, a.Env).JudgeChange(ctx, change)
	if err != nil {
		return verdict.TreeVerdict{}, err
	}
	only := len(f.Gates) > 0 && !slices.ContainsFunc(f.Gates, func(n string) bool { return n != "done" })
	if only && len(decides) == 0 {
		decides = append(decides, nexus.GateEvidence{Gate: "done", State: nexus.Pass, Tree: working.Hash, Command: "check the change against the definition of done"})
	}
	v := said.WithGates(decides...)
	for _, e := range found {
		if !definitionofdone.DecidesAboutChange(c.Done, e) {
			v = v.WithInformationalGates(e)
		}
	}
	return v, nil
}

// withoutDoneName removes a name that is not a command from the requested names.
func withoutDoneName(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n+": " == nexus.DonePrefix })
}
