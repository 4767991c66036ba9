package checkcmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/tamper"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/work/changeeffects"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
)

// selectGates returns the requested gates of the working tree. The tamper check and the search for secrets
// run no command, and may be requested alone.
func (f Options) selectGates(dir string, c config.GateSettings) (gates []gate.QualityGate, alone bool, err error) {
	if err := detect.CheckPackages(dir, c); err != nil {
		return nil, false, err
	}
	_, set := c.Commands[nexus.SecretsGate]
	rest := slices.DeleteFunc(withoutDoneName(f.Gates), func(n string) bool { return n == tamper.Gate || n == nexus.SecretsGate && !set })
	if len(rest) == 0 && len(f.Gates) > 0 {
		return nil, true, nil
	}
	gates, err = pickGates(dir, c, rest)
	return gates, false, err
}

// addTamperFindings appends the changes since the base to the files that judge it, such as tests and gate
// settings. No command can decide whether those are right: a person must explain what weakens the
// checks, and the rest is only listed.
func addTamperFindings(ctx context.Context, a *console.Console, f Options, dir string, all []nexus.GateEvidence, alone bool) ([]nexus.GateEvidence, error) {
	if f.Base == "" || len(f.Gates) > 0 && !slices.Contains(f.Gates, tamper.Gate) {
		return all, nil
	}
	repo, err := git.FindRepo(ctx, dir)
	if err != nil {
		return nil, err
	}
	commit, err := repo.Resolve(ctx, f.Base)
	if err != nil {
		return nil, err
	}
	found, err := changeeffects.SuspectsInTree(ctx, repo, commit)
	if err != nil {
		return nil, fmt.Errorf("look for tampering: %w", err)
	}
	e := nexus.GateEvidence{Gate: tamper.Gate, State: nexus.Pass, Tree: workingTree, Findings: found}
	grave := len(changeeffects.FindTestsNoLongerRun(all)) // tests that do not run, for any reason
	for _, x := range found {
		if x.Severity == nexus.Major || x.Severity == nexus.Critical {
			grave++
		}
	}
	switch reason := strings.TrimSpace(f.Explain); {
	case grave == 0:
	case reason != "":
		e.Why = "explained by " + a.UserName() + ": " + reason
	default:
		e.State = nexus.Unverifiable
		e.Why = "the change touches its own tests or gates: review that, and explain it with --explain"
	}
	if len(all) == 0 && !alone && e.State == nexus.Pass {
		return all, nil // nothing ran, and this is no substitute
	}
	return append(all, e), nil
}
