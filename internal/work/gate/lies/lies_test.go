// Package lies_test judges whole trees that look done and are not, and honest
// ones that look odd, with the real tools of their stacks. A lie that is
// accepted is the worst fault that gates can have; an honest tree that is
// refused is the second worst.
package lies_test

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/nexus-ai-builder/nexus/internal/decide/tamper"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/citoolstest"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
)

// gone is the text of a file that a tree no longer has.
const gone = "GONE\n"

// project is a small project that is well, what breaks it, and the trees that
// people made of it: each a set of files that it has otherwise.
type project struct {
	needs          []string // programs and files without which it cannot be judged
	base, broken   map[string]string
	lies, honest   map[string]map[string]string
	mayBeExplained []string // honest trees that a verifier has to look at
}

// read reads a project. Its files are base/PATH, broken/PATH, and
// lie:NAME/PATH or honest:NAME/PATH; a lie stands on what is broken.
func read(t *testing.T, file string) project {
	t.Helper()
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p := project{base: map[string]string{}, broken: map[string]string{}, lies: map[string]map[string]string{}, honest: map[string]map[string]string{}}
	for l := range strings.Lines(string(a.Comment)) {
		if words, ok := strings.CutPrefix(l, "needs "); ok {
			p.needs = strings.Fields(words)
		}
		if words, ok := strings.CutPrefix(l, "explain "); ok {
			p.mayBeExplained = append(p.mayBeExplained, strings.TrimSpace(words))
		}
	}
	for _, f := range a.Files {
		of, name, ok := strings.Cut(f.Name, "/")
		if !ok {
			t.Fatalf("%s: %s", file, f.Name)
		}
		kind, title, _ := strings.Cut(of, ":")
		var into map[string]string
		switch kind {
		case "base":
			into = p.base
		case "broken":
			into = p.broken
		case "lie", "honest":
			all := map[string]map[string]map[string]string{"lie": p.lies, "honest": p.honest}[kind]
			if all[title] == nil {
				all[title] = map[string]string{}
			}
			into = all[title]
		default:
			t.Fatalf("%s: %s", file, f.Name)
		}
		if name != "-" { // a tree that changes nothing
			into[name] = string(f.Data)
		}
	}
	return p
}

// able skips a project whose tools are not here.
func (p project) able(t *testing.T) {
	t.Helper()
	testenv.NeedTool(t, p.needs...)
}

