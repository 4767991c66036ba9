package discover

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/discoveredwork"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/stack/scriptcommands"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// Parameters of comparing benchmarks: base and tree run in turns, so that other load on the
// machine affects both; a benchmark got slower if it was slower each time, by a minimum
// factor.
const (
	turns      = 5
	slower     = 1.2
	benchTime  = "100ms"
	mostBenchs = 10 // packages with benchmarks
	sinceTag   = 10 // distance to the base in commits, if there is neither another branch nor a tag
)

// benchmarkTimes are the measurements of a benchmark, one per turn.
type benchmarkTimes struct{ ns, allocs []float64 }

// findBenchmarkRegressions compares Go's benchmarks of the tree with those of its base.
func findBenchmarkRegressions(ctx context.Context, s *SourceTree) (StrategyResult, error) {
	var found StrategyResult
	gates, err := s.gatesForSteps(ctx, "test")
	if err != nil {
		return found, err
	}
	at := slices.IndexFunc(gates, func(g gate.QualityGate) bool {
		return g.Format == outputparser.GoTestJSON && (g.Dir == "" || g.Dir == ".")
	})
	if at < 0 {
		found.Skipped = "Nexus knows only benchmarks of Go's tests"
		return found, nil
	}
	base, name, err := s.comparisonBase(ctx)
	if err != nil || base == "" {
		found.Skipped = "there is no earlier commit to compare with"
		return found, err
	}
	packages, err := s.benchmarkDirectories(ctx, base)
	if err != nil || len(packages) == 0 {
		found.Skipped = "no Go file changed since " + name + " where benchmarks are"
		return found, err
	}
	b, err := s.o.OpenAt(ctx, base)
	if err != nil {
		return found, err
	}
	defer b.Close()
	s.attachBlobStore(b)
	for _, p := range packages {
		s.reportProgress("comparing the benchmarks of " + p + " with " + name)
		was, is, why, err := s.compareBenchmarks(ctx, b, p)
		switch {
		case err != nil:
			return found, err
		case why != "":
			found.Notes = append(found.Notes, fmt.Sprintf("the benchmarks of %s were not compared: %s", p, why))
		default:
			found.Findings = append(found.Findings, regressionFindings(p, name, was, is)...)
		}
	}
	return found, nil
}

// compareBenchmarks runs the benchmarks of a package at the base and in the tree by turns, so that
// other load on the machine affects both. Why is the reason if they could not be measured.
func (s *SourceTree) compareBenchmarks(ctx context.Context, base *TreeCheckout, dir string) (was, is map[string]*benchmarkTimes, why string, err error) {
	was, is = map[string]*benchmarkTimes{}, map[string]*benchmarkTimes{}
	for range turns {
		if why, err = s.runBenchmarks(ctx, base, dir, was); why != "" || err != nil {
			return nil, nil, why, err
		}
		if why, err = s.runBenchmarks(ctx, s.bench, dir, is); why != "" || err != nil {
			return nil, nil, why, err
		}
	}
	return was, is, "", nil
}

// runBenchmarks runs the benchmarks of a package once. Why is the reason if they could not be
// measured.
func (s *SourceTree) runBenchmarks(ctx context.Context, b *TreeCheckout, dir string, into map[string]*benchmarkTimes) (why string, err error) {
	g := gate.QualityGate{Name: "bench: " + dir, Args: benchmarkArgs(dir, "."), Format: outputparser.Exit}
	s.recordGatePrograms(g)
	e, err := b.Runner.RunGate(ctx, b.Tree, g)
	if err != nil {
		return "", err
	}
	printed := string(s.blobs[e.Output])
	if e.State != nexus.Pass {
		return failureLine(printed, cmp.Or(e.Why, string(e.State))), nil
	}
	readBenchmarkOutput(printed, into)
	return "", nil
}

func benchmarkArgs(dir, pattern string) []string {
	return []string{"go", "test", "-run=^$", "-bench=" + pattern, "-benchmem", "-benchtime=" + benchTime, "-count=1", "./" + dir}
}

// benchLine matches a result line of go test -bench.
var benchLine = regexp.MustCompile(`^(Benchmark[^\s]*?)(?:-\d+)?\s+\d+\s+(.*)$`)

// readBenchmarkOutput adds the printed results of benchmarks.
func readBenchmarkOutput(printed string, into map[string]*benchmarkTimes) {
	for line := range strings.Lines(printed) {
		m := benchLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		words := strings.Fields(m[2])
		for i := 0; i+1 < len(words); i += 2 {
			v, err := strconv.ParseFloat(words[i], 64)
			if err != nil || math.IsNaN(v) || v < 0 {
				continue
			}
			if into[m[1]] == nil {
				into[m[1]] = &benchmarkTimes{}
			}
			switch words[i+1] {
			case "ns/op":
				into[m[1]].ns = append(into[m[1]].ns, v)
			case "allocs/op":
				into[m[1]].allocs = append(into[m[1]].allocs, v)
			}
		}
	}
}

