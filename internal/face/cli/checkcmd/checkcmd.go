// Package checkcmd implements the command "nexus check", and what other commands use of it: they
// run the gates of a tree, and let models review a change.
package checkcmd

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/verdictformat"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/monorepo"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/gocache"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/secret/leak"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/verdict"
	"github.com/nexus-ai-builder/nexus/internal/work/changeeffects"
	"github.com/nexus-ai-builder/nexus/internal/work/changemetrics"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/testselection"
)

// Options are the options of the command.
type Options struct {
	Console  *console.Console
	Gates    []string // names or kinds; empty: all
	Base     string   // fail only for regressions since it; empty: for everything
	Explain  string   // why a change to its own tests or gates is right
	Format   string   // text, json, junit, sarif or github
	Summary  string   // file for a Markdown summary; empty: $GITHUB_STEP_SUMMARY
	Mutate   bool     // plant faults into the new lines
	Coverage bool     // measure test coverage
	Stop     bool     // stop at the first gate that fails
	Tree     string   // check a clean checkout of it instead of the working tree
	Task     string   // check the change of the task, as Tree does
	Run      string   // of Task; empty: the latest
	Fix      bool     // first let formatters and linters fix changed files
	Related  bool     // run only the tests that the change affects
	Rerun    int      // how often failing tests are run again
	List     bool     // list the gates instead
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = checkTree
	}
	var junit, sarif, github bool
	command := c.Command("check", "run the gates on the working tree", func(ctx context.Context, _ []string) (err error) {
		for format, set := range map[string]bool{"junit": junit, "sarif": sarif, "github": github} {
			if set {
				o.Format = format
			}
		}
		if o.Format, err = verdictformat.Parse(c, o.Format); err != nil {
			return err
		}
		if err := o.validate(); err != nil {
			return err
		}
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodePartial, console.CodeInterrupted)
	o.addFlags(command)
	f := command.Flags()
	f.BoolVar(&junit, "junit", false, "the same as --format junit")
	f.BoolVar(&sarif, "sarif", false, "the same as --format sarif")
	f.BoolVar(&github, "github", false, "the same as --format github")
	c.JSONFlag(command)
	command.MarkFlagsMutuallyExclusive("format", "json", "junit", "sarif", "github")
	for _, other := range []string{"base", "fix", "related", "mutate", "rerun", "coverage", "explain", "stop"} {
		command.MarkFlagsMutuallyExclusive("tree", other)
		command.MarkFlagsMutuallyExclusive("task", other)
	}
	command.MarkFlagsMutuallyExclusive("tree", "task")
	c.SettingFlags(command, "sandbox")
	return command
}

// addFlags adds the flags that set an option each.
func (f *Options) addFlags(command *cobra.Command) {
	fl := command.Flags()
	fl.StringSliceVar(&f.Gates, "gates", nil, "run only these `GATES`, by name or by kind: build,type,lint,format,test")
	fl.StringVar(&f.Base, "base", "", "fail only for regressions since `REF`")
	fl.StringVar(&f.Explain, "explain", "", "`REASON` why the change to its own tests or gates is right; with --base")
	fl.StringVar(&f.Format, "format", "text", "print the verdict as `SHAPE`: text, json, junit, sarif or github")
	fl.StringVar(&f.Summary, "summary", "", "append a Markdown summary to `FILE`; $GITHUB_STEP_SUMMARY if not given")
	fl.BoolVar(&f.Mutate, "mutate", false, "insert faults into the lines that are new since the base (default HEAD), and list those that no test catches")
	fl.BoolVar(&f.Coverage, "coverage", false, "measure test coverage, which runs the tests once more; with --base, also of the new lines and of the base")
	fl.BoolVar(&f.Stop, "stop", false, "stop at the first gate that fails")
	fl.StringVar(&f.Tree, "tree", "", "check a clean checkout of exactly `TREE`, a commit or tree of the repository or of a run, and report whether the result matches the recorded one")
	fl.BoolVar(&f.Fix, "fix", false, "first let formatters and linters fix the files that changed since --base, or since the last commit")
	fl.BoolVar(&f.Related, "related", false, "run only the tests that the change since --base, or since the last commit, affects; all if unknown")
	fl.IntVar(&f.Rerun, "rerun", 0, "rerun failing tests alone, up to `N` times (default 2 with --base), to tell flaky tests from broken ones; flaky tests do not count against the change with --base; without it, the gate is flaky, which is not a pass")
	fl.BoolVar(&f.List, "list", false, "list the gates without running them")
	fl.StringVar(&f.Task, "task", "",
		"check the change of this `TASK` of a run as it is now, as --tree does: with --gates NAME, run one gate of it again")
	f.Console.RunFlag(command, &f.Run)
}

