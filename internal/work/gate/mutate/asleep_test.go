package mutate_test

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
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

	"github.com/nexus-ai-builder/nexus/internal/work/gate/mutate"
)

// wakes is the variable of the environment that says which fault happens. It is
// none of ours, as tests run without those.
const wakes = "PLANTED_FAULT"

// plant compiles all faults into the copy at once, each asleep: a fault is a copy
// of its function, which the function calls where the environment names the
// fault. So one more fault costs one more run of the tests, and no build. Those
// that are in no function, or that do not compile, are left out; apart tries
// them.
func (p *project) plant(ctx context.Context, t *testing.T, all []mutate.Mutant) {
	t.Helper()
	files, dirs := map[string][]mutate.Mutant{}, map[string]bool{}
	for i, m := range all {
		if _, ok := p.known[p.key(m)]; !ok {
			p.asleep[m] = strconv.Itoa(i + 1)
			files[m.File], dirs[path.Dir(m.File)] = append(files[m.File], m), true
		}
	}
	for dir := range dirs {
		for p.rewrite(ctx, t, dir, files) {
		}
	}
}

// rewrite writes the files of a directory with the faults that are asleep in
// them, and builds it. It reports whether it must be called again: some faults
// did not compile and are no longer asleep.
func (p *project) rewrite(ctx context.Context, t *testing.T, dir string, files map[string][]mutate.Mutant) bool {
	t.Helper()
	name, held := "", map[string]map[int]mutate.Mutant{}
	for file, faults := range files {
		if path.Dir(file) != dir {
			continue
		}
		var text []byte
		name, text, held[path.Base(file)] = p.asleepIn(t, file, faults)
		if err := os.WriteFile(filepath.Join(p.dir, file), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	code := fmt.Sprintf("package %s\n\nimport \"os\"\n\nvar plantedFault = os.Getenv(%q)\n", name, wakes)
	// A name that comes first: variables of the package are set after this one.
	if err := os.WriteFile(filepath.Join(p.dir, dir, "0planted.go"), []byte(code), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := p.command(ctx, "build", "-trimpath", "./"+dir).CombinedOutput()
	if err == nil || ctx.Err() != nil {
		return false
	}
	found := false
	for _, at := range regexp.MustCompile(`(?m)^\S*?([^/\s]+\.go):(\d+):`).FindAllStringSubmatch(string(out), -1) {
		line, _ := strconv.Atoi(at[2])
		if m, ok := held[at[1]][line]; ok {
			delete(p.asleep, m)
			found = true
		}
	}
	if !found {
		t.Fatalf("%s does not build with faults that are asleep: %v\n%s", dir, err, out)
	}
	return true
}

// asleepIn returns the package's name, and a file's text with the faults asleep
// in it. Held says to which fault a line belongs.
func (p *project) asleepIn(t *testing.T, file string, faults []mutate.Mutant) (pkg string, text []byte, held map[int]mutate.Mutant) {
	t.Helper()
	src := p.texts[file]
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	at := func(pos token.Pos) int { return set.PositionFor(pos, false).Offset }
	left, done := slices.Clone(faults), 0
	copies, line := []byte("\n"), bytes.Count(src, []byte("\n"))+2
	held = map[int]mutate.Mutant{}
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil || f.Recv == nil && slices.Contains([]string{"init", "main", "_"}, f.Name.Name) {
			continue
		}
		var calls string
		left = slices.DeleteFunc(left, func(m mutate.Mutant) bool {
			id, broken := p.asleep[m], m.Apply(src)
			if first := differ(src, broken); id == "" || first <= at(f.Body.Lbrace) || first >= at(f.End()) {
				return false
			}
			name, end := f.Name.Name+"PlantedFault"+id, at(f.End())+len(broken)-len(src)
			twin := slices.Concat(src[at(f.Pos()):at(f.Name.Pos())], []byte(name), broken[at(f.Name.End()):end], []byte("\n"))
			for range bytes.Count(twin, []byte("\n")) {
				held[line] = m
				line++
			}
			copies = append(copies, twin...)
			calls += fmt.Sprintf("case %q: %s; ", id, call(f, name))
			return true
		})
		if calls == "" {
			continue
		}
		for _, e := range named(f) {
			text = append(append(text, src[done:at(e.from)]...), e.name...)
			done = at(e.to)
		}
		body := at(f.Body.Lbrace) + 1
		text = append(append(text, src[done:body]...), "switch plantedFault { "+calls+"}; "...)
		done = body
	}
	for _, m := range left {
		delete(p.asleep, m) // it is in no function
	}
	return parsed.Name.Name, slices.Concat(text, src[done:], copies), held
}

// differ returns where two texts begin to differ.
func differ(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// renaming is a parameter without a name that is given one.
type renaming struct {
	from, to token.Pos
	name     string
}

// fields returns what a function is given, its receiver first.
func fields(f *ast.FuncDecl) []*ast.Field {
	if f.Recv == nil {
		return f.Type.Params.List
	}
	return slices.Concat(f.Recv.List, f.Type.Params.List)
}

// named gives names to the parameters of a function that have none.
func named(f *ast.FuncDecl) []renaming {
	var all []renaming
	for i, field := range fields(f) {
		if len(field.Names) == 0 {
			all = append(all, renaming{field.Type.Pos(), field.Type.Pos(), given(i, 0) + " "})
		}
		for j, n := range field.Names {
			if n.Name == "_" {
				all = append(all, renaming{n.Pos(), n.End(), given(i, j)})
			}
		}
	}
	return all
}

func given(field, name int) string { return fmt.Sprintf("given%d_%d", field, name) }

// call is the statement that has another function do what a function is called
// for.
func call(f *ast.FuncDecl, name string) string {
	var args []string
	for i, field := range fields(f) {
		if len(field.Names) == 0 {
			args = append(args, given(i, 0))
		}
		for j, n := range field.Names {
			arg := n.Name
			if arg == "_" {
				arg = given(i, j)
			}
			args = append(args, arg)
		}
		if _, ok := field.Type.(*ast.Ellipsis); ok {
			args[len(args)-1] += "..."
		}
	}
	if f.Recv != nil {
		name, args = args[0]+"."+name, args[1:]
	}
	if f.Type.TypeParams != nil {
		var types []string
		for _, field := range f.Type.TypeParams.List {
			for _, n := range field.Names {
				types = append(types, n.Name)
			}
		}
		name += "[" + strings.Join(types, ", ") + "]"
	}
	code := name + "(" + strings.Join(args, ", ") + ")"
	if f.Type.Results != nil {
		return "return " + code
	}
	return code + "; return"
}

// apart plants one fault, runs the tests of a package but those to skip, and
// takes it out again.
func (p *project) apart(ctx context.Context, t *testing.T, pkg string, m mutate.Mutant, limit time.Duration, skip string) string {
	t.Helper()
	file := filepath.Join(p.dir, m.File)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, m.Apply(p.texts[m.File]), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(ctx, limit+5*time.Minute) // it compiles, too
	defer stop()
	cmd := p.command(ctx, append(testFlags("test"), "-count=1", "-failfast", "-skip="+skip, "-timeout", limit.String(), pkg)...)
	out, failed := cmd.CombinedOutput()
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return said(out, failed)
}

// testFlags are how tests are compiled. Without -trimpath every package would be
// compiled anew for this copy.
func testFlags(args ...string) []string { return append(args, "-trimpath", "-vet=off", "-ldflags=-w") }

// program is the file with the tests of a package.
func (p *project) program(pkg string) string {
	return filepath.Join(p.bin, strings.ReplaceAll(pkg, "/", "_"))
}

// built builds the tests of a package, and reports whether that worked.
func (p *project) built(ctx context.Context, pkg string) bool {
	return p.command(ctx, append(testFlags("test", "-c", "-o", p.program(pkg)), pkg)...).Run() == nil
}

// run runs the tests of a package with a fault, or without one. It returns
// nothing where they pass, and what they print where not.
func (p *project) run(ctx context.Context, pkg, fault string, limit time.Duration, flags ...string) string {
	ctx, stop := context.WithTimeout(ctx, limit+time.Minute)
	defer stop()
	i := slices.IndexFunc(p.rooms, func(r room) bool { return r.ImportPath == pkg })
	cmd := exec.CommandContext(ctx, p.program(pkg), append(flags, "-test.timeout", limit.String())...)
	cmd.Dir, cmd.WaitDelay, cmd.Env = p.rooms[i].Dir, 10*time.Second, append(clean(), wakes+"="+fault)
	out, err := cmd.CombinedOutput()
	return said(out, err)
}

func said(out []byte, err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprintf("%s\n%v", out, err)
}

func (p *project) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.WaitDelay, cmd.Env = p.dir, 10*time.Second, clean()
	return cmd
}

// clean is the environment without what is for us.
func clean() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "NEXUS_") })
}

