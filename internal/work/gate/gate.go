// Package gate judges trees: it runs build, lint, test and acceptance commands in the sandbox
// and converts their output into evidence.
//
// Evidence belongs to one exact tree. A gate has passed only if it ran, its output was
// understood, and it found nothing; every other result has a state that gives the reason.
// Findings are for the agent; an error is for the operator.
//
// Red results are compared with the base of the tree: only regressions count ([CompareWithBase]).
// A test that fails is run once more alone ([SingleTestArgs]), to distinguish a flaky test from a
// broken one. A runner that reported its test results and does not exit is detected
// ([WatchForHang]), with the cause: a server, a timer, a thread. Before any gate runs, the
// formatters and linters of the project fix the files of the change and no others ([ApplyAutoFixes]).
//
// Names of tests come from the output of tools that ran the tree's code. They become arguments
// of a command, never words of a shell, and patterns that match nothing else.
package gate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/flaky"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/gosource"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
	"github.com/nexus-ai-builder/nexus/internal/sys/egress"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
)

// QualityGate is a command that judges a tree.
type QualityGate struct {
	Name string
	Args []string // run without a shell
	Dir  string   // directory below the tree where it runs; empty: the root
	// patterns of JUnit files, from Dir, that it writes and that contain more than its output
	Reports []string
	Format  string        // format of its output; one of [stack.OutputFormats]
	Tests   bool          // it runs tests; a run without tests is no pass
	Timeout time.Duration // 0: the runner's

	// how to run only the tests affected by a change; see work/gate/testselection
	Related stack.PartialTestCommand
	Lone    stack.SingleTestCommand // how to run one test alone; see [SingleTestArgs]
	Goes    stack.CoverageCommand   // how it reports test coverage; see work/changemetrics
	// how to find what keeps it from exiting, and make it exit; see [WatchForHang]
	Hold   stack.OpenResourceTestCommand
	Linger time.Duration      // longest silence after it reported its test results; 0: unlimited
	Fix    []stack.FixCommand // programs that fix its findings automatically; see [ApplyAutoFixes]
	// patterns of the files that it judges; empty: any change. See [UnaffectedReason]
	Only []string
	Of   string // the gate of whose tests it runs only some; empty: none
	// the gate whose tests it repeats, to measure them; see [QualityGate.RepeatsHangingTests]
	Again string
	// its result is reported, and counts neither for nor against the tree
	Optional bool
	// command that runs the same tests without its program; empty: none known
	Else  string
	Reads bool // it must only read: its result is invalid if it changed files
}