// validate checks options that depend on each other.
func (f *Options) validate() error {
	if f.Explain != "" && f.Base == "" {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "--explain needs --base",
			Hint: "Give a base: nexus check --base main --explain REASON.",
		}
	}
	if f.Run != "" && f.Task == "" {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "--run names the run of a task, and no task was named",
			Hint: "Name it with --task, such as nexus check --task T1 --gates test.",
		}
	}
	return nil
}

// checkTree runs the gates, and prints the verdict.
func checkTree(ctx context.Context, o *Options) error {
	a, f, shape := o.Console, *o, o.Format
	dir, err := a.WorkDir()
	if err != nil {
		return err
	}
	dir = app.WorkTreeRoot(dir)
	settings, _, err := a.LoadSettings()
	if err != nil {
		return err
	}
	if f.Task != "" {
		if f.Tree, err = commitOf(ctx, a, f.Run, nexus.TaskID(f.Task)); err != nil {
			return err
		}
	}
	if f.Tree != "" {
		return reproduceTree(ctx, a, f, shape, settings)
	}
	gates, alone, err := f.selectGates(dir, settings.Gates)
	if err != nil {
		return err
	}
	if f.Related {
		if gates, err = addRelatedTestGates(ctx, a, dir, f.Base, gates); err != nil {
			return err
		}
	}
	off, err := f.disabledGates(dir, settings.Gates)
	if err != nil {
		return err
	}
	if f.List {
		return listGates(a, gates, off, f.searchesSecrets(settings.Gates))
	}
	if gates, settings.Done, err = f.addMeasuringGates(a, dir, settings, gates); err != nil {
		return err
	}
	got, err := judgeWorkingTree(ctx, a, f, shape, dir, settings, gates)
	defer func() { got.looked.close() }()
	if err != nil {
		return err
	}
	all := got.all
	if f.Mutate {
		if all, err = checkMutants(ctx, a, f, dir, settings, all); err != nil {
			return err
		}
	}
	if all, err = addChangeFindings(ctx, a, f, dir, settings, got.looked, all, alone); err != nil {
		return err
	}
	v, err := checkDoneRules(ctx, a, f, dir, settings, verdict.CombineGateResults(all, testselection.ReplacedGates(got.gates, all)...), got.taken)
	if err != nil {
		return err
	}
	v.Turned, v.Before, v.Base = got.turned, got.before, got.base
	begun := treeAtStart(all)
	if v.Tree = setJudgedTree(ctx, got.looked, dir, begun, v.Gates); v.Tree != begun {
		a.Say("the working tree changed during the check, so the result applies to no exact tree; add files that gates write to .gitignore")
	}
	v = v.WithDisabledGates(off)
	if err := verdictformat.Write(a, shape, v, v); err != nil {
		return err
	}
	if err := appendSummary(cmp.Or(f.Summary, a.Env("GITHUB_STEP_SUMMARY")), a.Mask.MaskText(verdict.FormatSummary(v))); err != nil {
		return err
	}
	return verdictExitError(v.State)
}