// TestPlant holds that a program with faults that are asleep does what it does
// without, and what each fault makes of it where that is woken, in every kind of
// function that there is.
func TestPlant(t *testing.T) {
	const file = "internal/a/a.go"
	src := `package main

import "fmt"

type set[K comparable] map[K]bool

func (s set[K]) has(k K) bool { return s[k] }

func (set[_]) size(_ int, more ...int) int { return len(more) + 1 }

func pick[K comparable, V any](all map[K]V, _ K, k K) (v V, ok bool) {
	if v, ok = all[k]; !ok {
		return v, false
	}
	return v, true
}

func show(string, int) (n int) { // the comment stays
	n = 7
	return n
}

func add(n *int) { *n++ }

func twice(s string) string { return s + s }

var early = set[string]{"x": true}.has("x")

func main() {
	n := 1
	add(&n)
	v, ok := pick(map[string]int{"x": 3}, "", "x")
	fmt.Println(n, v, ok, early, set[string]{}.size(1, 2, 3), show("", 1), twice("a"))
}
`
	p := project{dir: t.TempDir(), texts: map[string][]byte{file: []byte(src)}, known: map[string]planted{}, asleep: map[mutate.Mutant]string{}}
	for name, text := range map[string]string{"go.mod": "module example.com/m\n\ngo 1.26\n", file: src} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(p.dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	lines := map[int]bool{}
	for i := range strings.Count(src, "\n") {
		lines[i+1] = true
	}
	all := mutate.FindMutants(mutate.MutableFile{Path: file, Text: src, New: lines})
	p.plant(t.Context(), t, all)
	program := filepath.Join(p.dir, "a")
	if out, err := p.command(t.Context(), "build", "-trimpath", "-o", program, "./internal/a").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	does := func(fault string) string {
		cmd := exec.CommandContext(t.Context(), program)
		cmd.Env = []string{wakes + "=" + fault}
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(fault, err)
		}
		return string(out)
	}
	const plain = "2 3 true true 3 7 aa\n"
	if got := does(""); got != plain {
		t.Errorf("with no fault awake: %q", got)
	}
	want := map[string]string{
		"internal/a/a.go:7: return nothing: `return s[k]` becomes `return false`":        "2 3 true false 3 7 aa\n",
		"internal/a/a.go:9: return nothing: `return len(more) + 1` becomes `return 0`":   "2 3 true true 0 7 aa\n",
		"internal/a/a.go:9: arithmetic: `+` becomes `-`":                                 "2 3 true true 1 7 aa\n",
		"internal/a/a.go:12: negate condition: `!ok` becomes `!(!ok)`":                   "2 3 false true 3 7 aa\n",
		"internal/a/a.go:13: boolean: `false` becomes `true`":                            plain,
		"internal/a/a.go:15: return nothing: `return v, true` becomes `return v, false`": "2 3 false true 3 7 aa\n",
		"internal/a/a.go:15: boolean: `true` becomes `false`":                            "2 3 false true 3 7 aa\n",
		"internal/a/a.go:19: remove statement: `n = 7` becomes `_ = 7`":                  "2 3 true true 3 0 aa\n",
		"internal/a/a.go:20: return nothing: `return n` becomes `return 0`":              "2 3 true true 3 0 aa\n",
		"internal/a/a.go:23: arithmetic: `++` becomes `--`":                              "0 3 true true 3 7 aa\n",
		"internal/a/a.go:25: return nothing: `return s + s` becomes `return \"\"`":       "2 3 true true 3 7 \n",
	}
	for _, m := range all {
		id, now := p.asleep[m], want[m.String()]
		switch {
		case (id == "") != (now == ""):
			t.Errorf("%s is asleep as %q", m, id)
		case id != "" && does(id) != now:
			t.Errorf("%s does %q", m, does(id))
		}
		delete(want, m.String())
	}
	if len(want) > 0 {
		t.Errorf("not planted: %v", want)
	}
}
