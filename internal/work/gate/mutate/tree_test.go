package mutate_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/mutate"
)

// room is a package of the tree, as go list tells.
type room struct {
	ImportPath, Dir                             string
	GoFiles, Imports, TestGoFiles, XTestGoFiles []string
}

func (r room) tested() bool { return len(r.TestGoFiles)+len(r.XTestGoFiles) > 0 }

// planted is what came of one fault, as a line of the file of results.
type planted struct {
	Key   string             `json:"key"` // of the tree, the fault and how many packages are asked
	State mutate.MutantState `json:"state"`
	Fault string             `json:"fault"`
	By    string             `json:"by,omitempty"`
}

// TestMutants plants faults in a copy of the project, has one at a time happen,
// and runs the tests of its package, and then of a few packages of the same floor
// that import it. It prints those that no test notices, and how many were
// noticed, by floor. See make mutants and make mutate: NEXUS_MUTANTS is how many,
// NEXUS_MUTANTS_OF what their files' names begin with, NEXUS_MUTANTS_BASE the
// commit since which a line must be new, NEXUS_MUTANTS_TIME how long it may take,
// NEXUS_MUTANTS_SEED what is drawn, NEXUS_MUTANTS_LEAST the least score in
// percent, NEXUS_MUTANTS_NEAR how many of those packages, and NEXUS_MUTANTS_FILE
// where results are kept: what is there of the same tree is not tried again.
func TestMutants(t *testing.T) {
	most, _ := strconv.Atoi(os.Getenv("NEXUS_MUTANTS"))
	if most <= 0 {
		t.Skip("make mutants runs it")
	}
	ctx := t.Context()
	if limit := os.Getenv("NEXUS_MUTANTS_TIME"); limit != "" {
		d, err := time.ParseDuration(limit)
		if err != nil {
			t.Fatal(err)
		}
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, d)
		defer stop()
	}
	p := project{
		dir: t.TempDir(), bin: t.TempDir(), texts: map[string][]byte{}, base: map[string]baseline{},
		known: map[string]planted{}, asleep: map[mutate.Mutant]string{},
	}
	p.importers, _ = strconv.Atoi(os.Getenv("NEXUS_MUTANTS_NEAR"))
	p.copy(t)
	p.list(t)
	p.recall(t)
	all, score := p.draw(t, most), map[string]tally{}
	p.plant(ctx, t, all)
	for i, m := range all {
		r := p.try(ctx, t, m)
		if ctx.Err() != nil {
			for _, m := range all[i:] {
				say(t, "not tried, the time is over: %s", m)
			}
			break
		}
		for _, name := range slices.Compact([]string{"all", floor(m.File, 1), floor(m.File, 2)}) {
			if score[name] == nil {
				score[name] = tally{}
			}
			score[name][r.State]++
		}
		if r.State != mutate.Killed {
			say(t, "%s: %s %s", r.State, r.Fault, r.By)
		}
	}
	if len(all) == 0 {
		say(t, "no line could hold a fault")
		return
	}
	say(t, "\n%-30s %8s %8s %6s %s", "", "noticed", "survived", "score", "no result")
	for _, name := range slices.Sorted(maps.Keys(score)) {
		s := score[name]
		say(t, "%-30s %8d %8d %5.0f%% %d", name, s.noticed(), s[mutate.Survived], s.percent(), s[mutate.Uncompiled]+s[mutate.Unclear])
	}
	if least, _ := strconv.Atoi(os.Getenv("NEXUS_MUTANTS_LEAST")); score["all"].below(float64(least)) {
		t.Errorf("the tests notice less than %d %% of these faults: docs/gates.md says what to do", least)
	}
}

func say(t *testing.T, format string, args ...any) {
	t.Helper()
	_, _ = fmt.Fprintf(t.Output(), format+"\n", args...)
}

// floor returns the first parts of a file's directory below internal.
func floor(file string, parts int) string {
	all := strings.Split(path.Dir(file), "/")
	return strings.Join(all[1:min(len(all), parts+1)], "/")
}

// project is the copy in which faults are planted.
type project struct {
	dir, hash string
	bin       string // where the programs with the tests are, by package
	rooms     []room
	texts     map[string][]byte   // of the files that faults are drawn from
	base      map[string]baseline // by package
	known     map[string]planted
	asleep    map[mutate.Mutant]string // the faults that are compiled in, with what wakes them
	results   string
	importers int // packages that are asked beside that of a fault
}

// root is the checkout.
const root = "../../../.."

