package checkcmd

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/mutate"
)

// checkMutants puts faults into the lines that are new since the base, and appends the faults that no
// test detects. It works on a copy: the working tree belongs to the user.
func checkMutants(ctx context.Context, a *console.Console, f Options, dir string, settings config.Config, all []nexus.GateEvidence) ([]nexus.GateEvidence, error) {
	repo, err := git.FindRepo(ctx, dir)
	if err != nil {
		return nil, err
	}
	commit, err := repo.Resolve(ctx, cmp.Or(f.Base, "HEAD"))
	if err != nil {
		return nil, err
	}
	files, err := mutate.ChangedFiles(ctx, repo, commit)
	if err != nil {
		return nil, fmt.Errorf("look for new lines: %w", err)
	}
	box, err := app.FindSandbox(ctx, settings)
	if err != nil {
		return nil, err
	}
	cache := gateCacheDir(a, dir)
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return nil, err
	}
	at, err := os.MkdirTemp(cache, "mutants-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(at) }() // a copy
	lent, err := copyTree(ctx, repo, at)
	if err != nil {
		return nil, fmt.Errorf("copy the working tree: %w", err)
	}
	writeSubmodules(ctx, ownSubmodules(ctx, repo, "HEAD", repo), at, cache)
	r, err := newRunner(a, box, at, filepath.Join(cache, "mutants"), settings)
	if err != nil {
		return nil, err
	}
	r.Readable = append(r.Readable, lent...)
	r.Env = append(r.Env, editableInstalls(dir, at, lent, a.Env("VIRTUAL_ENV"))...)
	r = withVirtualEnvPrograms(r, at)
	gates, err := detect.DetectGates(at, settings.Gates)
	if err != nil {
		return nil, err
	}
	report, err := mutate.MutationTrialOptions{
		Dir: at, Runner: r, Gates: testGates(gates, f.Gates), Seed: mutationSeed(commit, files), Sample: settings.Mutation.Sample, Time: settings.Mutation.Time, Now: a.Now,
		Heard: func(x mutate.MutantResult) { a.Say("%s: %s", x.State, x.Mutant) },
	}.TryFaults(ctx, files)
	if err != nil {
		return nil, err
	}
	if report.Possible == 0 {
		a.Say("%s: %s", mutate.Gate, report.Why)
		return all, nil
	}
	return append(all, report.Evidence(workingTree, settings.Mutation.Mode == "block")), nil
}

// testGates returns the test gates among the requested ones.
func testGates(gates []gate.QualityGate, names []string) []gate.QualityGate {
	var all []gate.QualityGate
	for _, g := range gates {
		picked := len(names) == 0 || slices.Contains(names, g.Name) || slices.Contains(names, detect.StepOfGate(g.Name))
		if g.Tests && picked {
			all = append(all, g)
		}
	}
	return all
}

// mutationSeed returns a value that identifies a base and the new lines since.
func mutationSeed(commit string, files []mutate.MutableFile) string {
	sum := sha256.New()
	for _, f := range append(files, mutate.MutableFile{Path: commit}) {
		_, _ = fmt.Fprintf(sum, "%s\x00%s\x00", f.Path, f.Text) // a hash accepts all writes
	}
	return hex.EncodeToString(sum.Sum(nil))
}
