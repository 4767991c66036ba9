package discover

import (
	"context"
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/discoveredwork"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/ignore"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/stack/scriptcommands"
	"github.com/nexus-ai-builder/nexus/internal/sys/secret/leak"
	"github.com/nexus-ai-builder/nexus/internal/work/changeeffects"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
)

// Limits of reading a tree.
const (
	mostFiles = 50_000
	mostText  = 512 << 10 // largest file, in bytes
)

// sourceTreeFile is a file of the tree.
type sourceTreeFile struct{ path, blob string }

// SourceTree is the tree that strategies examine. One goroutine uses it.
type SourceTree struct {
	o     Options
	files []sourceTreeFile // files written by people and visible to agents, by path
	locks []sourceTreeFile // files written by tools beside them, such as lock files

	bench    *TreeCheckout
	closed   error // why there is no checkout
	root     *os.Root
	blobs    map[string][]byte
	leaks    leak.SecretLeakFinder
	judged   map[string]nexus.GateEvidence
	texts    map[string][]string
	programs map[string]bool // programs that the current strategy has run
	churned  map[string]discoveredwork.FileChangeHistory
	late     map[string]bool // names of the commits in churned
	spent    nexus.Money     // cost of model calls
}

func newSourceTree(ctx context.Context, o Options) (*SourceTree, error) {
	s := &SourceTree{
		o: o, blobs: map[string][]byte{}, judged: map[string]nexus.GateEvidence{}, texts: map[string][]string{}, programs: map[string]bool{},
	}
	hidden, err := changeeffects.HiddenFilesAt(ctx, o.Repo, o.Commit)
	if err != nil {
		return nil, err
	}
	out, err := o.Repo.Run(ctx, "ls-tree", "-r", "-z", "--full-tree", "--end-of-options", o.Tree)
	if err != nil {
		return nil, err
	}
	for _, f := range parseTreeListing(out, hidden) {
		if stack.IsToolWrittenFile(strings.ToLower(path.Base(f.path))) {
			s.locks = append(s.locks, f)
		} else {
			s.files = append(s.files, f)
		}
	}
	return s, nil
}

// parseTreeListing parses ls-tree -z, without hidden files, files from outside of the project, and
// entries that are no files.
func parseTreeListing(out string, hidden ignore.IgnoreSet) []sourceTreeFile {
	var all []sourceTreeFile
	for line := range strings.SplitSeq(out, "\x00") {
		meta, name, ok := strings.Cut(line, "\t")
		words := strings.Fields(meta)
		if !ok || len(words) != 3 || len(all) == mostFiles {
			continue
		}
		plain := words[0] == "100644" || words[0] == "100755"
		if !plain || stack.IsInSkippedDir(name) || hidden.IsIgnored(name) || strings.ContainsAny(name, "\n\r") {
			continue
		}
		all = append(all, sourceTreeFile{name, words[2]})
	}
	return all
}

func (s *SourceTree) reportProgress(text string) {
	if s.o.Say != nil {
		s.o.Say(text)
	}
}

// currentTime returns the time, for measuring durations.
func (s *SourceTree) currentTime() time.Time {
	if s.o.Clock != nil {
		return s.o.Clock()
	}
	return s.o.Now
}

// checkOutTree checks the tree out on the first call.
func (s *SourceTree) checkOutTree(ctx context.Context) (*TreeCheckout, error) {
	if s.bench != nil {
		return s.bench, nil
	}
	if s.closed != nil {
		return nil, s.closed
	}
	b, err := s.o.Open(ctx)
	if err != nil {
		s.closed = err
		return nil, err
	}
	if s.root, err = os.OpenRoot(b.Tree.Dir); err != nil {
		b.Close()
		return nil, err
	}
	s.bench = b
	s.attachBlobStore(b)
	return b, nil
}

// attachBlobStore makes the command runner store its output.
func (s *SourceTree) attachBlobStore(b *TreeCheckout) {
	b.Runner.Put = func(data []byte) (string, error) {
		hash := strconv.Itoa(len(s.blobs) + 1)
		s.blobs[hash] = data
		return hash, nil
	}
	b.Runner.Get = func(hash string) ([]byte, error) {
		data, ok := s.blobs[hash]
		if !ok {
			return nil, fmt.Errorf("output %s is gone", hash)
		}
		return data, nil
	}
}

func (s *SourceTree) closeCheckout() {
	if s.bench != nil {
		_ = s.root.Close() // it was opened for reading only
		s.bench.Close()
	}
}

// generated matches the usual marks of a generated file.
var generated = regexp.MustCompile(`(?i)^\W*(?:code generated .* do not edit|@generated|auto-?generated|` +
	`this file (?:is|was) (?:auto)?generated)`)

// readTextLines returns the lines of a text file; nil for a binary, large, generated or unreadable
// file.
func (s *SourceTree) readTextLines(ctx context.Context, name string) ([]string, error) {
	if all, ok := s.texts[name]; ok {
		return all, nil
	}
	if _, err := s.checkOutTree(ctx); err != nil {
		return nil, err
	}
	s.texts[name] = nil
	info, err := s.root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > mostText {
		return nil, nil //nolint:nilerr // what cannot be read is not looked at
	}
	data, err := s.root.ReadFile(name)
	if err != nil || strings.ContainsRune(string(data), 0) {
		return nil, nil //nolint:nilerr // as above
	}
	all := strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n"), "\n")
	for _, line := range all[:min(len(all), 5)] {
		if generated.MatchString(line) {
			return nil, nil
		}
	}
	s.texts[name] = all
	return all, nil
}