// addChangeFindings appends what no command finds in the change: tampering, and secrets.
func addChangeFindings(ctx context.Context, a *console.Console, f Options, dir string, settings config.Config, look treeSnapshot, all []nexus.GateEvidence, alone bool) ([]nexus.GateEvidence, error) {
	all, err := addTamperFindings(ctx, a, f, dir, all, alone)
	if err != nil {
		return nil, err
	}
	return addSecretFindings(ctx, f, settings.Gates, dir, look, all)
}

// verdictExitError returns the exit code of a verdict.
func verdictExitError(state nexus.GateState) error {
	switch state {
	case nexus.Pass:
		return nil
	case nexus.Fail, nexus.Timeout, nexus.Exceeded, nexus.Flaky, nexus.MissingAsset:
		return console.ExitError(console.CodeFailed)
	case nexus.NotRun, nexus.Environmental, nexus.Unverifiable:
	}
	return console.ExitError(console.CodePartial) // the result is unknown
}

// pickGates returns the requested gates of a directory.
func pickGates(dir string, c config.GateSettings, names []string) ([]gate.QualityGate, error) {
	all, err := detect.DetectGates(dir, c)
	if err != nil || len(names) == 0 {
		return all, err
	}
	var picked []gate.QualityGate
	for _, g := range all {
		if isNamedGate(names, g) {
			picked = append(picked, g)
		}
	}
	for _, n := range names {
		if !slices.ContainsFunc(all, func(g gate.QualityGate) bool { return g.Name == n || detect.StepOfGate(g.Name) == n }) {
			hint := "See nexus check --list."
			command, set := c.Commands[n]
			if off, err := detect.DisabledGates(dir, c); err == nil && slices.Contains(off, n) || set && command == "" {
				hint = "The configuration turns it off. nexus config --explain shows where."
			}
			return nil, app.NotFoundError("gate", n, hint)
		}
	}
	return picked, nil
}

// isNamedGate reports whether a gate is one of the named gates.
func isNamedGate(names []string, g gate.QualityGate) bool {
	return slices.ContainsFunc(names, func(n string) bool { return g.Name == n || detect.StepOfGate(g.Name) == n })
}

// disabledGates returns the gates that are turned off, if all gates are requested.
func (f Options) disabledGates(dir string, c config.GateSettings) ([]string, error) {
	if len(f.Gates) > 0 {
		return nil, nil
	}
	return detect.DisabledGates(dir, c)
}

func listGates(a *console.Console, gates []gate.QualityGate, off []string, secrets bool) error {
	for _, name := range off {
		a.Say("%s: off, %s", name, verdict.DisabledText)
	}
	type row struct {
		Name    string `json:"name"`
		Command string `json:"command"`
		Dir     string `json:"dir"`
		Format  string `json:"format"`
		Tests   bool   `json:"tests"`
	}
	all := make([]row, 0, len(gates)+1)
	for _, g := range gates {
		all = append(all, row{g.Name, g.Command(), cmp.Or(g.Dir, "."), g.Format, g.Tests})
	}
	if secrets {
		all = append(all, row{leak.GateName, leak.GateCommand, ".", "", false})
	}
	return a.Answer(map[string][]row{"gates": all}, func(s view.OutputStyle) string {
		rows := make([][]string, len(all))
		for i, r := range all {
			rows[i] = []string{r.Name, r.Dir, view.EscapeForTerminal(r.Command)}
		}
		return view.DrawTable(s, []string{"gate", "directory", "command"}, rows)
	})
}

// gateResults are the results of the gates on a working tree.
type gateResults struct {
	gates  []gate.QualityGate // the requested gates
	all    []nexus.GateEvidence
	turned []verdict.TestsFixedByChange
	before []nexus.Finding // findings that the base also has
	base   string          // name of the base, for people
	taken  changemetrics.GateMeasurements
	looked treeSnapshot // the working tree before the gates; zero if no gate ran
}