// regressionFindings returns a finding for each benchmark that got worse each time: slower, or with
// more allocations.
func regressionFindings(dir, base string, was, is map[string]*benchmarkTimes) (all []discoveredwork.WorkFinding) {
	for name, now := range is {
		before := was[name]
		if before == nil || !isSafeInCheck(name) || strings.Contains(name, "/") {
			continue // a part of another benchmark, or a new one
		}
		f := discoveredwork.WorkFinding{
			ID: discoveredwork.FindingID("benchmarks", dir, name), Strategy: "benchmarks", Kind: discoveredwork.Perf, Severity: nexus.PriorityMedium,
			Minutes: discoveredwork.EstimateMinutes("benchmarks", 1), Places: []discoveredwork.FindingPlace{{File: dir}},
		}
		unit, limit := "", 0.0
		switch {
		case isConsistentlyWorse(before.allocs, now.allocs, 1):
			unit, limit = "allocs/op", slices.Max(before.allocs)
			f.Why = fmt.Sprintf("it allocates %g times, and %g times at %s", slices.Min(now.allocs), limit, base)
		case isConsistentlyWorse(before.ns, now.ns, slower):
			unit, limit = "ns/op", math.Ceil(math.Sqrt(slices.Min(before.ns)*slices.Min(now.ns)))
			f.Why = fmt.Sprintf("it takes %g ns at best, and %g at %s, in each of %d turns", slices.Min(now.ns), slices.Min(before.ns), base, turns)
		default:
			continue
		}
		f.Title = fmt.Sprintf("Make %s of ./%s as good as at %s", name, dir, base)
		f.Check = benchmarkCheckCommand(dir, name, unit, limit)
		all = append(all, f)
	}
	slices.SortStableFunc(all, func(a, b discoveredwork.WorkFinding) int { return strings.Compare(a.Title, b.Title) })
	return all
}

// isConsistentlyWorse reports whether all later measurements are worse than all earlier ones, and the best ones by a factor.
func isConsistentlyWorse(before, now []float64, factor float64) bool {
	if len(before) < turns || len(now) < turns {
		return false
	}
	return slices.Min(now) > slices.Max(before) && slices.Min(now) >= factor*slices.Min(before)
}

// benchmarkCheckCommand returns a command that passes if the best result of a benchmark is within the
// limit.
func benchmarkCheckCommand(dir, name, unit string, limit float64) string {
	args := benchmarkArgs(dir, "^"+name+"$")
	args[6] = "-count=3"
	const best = `/^Benchmark/{for(i=2;i<NF;i++)if($(i+1)==u&&(v==""||$i+0<v))v=$i+0} END{exit !(v!=""&&v<=m)}`
	most := strconv.FormatFloat(limit, 'f', -1, 64)
	return gate.QualityGate{Args: args}.Command() + " | awk -v u=" + unit + " -v m=" + most + " " + scriptcommands.QuoteShellWord(best)
}

// comparisonBase returns the commit to compare the tree with, and a name for people: the commit where
// its branch left another one, the latest tag, or an earlier commit.
func (s *SourceTree) comparisonBase(ctx context.Context) (commit, name string, err error) {
	ask := func(args ...string) string {
		out, asked := s.o.Repo.RunLine(ctx, args...)
		if asked != nil { // there is none
			return ""
		}
		return out
	}
	for _, branch := range []string{"main", "master"} {
		at := ask("merge-base", "--end-of-options", s.o.Commit, "refs/heads/"+branch)
		if at != "" && at != s.o.Commit {
			return at, branch, ctx.Err()
		}
	}
	if tag := ask("describe", "--tags", "--abbrev=0", s.o.Commit+"^"); tag != "" {
		return ask("rev-parse", "--verify", "--quiet", "--end-of-options", "refs/tags/"+tag+"^{commit}"), tag, ctx.Err()
	}
	all := strings.Fields(ask("rev-list", "--first-parent", fmt.Sprintf("--max-count=%d", sinceTag+1), "--end-of-options", s.o.Commit))
	if len(all) < 2 {
		return "", "", ctx.Err()
	}
	commit = all[len(all)-1]
	return commit, commit[:9], ctx.Err()
}

// benchmarkDirectories returns the directories with benchmarks, if a Go file changed since the base: those
// with changes first.
func (s *SourceTree) benchmarkDirectories(ctx context.Context, base string) ([]string, error) {
	out, err := s.o.Repo.Run(ctx, "diff", "--name-only", "--no-renames", "-z", "--end-of-options", base, s.o.Commit)
	if err != nil {
		return nil, err
	}
	changed := map[string]bool{}
	for name := range strings.SplitSeq(out, "\x00") {
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			changed[path.Dir(name)] = true
		}
	}
	if len(changed) == 0 {
		return nil, nil
	}
	var all []string
	for _, f := range s.files {
		dir := path.Dir(f.path)
		if !strings.HasSuffix(f.path, "_test.go") || slices.Contains(all, dir) || !isSafeInCheck(f.path) {
			continue
		}
		lines, err := s.readTextLines(ctx, f.path)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "func Benchmark") }) {
			all = append(all, dir)
		}
	}
	slices.SortStableFunc(all, func(a, b string) int {
		switch {
		case changed[a] == changed[b]:
			return strings.Compare(a, b)
		case changed[a]:
			return -1
		}
		return 1
	})
	return all[:min(len(all), mostBenchs)], nil
}