// copy copies what git knows of the checkout, and what is new in it.
func (p *project) copy(t *testing.T) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.New()
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		info, err := os.Lstat(filepath.Join(root, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(p.dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if !info.Mode().IsRegular() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(root, name))
		if err == nil {
			err = os.WriteFile(to, data, info.Mode().Perm())
		}
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(sum, "%s\x00%d\x00", name, len(data))
		_, _ = sum.Write(data)
	}
	p.hash = hex.EncodeToString(sum.Sum(nil))
}

func (p *project) list(t *testing.T) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Dir,GoFiles,Imports,TestGoFiles,XTestGoFiles", "./internal/...")
	cmd.Dir = p.dir
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err, said.String())
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var r room
		if err := d.Decode(&r); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		p.rooms = append(p.rooms, r)
	}
}

// recall reads the results that are kept.
func (p *project) recall(t *testing.T) {
	t.Helper()
	if p.results = os.Getenv("NEXUS_MUTANTS_FILE"); p.results == "" {
		return
	}
	f, err := os.Open(p.results)
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var r planted
		if json.Unmarshal(lines.Bytes(), &r) == nil { // a line may be cut off
			p.known[r.Key] = r
		}
	}
}

// harness matches the directories of what only tests and benchmarks use.
var harness = regexp.MustCompile(`(^internal/archtest|test|testenv/.*|/testenv|/sim(/.*)?|/bench|/demo|/testsum)$`)