// judgeWorkingTree runs the gates, prints the result of each, and takes the measurements.
func judgeWorkingTree(ctx context.Context, a *console.Console, f Options, shape, dir string, settings config.Config, gates []gate.QualityGate) (got gateResults, err error) {
	if got.gates = gates; len(gates) == 0 && f.Base == "" {
		return got, nil
	}
	look := startSnapshot(ctx, dir, f.Fix)
	defer func() { got.looked = look() }()
	box, err := app.FindSandbox(ctx, settings)
	if err != nil {
		return got, err
	}
	cache := gateCacheDir(a, dir)
	now, exempted, err := workingTreeRunner(ctx, a, f, box, dir, cache, settings)
	if err != nil {
		return got, err
	}
	if err := runFixers(ctx, a, f, now, dir, gates); err != nil {
		return got, err
	}
	place, now, err := stageGates(ctx, a, now, box, look, dir, cache, settings, f.Base != "")
	if err != nil {
		return got, err
	}
	defer place.done()
	said := gateOutputs{}
	now.Put = said.Put
	var base *baseTree
	if f.Base != "" {
		if base, err = checkOutBase(ctx, a, f.Base, dir, cache, settings, box); err != nil {
			return got, err
		}
		defer base.removeDir()
		base.runner.Put, base.runner.Get, now.Get, now.Moved = said.Put, said.Get, said.Get, base.lineMoves
		if got.gates, err = base.compareWithBase(ctx, a, &now, f, settings.Gates, gates); err != nil {
			return got, err
		}
		got.base = fmt.Sprintf("%s (commit %.12s)", f.Base, base.commit)
	}
	now.Reruns, now.Origin = f.Rerun, base.testOrigin(dir, f.Rerun)
	for left := slices.Clone(got.gates); len(left) > 0; {
		g := left[0]
		e, err := now.JudgeAgainstBase(ctx, gate.JudgedTreeDir{Dir: place.dir, Hash: look().hash}, g)
		if err != nil {
			return got, err
		}
		e = markFlaky(e, f.Base)
		got.all = append(got.all, e)
		if err := base.compareEvidence(ctx, a, &got, g, e, said); err != nil {
			return got, err
		}
		left = testselection.RemainingGates(left[1:], g, e)
		if shape != "text" {
			a.Say("%s: %s", e.Gate, e.State)
		}
		if f.Stop && !e.Passed() && !e.Apart && !g.IsPartWithoutResult(e) {
			break
		}
	}
	got.all, got.taken = app.NewChangeMeasurer(settings, a.Env).ExtractMeasurements(got.gates, got.all, now.Base)
	got.taken.Get = said.Get
	got.all = exempted.addRecordNotes(dir, plainOutput(got.all))
	return got, nil
}

// compareEvidence adds the comparison with the base to a gate's evidence; a nil base adds nothing.
func (b *baseTree) compareEvidence(ctx context.Context, a *console.Console, got *gateResults, g gate.QualityGate, e nexus.GateEvidence, said gateOutputs) error {
	if b == nil {
		return nil
	}
	got.before = append(got.before, findingsAlsoOnBase(said.uncomparedEvidence(e), e)...)
	tests, err := b.fixedTests(ctx, a, g, e, said)
	got.turned = append(got.turned, tests...)
	return err
}

// unaffectedReasons returns a function with the reason why a gate is skipped for a change. A named gate is
// never skipped.
func unaffectedReasons(names, files []string, of monorepo.AffectedPackages) func(gate.QualityGate) string {
	return func(g gate.QualityGate) string {
		if len(names) > 0 && isNamedGate(names, g) {
			return ""
		}
		if why := gate.UnaffectedReason(g, files, nil); why != "" || g.BuildsPackage() && of.IsDependencyOfAffected(g.Dir) {
			return why
		}
		return of.UnaffectedReason(g.Dir)
	}
}

// changeEffect returns the packages of a directory that a change may break; all packages if the
// settings require that.
func changeEffect(dir string, c config.GateSettings, files []string) monorepo.AffectedPackages {
	if c.Related == "off" || app.WorkTreeRoot(dir) != dir { // file names are relative to the top
		return monorepo.AffectedPackages{}
	}
	return monorepo.ReadPackageGraph(os.DirFS(dir)).AffectedBy(files)
}