// Command returns the command as people write it.
func (g QualityGate) Command() string {
	if len(g.Args) == 3 && g.Args[0] == "sh" && g.Args[1] == "-c" {
		return g.Args[2]
	}
	words := make([]string, len(g.Args))
	for i, a := range g.Args {
		words[i] = a
		if a == "" || strings.ContainsAny(a, " \t\n\"'\\$`|&;<>()*?[]#~") {
			words[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// commandInDir makes a command run in a directory below the tree.
func (g QualityGate) commandInDir(args []string) []string {
	if g.Dir == "" || g.Dir == "." {
		return args
	}
	return append([]string{"sh", "-c", `cd "$1" && shift && exec "$@"`, "sh", "./" + g.Dir}, args...)
}

// JudgedTreeDir is a directory that holds exactly the git tree Hash.
type JudgedTreeDir struct {
	Dir  string
	Hash string
}

// GateRunner runs gates. Its fields describe where and how; it may be copied.
type GateRunner struct {
	Box *sandbox.Box
	// stores output; nil: it is not stored
	Put func(data []byte) (hash string, err error)
	// returns data of Put; nil: evidence compared with a base is never reused
	Get func(hash string) ([]byte, error)
	// masks keys in output before it is read; may be nil
	Mask               func([]byte) []byte
	Env                []string // the whole environment; see [PrepareGoTools]
	Readable, Writable []string
	// time limit of a gate without its own; 0 means none but the context's
	Timeout  time.Duration
	Mark     string            // names the owner for proc.Sweep
	Versions *ToolVersionCache // caches tool versions; nil: asked each time

	// Own gives a gate that runs code of the tree separate caches that no such code wrote, and a
	// function that deletes them afterwards. Nil: all gates share the caches of Env and Writable.
	Own func(g QualityGate) (s ToolRequirements, done func() error, err error)
	// Net returns a gate's network gateway, nil for none; a nil Net gives none to any. Reached
	// receives the hosts that it requested, and may be nil.
	Net     func(gate string) *egress.CommandNetworkAccess
	Reached func(gate string, asked []nexus.RequestedHost) error
	// Base returns a gate's result on the tree that the work started from; only regressions
	// count. Nil: everything counts.
	Base func(gate string) (nexus.GateEvidence, bool)
	// Moved maps the lines of that tree to this one. Nil: lines did not move.
	Moved func(ctx context.Context) (TreeLineMapping, error)
	// Origin is that tree itself, to distinguish flaky tests from broken ones. Nil: all red tests
	// count.
	Origin *OriginTree
	// Reruns is how often a failing test is run again, on the tree and on its base; 0 means 2.
	Reruns int
	// Wanted are texts that name tests which must pass, whatever their result on the base:
	// criteria.
	Wanted []string
	// Quarantine is the list of tests whose failures are ignored, as people decided. The tree's
	// own copy of it is not used.
	Quarantine flaky.DatedQuarantine
	// Environment identifies the tree's environment besides its own files.
	Environment string
	// Lacks returns why a gate cannot judge: its packages are unavailable. Nil: every gate can.
	Lacks func(g QualityGate) string
	// Apart returns why a gate does not apply to the change; it is then not run, and that is not
	// red. Nil: all apply.
	Apart func(g QualityGate) string
	// Starts is called before each gate runs. With an error the gate does not run. May be nil.
	Starts func(g QualityGate) error
	// Judged is called with each gate's result as soon as it exists, and whether it was cached.
	// An error ends the pass. May be nil.
	Judged func(e nexus.GateEvidence, cached bool) error
	// Reset restores the tree. It is called after each gate that ran, because a gate may write.
	// Bare also removes ignored files: Reset is called with it before and after the gates of Go
	// tools, which read any file. Files that the project's own commands create for each other
	// stay, like dependencies that one installs and the next needs. May be nil.
	Reset func(ctx context.Context, bare bool) error
	// Wrote returns the files that differ from the tree. It is called before Reset. Nil: unknown.
	Wrote func(ctx context.Context) (WrittenFiles, error)
	// Ignored returns, for untracked paths of the tree, the rule by which git ignores them. Nil:
	// unknown.
	Ignored func(ctx context.Context, paths []string) (map[string]string, error)
	// CI sets the variable CI of gates, unless Env has it: with it, test runners
	// compare with stored expectations and write none.
	CI bool
	// Ground provides a gate, while it runs, with a git directory whose HEAD is the tree, and
	// returns the paths in it that the gate must be able to read. May be nil.
	Ground func(ctx context.Context) (readable []string, done func() error, err error)
	// Over is a directory that receives the files that gates write, while the tree stays as it
	// is; see [sandbox.Command]. Empty: they write to the tree.
	Over string

	// Later postpones a gate to the landing when some of its tests ran, and passed.
	Later bool
	// Each runs all criteria, also when one is red.
	Each bool

	skipped *[]QualityGate // gates of a pass that were skipped, as their evidence was known
}

// OriginTree is the tree that the work started from.
type OriginTree struct {
	Dir     string
	Changed []string // files that the work changed since
	// Use lends a runner for the tree, exclusively for the duration of do.
	Use func(ctx context.Context, do func(r GateRunner, t JudgedTreeDir) error) error
}

// Limits of the stored output of a gate, and of its largest report. All of its output is
// parsed, see [readResult.OutputFilter].
const (
	maxKept   = 16 << 20
	maxReport = 64 << 20
)

// RunGate runs a gate on a tree. An error means that the machinery failed: there is no
// judgement. Of many findings it returns some, see [WithAllFindings].
func (r GateRunner) RunGate(ctx context.Context, t JudgedTreeDir, g QualityGate) (nexus.GateEvidence, error) {
	e, err := r.judgeWithAllFindings(ctx, t, g)
	if err != nil {
		return e, err
	}
	return r.shortenFindings(e)
}

// judgeWithAllFindings is [GateRunner.RunGate] with all findings.
func (r GateRunner) judgeWithAllFindings(ctx context.Context, t JudgedTreeDir, g QualityGate) (nexus.GateEvidence, error) {
	e := r.emptyEvidence(ctx, t, g)
	if r.Lacks != nil {
		if why := r.Lacks(g); why != "" {
			e.State, e.Why = nexus.MissingAsset, why
			return e, nil
		}
	}
	if r.Starts != nil {
		if err := r.Starts(g); err != nil {
			return e, err
		}
	}
	limit := r.gateTimeLimit(g)
	res, written, end, err := r.runWithHangWatch(ctx, t, g, limit, hangSigns(g, limit))
	if errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
		missing := parserbase.MissingToolFinding(g.Args[0], err.Error())
		e.State, e.Why, e.Findings = nexus.Environmental, err.Error(), []nexus.Finding{missing}
		e.Findings[0].Gate = g.Name
		return e, nil
	}
	var out outputparser.ParsedToolOutput
	if err == nil {
		out = r.readResult(t, g, res, end, written)
	}
	if err == nil && (end.Hung || end.Over && res.TimedOut) {
		res, out, err = r.investigateHang(ctx, t, g, limit, res, out, end)
	}
	if err != nil {
		return nexus.GateEvidence{}, err
	}
	e.State, e.Why, e.Counts, e.Findings = out.State, out.Why, out.Counts, out.Findings
	if e.State == nexus.Flaky { // the tool retried on its own, as the project configured
		e.State, e.Flaky = nexus.Pass, out.Flaky
	}
	e.Exit, e.Duration = res.Exit, res.Duration
	if res.TimedOut && !end.Over {
		e.State, e.Exit, e.Why = nexus.Timeout, -1, fmt.Sprintf("did not end within %s", limit)
		e.Findings = append(e.Findings, runningTestFinding(g, t, res, e.Findings)...)
	}
	if res.Over != "" {
		e.State, e.Exit, e.Over, e.Why = nexus.Exceeded, -1, string(res.Over), res.Exceeded
	}
	if g.Reads && (e.State == nexus.Pass || e.State == nexus.Unverifiable) {
		e = rejectRewrittenFiles(e, end.Wrote.Changed)
	}
	if g.mayCompareExpectations() {
		e = rejectRecordedExpectations(e, end.Wrote, res)
	}
	if e.Findings, err = r.explainMissingPaths(ctx, t, g, e.Findings, res); err != nil {
		return nexus.GateEvidence{}, fmt.Errorf("gate %s: %w", g.Name, err)
	}
	e = r.markNotRunIfObstacle(g, e, res)
	if e.Output, err = r.storeOutput(res); err == nil {
		e.Named, err = r.storeTestNames(out.Tests)
	}
	if err != nil {
		return nexus.GateEvidence{}, fmt.Errorf("gate %s: %w", g.Name, err)
	}
	return e, nil
}

// rejectRewrittenFiles marks the evidence of a gate that changed files which it should only read as
// unverifiable: its findings are outdated.
func rejectRewrittenFiles(e nexus.GateEvidence, files []string) nexus.GateEvidence {
	if len(files) == 0 {
		return e
	}
	e.State, e.Why = nexus.Unverifiable, fmt.Sprintf("it changed %s while it ran, so its result does not apply to the tree", pluralCount(len(files), "file"))
	for _, name := range files[:min(len(files), mostRewritten)] {
		e.Findings = append(e.Findings, nexus.Finding{
			Gate: e.Gate, File: name, Severity: nexus.Minor, Code: parserbase.CodeRewrote, Message: "the gate changed this file",
			Advice: "Run its command and keep what it changes, or give the gate a command that changes nothing.",
		})
	}
	return e
}

// mostRewritten limits the files that are named.
const mostRewritten = 50

func pluralCount(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// runCommandAndRead runs a gate's command on a tree, restores the tree, and parses the output.
func (r GateRunner) runCommandAndRead(ctx context.Context, t JudgedTreeDir, g QualityGate, limit time.Duration, readable ...string) (sandbox.Result, outputparser.ParsedToolOutput, error) {
	res, out, _, err := r.runWithHangSigns(ctx, t, g, limit, baseHangSigns(g), readable...)
	return res, out, err
}

// runWithHangSigns is [GateRunner.runCommandAndRead] with its own signs that the runner hangs.
func (r GateRunner) runWithHangSigns(ctx context.Context, t JudgedTreeDir, g QualityGate, limit time.Duration, s HangDetectionRules, readable ...string) (res sandbox.Result, out outputparser.ParsedToolOutput, end WatchedRunEnd, err error) {
	res, written, end, err := r.runWithHangWatch(ctx, t, g, limit, s, readable...)
	if err == nil {
		out = r.readResult(t, g, res, end, written)
	}
	return res, out, end, err
}

// runWithHangWatch runs a gate's command on a tree, ends it if it hangs, restores the tree, and returns
// its output and the reports that it wrote.
func (r GateRunner) runWithHangWatch(ctx context.Context, t JudgedTreeDir, g QualityGate, limit time.Duration, s HangDetectionRules, readable ...string) (res sandbox.Result, written []byte, end WatchedRunEnd, err error) {
	c := sandbox.Command{
		Args: g.commandInDir(withGoTestTimeout(g, limit)), Dir: t.Dir, Env: r.Env, Readable: slices.Concat(r.Readable, readable), Writable: r.Writable,
		Timeout: limit, Mark: r.Mark, Over: r.Over, Keeper: func() sandbox.OutputBuffer { return outputparser.NewOutputFilter(g.Format, 0) },
	}
	old := readReports(r.writtenFilesDirectory(t), g.Dir, g.Reports, maxReport)
	if r.Own != nil {
		s, done, err := r.Own(g)
		if err != nil {
			return res, nil, end, fmt.Errorf("gate %s: %w", g.Name, err)
		}
		c.Env, c.Readable, c.Writable = s.Env, slices.Concat(s.Readable, readable), s.Writable
		defer func() { _ = done() }() // leftovers do no harm, and are removed with the tree
	}
	c.Env = r.withCIVariable(c.Env)
	if seesOnlyTrackedFiles(g) {
		if err := r.resetTree(ctx, true); err != nil {
			return res, nil, end, fmt.Errorf("gate %s: %w", g.Name, err)
		}
	}
	res, end, err = r.runWithGit(ctx, c, g.Name, s)
	if errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
		return res, nil, end, errors.Join(err, r.resetTree(ctx, seesOnlyTrackedFiles(g)))
	}
	now := readReports(r.writtenFilesDirectory(t), g.Dir, g.Reports, maxReport)
	if err == nil && (g.Reads || g.mayCompareExpectations()) && r.Wrote != nil {
		end.Wrote, err = r.Wrote(ctx)
	}
	if err == nil {
		err = r.resetTree(ctx, seesOnlyTrackedFiles(g))
	}
	if err != nil {
		return res, nil, end, fmt.Errorf("gate %s: %w", g.Name, err)
	}
	if r.Mask != nil {
		res.Stdout, res.Stderr = r.Mask(res.Stdout), r.Mask(res.Stderr)
	}
	return res, joinFreshReports(now, old), end, nil
}

// runWithGit is [GateRunner.runInSandbox] with access to git.
func (r GateRunner) runWithGit(ctx context.Context, c sandbox.Command, gate string, s HangDetectionRules) (sandbox.Result, WatchedRunEnd, error) {
	if r.Ground == nil {
		return r.runInSandbox(ctx, c, gate, s)
	}
	more, done, err := r.Ground(ctx)
	if err != nil {
		return sandbox.Result{}, WatchedRunEnd{}, fmt.Errorf("show it git: %w", err)
	}
	c.Readable = slices.Concat(c.Readable, more)
	res, end, err := r.runInSandbox(ctx, c, gate, s)
	return res, end, errors.Join(err, done())
}

// writtenFilesDirectory returns the directory that contains the files written by gates.
func (r GateRunner) writtenFilesDirectory(t JudgedTreeDir) string {
	if r.Over != "" {
		return filepath.Join(r.Over, "upper")
	}
	return t.Dir
}

// readResult parses the output of a gate's command, and the reports that it wrote.
func (r GateRunner) readResult(t JudgedTreeDir, g QualityGate, res sandbox.Result, end WatchedRunEnd, written []byte) outputparser.ParsedToolOutput {
	in := readerInput(t, g, res)
	if g.Format == outputparser.GoTestJSON && !gosource.MayOmitTests(g.Args) {
		in.Expect = gosource.ExpectedTests(os.DirFS(t.Dir), in.Modules)
	}
	whole := !res.TimedOut && !end.Hung
	if end.Over && !whole {
		in.Guess, in.Exit = true, 0 // its natural exit code is unknown
	}
	out := stack.ReadOutput(in)
	if in.Stdout = written; len(in.Stdout) > 0 && whole {
		in.Format = outputparser.JUnit
		out = outputparser.JoinReports(out, stack.ReadOutput(in))
	}
	if end.Over && !whole {
		out = unfinishedReport(out)
	}
	for i := range out.Findings {
		out.Findings[i].Gate = g.Name
	}
	return out
}

// readerInput returns the output of a gate's command as input for the parsers.
func readerInput(t JudgedTreeDir, g QualityGate, res sandbox.Result) outputparser.ToolOutput {
	return outputparser.ToolOutput{
		Format: g.Format, Command: g.Command(), Tests: g.Tests, Stdout: res.Stdout, Stderr: res.Stderr, Exit: res.Exit, Cut: res.Cut,
		Root: t.Dir, Dir: g.Dir, Modules: gosource.GoModules(os.DirFS(t.Dir)), Find: stack.NewFileFinder(os.DirFS(t.Dir)),
	}
}

// runInSandbox runs a command in the sandbox, with its gate's network gateway, until it ends or
// hangs.
func (r GateRunner) runInSandbox(ctx context.Context, c sandbox.Command, gate string, s HangDetectionRules) (sandbox.Result, WatchedRunEnd, error) {
	var way *egress.CommandNetworkAccess
	if r.Net != nil {
		way = r.Net(gate)
	}
	ctx, w := WatchForHang(ctx, s)
	if s.needsOutput() {
		c.Heard = w.ReceiveOutput
	}
	res, asked, err := runWithNetwork(ctx, r.Box, c, way)
	end := w.Close(err)
	if end.Hung {
		err = nil
	}
	if len(asked) > 0 && r.Reached != nil {
		err = errors.Join(err, r.Reached(gate, asked))
	}
	return res, end, err
}

// emptyEvidence returns the evidence before the gate ran.
func (r GateRunner) emptyEvidence(ctx context.Context, t JudgedTreeDir, g QualityGate) nexus.GateEvidence {
	e := nexus.GateEvidence{
		Gate: g.Name, State: nexus.NotRun, Tree: t.Hash, Exit: -1,
		Command: g.Command(), Toolchain: r.toolVersions(ctx, t, g),
	}
	if r.Environment != "" {
		e.Toolchain = strings.TrimPrefix(e.Toolchain+"; environment "+r.Environment, "; ")
	}
	return e
}

func (r GateRunner) gateTimeLimit(g QualityGate) time.Duration {
	if g.Timeout > 0 {
		return g.Timeout
	}
	return r.Timeout
}

// seesOnlyTrackedFiles reports whether a gate sees only tracked files.
func seesOnlyTrackedFiles(g QualityGate) bool {
	switch g.Format {
	case outputparser.GoBuild, outputparser.GoVet, outputparser.GoTestJSON, outputparser.GoFmt, outputparser.GolangCI:
		return true
	default:
		return false
	}
}

func (r GateRunner) resetTree(ctx context.Context, bare bool) error {
	if r.Reset == nil {
		return nil
	}
	return r.Reset(ctx, bare)
}

func (r GateRunner) storeOutput(res sandbox.Result) (string, error) {
	if r.Put == nil || len(res.Stdout)+len(res.Stderr) == 0 {
		return "", nil
	}
	k := sandbox.NewHeadTail(maxKept)
	_, _ = k.Write(res.Stdout) // it never fails
	_, _ = k.Write(res.Stderr)
	data, _ := k.Bytes()
	return r.Put(data)
}

// TestNameSeparator separates a test's result from its name, in the blob that [nexus.GateEvidence]
// names: one test per line.
const TestNameSeparator = "\t"

// storeTestNames stores the names and results of tests.
func (r GateRunner) storeTestNames(tests []outputparser.TestResult) (string, error) {
	if r.Put == nil || len(tests) == 0 {
		return "", nil
	}
	var b strings.Builder
	for _, t := range tests {
		if name := strings.TrimPrefix(t.String(), "."); !strings.Contains(name, "\n") {
			b.WriteString(t.State + TestNameSeparator + name + "\n")
		}
	}
	return r.Put([]byte(b.String()))
}

// withGoTestTimeout makes go test end a little before the gate does, so that it reports which tests
// were running.
func withGoTestTimeout(g QualityGate, limit time.Duration) []string {
	if g.Format != outputparser.GoTestJSON || limit <= 0 || slices.ContainsFunc(g.Args, func(a string) bool {
		return strings.HasPrefix(strings.TrimLeft(a, "-"), "timeout")
	}) {
		return g.Args
	}
	i := slices.Index(g.Args, "test")
	return slices.Insert(slices.Clone(g.Args), i+1, fmt.Sprintf("-timeout=%s", max(limit*9/10, limit-20*time.Second)))
}