// runGate returns a gate's result on the tree, with all findings and its output. Each gate
// runs once; further calls return the same result.
func (s *SourceTree) runGate(ctx context.Context, g gate.QualityGate) (e nexus.GateEvidence, printed string, err error) {
	b, err := s.checkOutTree(ctx)
	if err != nil {
		return e, "", err
	}
	s.recordGatePrograms(g)
	name := g.Name + "\x00" + g.Command()
	e, known := s.judged[name]
	if !known {
		s.reportProgress("running " + g.Name + ": " + truncateRunes(g.Command(), 80))
		if e, err = b.Runner.RunGate(ctx, b.Tree, g); err != nil {
			return e, "", err
		}
		if whole, ok := gate.WithAllFindings(e, b.Runner.Get); ok {
			e = whole
		}
		s.judged[name] = e
	}
	return e, string(s.blobs[e.Output]), nil
}

// recordGatePrograms records the programs that a gate runs: each word of its command that is a program's
// name, also inside a shell command.
func (s *SourceTree) recordGatePrograms(g gate.QualityGate) {
	for i, word := range stack.CommandWords(g.Args) {
		if i == 0 || stack.IsProgram(word) || s.programVersion(word) != missing {
			s.programs[word] = true
		}
	}
}

// gatesForSteps returns the gates of the tree for some steps.
func (s *SourceTree) gatesForSteps(ctx context.Context, steps ...string) ([]gate.QualityGate, error) {
	b, err := s.checkOutTree(ctx)
	if err != nil {
		return nil, err
	}
	var all []gate.QualityGate
	for _, g := range b.Gates {
		if g.Of == "" && slices.Contains(steps, detect.StepOfGate(g.Name)) {
			all = append(all, g)
		}
	}
	return all, nil
}

// tryChecks runs the checks of findings that were not run yet. Only a failing check proves
// that there is something to do: the same check later proves that it is done.
func (s *SourceTree) tryChecks(ctx context.Context, found StrategyResult) ([]discoveredwork.WorkFinding, error) {
	all := found.Findings
	var open []int
	for i, f := range all {
		if f.State == "" && f.No == "" && f.Check != "" {
			open = append(open, i)
		}
	}
	if len(open) == 0 {
		return all, nil
	}
	b, err := s.checkOutTree(ctx)
	if err != nil {
		return nil, err
	}
	open = slices.DeleteFunc(open, func(i int) bool {
		if _, ok := detect.CriterionGate(nexus.Criterion{Text: all[i].Title, Check: all[i].Check}); !ok {
			all[i].No = "its check is the name of a gate and no command"
		} else if b.May != nil && !b.May(all[i].Check) {
			all[i].No = "its check is not run without a sandbox: the policy does not allow it"
		}
		return all[i].No != ""
	})
	if found.Quick {
		return all, s.runChecksTogether(ctx, all, open)
	}
	for n, i := range open {
		s.reportProgress(fmt.Sprintf("trying check %d of %d: %s", n+1, len(open), truncateRunes(all[i].Check, 80)))
		g, _ := detect.CriterionGate(nexus.Criterion{Text: all[i].Title, Check: all[i].Check})
		e, err := b.Runner.RunGate(ctx, b.Tree, g)
		if err != nil {
			return nil, err
		}
		all[i] = withCheckResult(all[i], e.State, e.Why)
	}
	return all, nil
}

// withCheckResult returns a finding with the result of its check.
func withCheckResult(f discoveredwork.WorkFinding, state nexus.GateState, why string) discoveredwork.WorkFinding {
	f.State = state
	switch {
	case state == nexus.Pass:
		f.No = "its check passes already"
	case state != nexus.Fail:
		f.No = fmt.Sprintf("its check gave no usable result (%s): %s", state, why)
	}
	return f
}

// mark begins the lines that report the exit codes of checks.
const mark = "nexus-check "

// runChecksTogether runs checks that only read files, in one command.
func (s *SourceTree) runChecksTogether(ctx context.Context, all []discoveredwork.WorkFinding, open []int) error {
	if len(open) == 0 {
		return nil
	}
	var script strings.Builder
	for _, i := range open {
		fmt.Fprintf(&script, "sh -c %s >/dev/null 2>&1 </dev/null; echo '%s'%d $?\n", scriptcommands.QuoteShellWord(all[i].Check), mark, i)
	}
	g := gate.QualityGate{Name: nexus.AcceptGate + "discover", Args: []string{"sh", "-c", script.String()}, Format: outputparser.Exit, Reads: true}
	e, err := s.bench.Runner.RunGate(ctx, s.bench.Tree, g)
	if err != nil {
		return err
	}
	ended := parseCheckExitCodes(string(s.blobs[e.Output]))
	for _, i := range open {
		code, ok := ended[i]
		switch {
		case !ok:
			all[i] = withCheckResult(all[i], nexus.Unverifiable, "it did not end: "+e.Why)
		case code == 0:
			all[i] = withCheckResult(all[i], nexus.Pass, "")
		case code >= 126:
			all[i] = withCheckResult(all[i], nexus.Environmental, fmt.Sprintf("it exited with %d", code))
		default:
			all[i] = withCheckResult(all[i], nexus.Fail, "")
		}
	}
	return nil
}

// parseCheckExitCodes parses the exit codes of the checks that ran together, by their numbers.
func parseCheckExitCodes(printed string) map[int]int {
	all := map[int]int{}
	for line := range strings.Lines(printed) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), mark)
		which, code, two := strings.Cut(rest, " ")
		i, err := strconv.Atoi(which)
		n, err2 := strconv.Atoi(code)
		if ok && two && err == nil && err2 == nil {
			all[i] = n
		}
	}
	return all
}

// isSafeInCheck reports whether a name or a text may be part of a check: one line, without control
// characters.
func isSafeInCheck(text string) bool {
	return text != "" && len(text) < 200 && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFD' })
}

func truncateRunes(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:n-3]) + "..."
	}
	return text
}