// workingTreeRunner returns a runner for the working tree itself, and the working tree's quarantine record.
func workingTreeRunner(ctx context.Context, a *console.Console, f Options, box *sandbox.Box, dir, cache string, settings config.Config) (r gate.GateRunner, s flakyRecord, err error) {
	if r, err = newRunner(a, box, dir, cache, settings); err != nil {
		return r, s, err
	}
	if repo, err := git.FindRepo(ctx, dir); err == nil && repo.Work == dir {
		more, err := git.GitDirsOutsideWorkTree(ctx, repo)
		if err != nil {
			return r, s, err
		}
		r.Readable = append(r.Readable, more...)
	}
	grant, err := app.EnforceableEgressGrant(settings.Network, app.WorkTreeRoot(dir), a.TrustStore(), a.Env, box)
	if err != nil {
		return r, s, err
	}
	if f.Related && f.Base == "" {
		files, err := changeeffects.ChangedFiles(ctx, dir, "")
		if err != nil {
			return r, s, err
		}
		r.Apart = unaffectedReasons(f.Gates, files, changeEffect(dir, settings.Gates, files))
	}
	s, err = readFlaky(ctx, dir, f.Base, a.Now())
	r.Net, r.Quarantine = grant.GatewayForGate, s.DatedQuarantine
	return r, s, err
}

// gateCacheDir returns the build cache of the gates of a directory or of a repository's state.
func gateCacheDir(a *console.Console, dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(a.XDGDirectory("XDG_CACHE_HOME", ".cache"), "nexus", "check", hex.EncodeToString(sum[:8]))
}

// scratchParent returns a directory for the copies that are made to judge a tree: the cache, or, if
// that is inside the tree, a temporary directory of the system.
func scratchParent(dir, cache string) string {
	if rel, err := filepath.Rel(dir, cache); err == nil && filepath.IsLocal(rel) {
		return filepath.Join(os.TempDir(), "nexus-"+filepath.Base(cache))
	}
	return cache
}

// newRunner returns a runner for gates in a directory.
func newRunner(a *console.Console, box *sandbox.Box, dir, cache string, settings config.Config) (gate.GateRunner, error) {
	setup, err := gate.PrepareGoTools(dir, cache)
	if err != nil {
		return gate.GateRunner{}, err
	}
	shareBuilds(a, cache, &setup)
	return gate.GateRunner{
		Box: box, Env: setup.Env, Readable: setup.Readable, Writable: setup.Writable,
		Mask: a.Mask.Mask, Timeout: settings.Limits.GateTime, CI: true, Versions: &gate.ToolVersionCache{},
	}, nil
}

// shareBuilds lets the Go tools read, but not write, the user's own build cache.
func shareBuilds(a *console.Console, cache string, s *gate.ToolRequirements) {
	dir := a.Env("GOCACHE")
	if home, err := os.UserCacheDir(); dir == "" && err == nil {
		dir = filepath.Join(home, "go-build")
	}
	exe, err := os.Executable()
	if info, missing := os.Stat(dir); err != nil || missing != nil || !info.IsDir() || !filepath.IsAbs(dir) {
		return
	}
	s.Env = append(s.Env, "GOCACHEPROG="+gocache.CacheProgCommand(exe, filepath.Join(cache, "own"), filepath.Clean(dir)))
	s.Readable = append(s.Readable, exe, filepath.Clean(dir))
}

// appendSummary appends a summary to a file, if a path is given.
func appendSummary(path, text string) error {
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644) //nolint:gosec // the user's own file, for others to read
	if err != nil {
		return &nexus.Error{Code: nexus.CodeInvalidInput, Message: "write the summary", Cause: err, Hint: "Give --summary a writable file."}
	}
	_, err = f.WriteString(strings.TrimRight(text, "\n") + "\n")
	return errors.Join(err, f.Close())
}