// draw draws as many faults from each floor, and those of new lines from all of
// them together. Their order is drawn, too: where the time is over before all are
// tried, those that were are still a sample.
func (p *project) draw(t *testing.T, most int) []mutate.Mutant {
	t.Helper()
	fresh := p.fresh(t)
	floors := map[string][]mutate.Mutant{}
	for _, r := range p.rooms {
		dir, err := filepath.Rel(p.dir, r.Dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range r.GoFiles {
			file := path.Join(filepath.ToSlash(dir), name)
			if harness.MatchString(path.Dir(file)) || !strings.HasPrefix(file, os.Getenv("NEXUS_MUTANTS_OF")) {
				continue
			}
			data, err := os.ReadFile(filepath.Join(p.dir, file))
			if err != nil {
				t.Fatal(err)
			}
			p.texts[file] = data
			at := floor(file, 1)
			if os.Getenv("NEXUS_MUTANTS_BASE") != "" {
				at = "all"
			}
			floors[at] = append(floors[at], mutate.FindMutants(mutate.MutableFile{Path: file, Text: string(data), New: fresh(file, data)})...)
		}
	}
	var all []mutate.Mutant
	seed := cmp.Or(os.Getenv("NEXUS_MUTANTS_SEED"), "1")
	for _, found := range floors {
		all = append(all, mutate.SampleMutants(found, seed, (most+len(floors)-1)/len(floors))...)
	}
	all = mutate.SampleMutants(all, seed, most)
	slices.SortStableFunc(all, func(a, b mutate.Mutant) int {
		x, y := sha256.Sum256([]byte(seed+a.String())), sha256.Sum256([]byte(seed+b.String()))
		return bytes.Compare(x[:], y[:])
	})
	return all
}

// fresh returns what tells which lines of a file may hold a fault: all, or those
// that are new since a base.
func (p *project) fresh(t *testing.T) func(file string, data []byte) map[int]bool {
	t.Helper()
	base := os.Getenv("NEXUS_MUTANTS_BASE")
	if base == "" {
		return func(_ string, data []byte) map[int]bool {
			lines := map[int]bool{}
			for i := range bytes.Count(data, []byte("\n")) + 1 {
				lines[i+1] = true
			}
			return lines
		}
	}
	repo, err := git.FindRepo(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	if base, err = repo.Resolve(t.Context(), base); err != nil {
		t.Fatal(err)
	}
	files, err := mutate.ChangedFiles(t.Context(), repo, base)
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]map[int]bool{}
	for _, f := range files {
		lines[f.Path] = f.New
	}
	return func(file string, _ []byte) map[int]bool { return lines[file] }
}

// try has one fault happen and runs the tests.
func (p *project) try(ctx context.Context, t *testing.T, m mutate.Mutant) planted {
	t.Helper()
	r := planted{Key: p.key(m), State: mutate.Unclear, Fault: m.String()}
	if old, ok := p.known[r.Key]; ok {
		return old
	}
	for _, pkg := range near(p.rooms, p.own(m), p.importers) {
		base, ok := p.base[pkg]
		if !ok {
			base = p.unharmed(ctx, t, pkg)
			p.base[pkg] = base
		}
		if base.took < 0 {
			continue // red without it
		}
		limit := 3*base.took + 20*time.Second
		out := ""
		if id := p.asleep[m]; id != "" {
			out = p.run(ctx, pkg, id, limit, "-test.failfast", "-test.skip="+base.skip)
		} else {
			out = p.apart(ctx, t, pkg, m, limit, base.skip)
		}
		switch {
		case out == "":
			r.State = mutate.Survived
		case p.asleep[m] == "" && (strings.Contains(out, "[build failed]") || strings.Contains(out, "[setup failed]")):
			r.State = mutate.Uncompiled
		case strings.Contains(out, "panic: test timed out") || strings.Contains(out, "signal: killed"):
			r.State = mutate.TimedOut
		default:
			r.State = mutate.Killed
		}
		if r.State != mutate.Survived {
			r.By = pkg
			break
		}
	}
	if ctx.Err() == nil {
		p.keep(t, r)
	}
	return r
}

// own is the package of a fault.
func (p *project) own(m mutate.Mutant) string {
	for _, r := range p.rooms {
		if rel, err := filepath.Rel(p.dir, r.Dir); err == nil && filepath.ToSlash(rel) == path.Dir(m.File) {
			return r.ImportPath
		}
	}
	return ""
}

// key names a fault in this tree.
func (p *project) key(m mutate.Mutant) string {
	sum := sha256.Sum256(append([]byte(p.hash+strconv.Itoa(p.importers)+m.File), m.Apply(p.texts[m.File])...))
	return hex.EncodeToString(sum[:])
}

// near returns the packages whose tests are run: that of the file, then as many
// as are given of those of its floor that import it, the nearest first. The
// simulator and other harnesses are slow and come last. Where there is none of
// them, importers of other floors are asked.
func near(rooms []room, own string, importers int) []string {
	root := own[:strings.Index(own, "/internal/")+len("/internal/")]
	first, _, _ := strings.Cut(own[len(root):], "/")
	var same, other []string
	tested := false
	for _, r := range rooms {
		switch {
		case r.tested() && r.ImportPath == own:
			tested = true
		case !r.tested() || !slices.Contains(r.Imports, own):
		case strings.HasPrefix(r.ImportPath, root+first+"/"):
			same = append(same, r.ImportPath)
		default:
			other = append(other, r.ImportPath)
		}
	}
	if !tested && len(same) == 0 {
		same = other
	}
	rank := func(name string) int { // the higher, the earlier
		n := 0
		for n < min(len(name), len(own)) && name[n] == own[n] {
			n++
		}
		if harness.MatchString(strings.TrimPrefix(name, root[:len(root)-len("internal/")])) {
			n -= len(own)
		}
		return n
	}
	slices.SortStableFunc(same, func(a, b string) int { return rank(b) - rank(a) })
	same = same[:min(len(same), importers)]
	if tested {
		same = slices.Insert(same, 0, own)
	}
	return same
}

// TestNear holds which tests are run for a fault, and in which order.
func TestNear(t *testing.T) {
	const m = "example.com/m/internal/"
	at := func(path string, tests bool, imports ...string) room {
		r := room{ImportPath: m + path}
		for _, i := range imports {
			r.Imports = append(r.Imports, m+i)
		}
		if tests {
			r.XTestGoFiles = []string{"x_test.go"}
		}
		return r
	}
	rooms := []room{
		at("decide/a", true), at("decide/a/b", false, "decide/a"), at("decide/c", true, "decide/a"), at("decide/z", false), at("decide/lone", false),
		at("run", true, "decide/a"), at("run/sim", true, "run", "decide/z"), at("run/local", true, "run"), at("work/w", true, "decide/z"),
		at("decide/a/n", true, "decide/a"),
	}
	for own, want := range map[string][]string{
		"decide/a":    {"decide/a", "decide/a/n", "decide/c"},
		"run":         {"run", "run/local", "run/sim"},
		"decide/z":    {"work/w", "run/sim"},
		"decide/lone": nil,
	} {
		var got []string
		for _, path := range near(rooms, m+own, 4) {
			got = append(got, strings.TrimPrefix(path, m))
		}
		if !slices.Equal(got, want) {
			t.Errorf("near %s are %v, want %v", own, got, want)
		}
	}
}

func (p *project) keep(t *testing.T, r planted) {
	t.Helper()
	if p.results == "" {
		return
	}
	data, err := json.Marshal(r)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(p.results), 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(p.results, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = f.Write(append(data, '\n')); err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}