// write makes a directory of files; an executable one begins with #!.
func write(t *testing.T, files map[string]string) gate.JudgedTreeDir {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if text == gone {
			continue
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o600)
		if strings.HasPrefix(text, "#!") {
			mode = 0o700
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	if text := files["package.json"]; strings.Contains(text, "vitest") || strings.Contains(text, "mocha") {
		citoolstest.LinkJavaScriptTools(t, filepath.Join(dir, "node_modules"))
	}
	return gate.JudgedTreeDir{Dir: dir, Hash: "tree of " + filepath.Base(dir)}
}

func runner(t *testing.T) gate.GateRunner {
	t.Helper()
	box, err := sandbox.FindSandbox(t.Context(), sandbox.ModeAuto)
	if err != nil {
		t.Fatal(err)
	}
	setup, err := gate.PrepareGoTools(t.TempDir(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	cache := strings.TrimSpace(string(out)) // so that the standard library is compiled once
	return gate.GateRunner{
		Box: box, Env: append(setup.Env, "GOCACHE="+cache, "CI=true"), Writable: append(setup.Writable, cache), Readable: setup.Readable,
		Timeout: 5 * time.Minute, Versions: &gate.ToolVersionCache{},
	}
}

// tests are the gates of a tree that run tests.
func tests(t *testing.T, tree gate.JudgedTreeDir) []gate.QualityGate {
	t.Helper()
	all, err := detect.DetectGates(tree.Dir, config.GateSettings{})
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(g gate.QualityGate) bool { return !g.Tests })
}

// judge holds a tree against the project as a run does: by the gates of the
// base and its own, and by what the change does to what judges it.
func (p project) judge(t *testing.T, base gate.JudgedTreeDir, was map[string]nexus.GateEvidence, gates []gate.QualityGate, changes ...map[string]string) (nexus.GatesVerdict, []nexus.Finding) {
	t.Helper()
	now := maps.Clone(p.base)
	for _, c := range changes {
		maps.Copy(now, c)
	}
	var changed []string
	var files []tamper.ChangedFileVersions
	for _, name := range slices.Sorted(maps.Keys(now)) {
		old, had := p.base[name]
		text := now[name]
		if had && old == text || !had && text == gone {
			continue
		}
		changed = append(changed, name)
		f := tamper.ChangedFileVersions{Path: name}
		if had {
			f.Old = &old
		}
		if text != gone {
			f.New = &text
		}
		files = append(files, f)
	}
	tree := write(t, now)
	gates = slices.Clone(gates)
	for _, g := range tests(t, tree) {
		if !slices.ContainsFunc(gates, func(b gate.QualityGate) bool { return b.Name == g.Name }) {
			gates = append(gates, g)
		}
	}
	r := runner(t)
	lone := r
	r.Base = func(name string) (nexus.GateEvidence, bool) { e, ok := was[name]; return e, ok }
	r.Origin = &gate.OriginTree{Dir: base.Dir, Changed: changed, Use: func(_ context.Context, do func(gate.GateRunner, gate.JudgedTreeDir) error) error {
		return do(lone, base)
	}}
	v, err := r.RunAll(t.Context(), tree, gates, nil)
	if err != nil {
		t.Fatal(err)
	}
	suspect := tamper.FindTampering(files)
	for _, e := range v.Evidence {
		for _, f := range e.Findings {
			if e.Passed() && f.Code == parserbase.CodeFewer {
				suspect = append(suspect, f)
			}
		}
	}
	return v, suspect
}

// some returns the names of the trees that are tried: by day one in three.
func some(trees map[string]map[string]string) []string {
	all := slices.Sorted(maps.Keys(trees))
	if testenv.RunsNightly() {
		return all
	}
	var names []string
	for i := 0; i < len(all); i += 3 {
		names = append(names, all[i])
	}
	return names
}

func TestWholeTrees(t *testing.T) {
	testenv.NeedToolchains(t)
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var byGates, bySuspicion, honest atomic.Int64
	t.Run("all", func(t *testing.T) {
		for _, file := range files {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
				t.Parallel()
				p := read(t, file)
				p.able(t)
				base := write(t, p.base)
				gates := tests(t, base)
				r := runner(t)
				was := map[string]nexus.GateEvidence{}
				for _, g := range gates {
					e, err := r.RunGate(t.Context(), base, g)
					if err != nil || e.State != nexus.Pass {
						t.Fatalf("the project itself: %+v, %v", e, err)
					}
					was[g.Name] = e
				}
				red := sync.OnceFunc(func() {
					if v, _ := p.judge(t, base, was, gates, p.broken); v.Passed {
						t.Error("what is broken shows nothing")
					}
				})
				for _, name := range some(p.lies) {
					t.Run("lie "+name, func(t *testing.T) {
						t.Parallel()
						v, suspect := p.judge(t, base, was, gates, p.broken, p.lies[name])
						switch {
						case !v.Passed:
							byGates.Add(1)
							t.Logf("%s: %v", v.Why, v.AllFindings())
						case len(suspect) > 0:
							bySuspicion.Add(1)
							t.Logf("suspect: %v", suspect)
						default:
							t.Errorf("accepted: %+v", v)
						}
					})
				}
				for _, name := range some(p.honest) {
					t.Run("honest "+name, func(t *testing.T) {
						t.Parallel()
						v, suspect := p.judge(t, base, was, gates, p.honest[name])
						if !v.Passed {
							t.Errorf("refused: %s %v", v.Why, v.AllFindings())
						}
						if slices.ContainsFunc(suspect, func(f nexus.Finding) bool { return f.Severity == nexus.Major || f.Code == parserbase.CodeFewer }) && !slices.Contains(p.mayBeExplained, name) {
							t.Errorf("suspected: %v", suspect)
						}
						honest.Add(1)
					})
				}
				red()
			})
		}
	})
	t.Logf("%d lies refused by gates, %d more to be explained; %d honest trees", byGates.Load(), bySuspicion.Load(), honest.Load())
}
