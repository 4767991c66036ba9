package checkcmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
)

// RunCriteriaChecks runs the checks of criteria on a clean checkout of exactly one commit, in the sandbox:
// commands, and gates of the project by their names. It returns the evidence by check; for a gate
// that several packages have, the worst result.
func RunCriteriaChecks(
	ctx context.Context, a *console.Console, p *app.Repository, settings config.Config, rev string, checks []string,
) (map[string]nexus.GateEvidence, error) {
	all := map[string]nexus.GateEvidence{}
	if len(checks) == 0 {
		return all, nil
	}
	cache := gateCacheDir(a, p.State)
	x, err := checkOutTree(ctx, p, cache, rev)
	if err != nil {
		return nil, err
	}
	defer x.done()
	r, err := x.newRunner(ctx, a, p, cache, settings)
	if err != nil {
		return nil, err
	}
	for _, check := range checks {
		if _, known := all[check]; known {
			continue
		}
		gates, err := gatesForCheck(x.dir, settings.Gates, check)
		if err != nil {
			return nil, err
		}
		e := nexus.GateEvidence{
			Gate: check, State: nexus.NotRun, Tree: x.hash, Exit: -1,
			Why: fmt.Sprintf("%q is not a gate of the project; nexus check --list lists the gates, and a command of one word needs a path, such as ./%s", check, check),
		}
		for i, g := range gates {
			one, err := withVirtualEnvPrograms(r, x.dir).RunGate(ctx, gate.JudgedTreeDir{Dir: x.dir, Hash: x.hash}, g)
			if err != nil {
				return nil, err
			}
			if i == 0 || e.Passed() {
				e = one
			}
		}
		all[check] = e
		a.Say("%s: %s", strings.TrimPrefix(cmp.Or(e.Gate, check), nexus.AcceptGate), e.State)
	}
	return all, nil
}

// gatesForCheck returns the gates that a check names.
func gatesForCheck(dir string, c config.GateSettings, check string) ([]gate.QualityGate, error) {
	if g, ok := detect.CriterionGate(nexus.Criterion{Check: check}); ok {
		return []gate.QualityGate{g}, nil
	}
	all, err := detect.DetectGates(dir, c)
	return slices.DeleteFunc(all, func(g gate.QualityGate) bool { return !isNamedGate([]string{check}, g) }), err
}
