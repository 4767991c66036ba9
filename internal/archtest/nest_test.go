package archtest

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// minNested is how many lines of code a nested package has that is imported
// once. A smaller one is a part of the package that imports it.
const minNested = 200

// module is what the rules on names look at.
type module struct {
	pkgs  []pkg
	lines func(pkg) int // of code
}

// nested is the path of a package inside another idea: floor/idea/part.
func nested(name string) bool {
	return strings.Count(name, "/") >= 2 && !strings.HasPrefix(name, "cmd/")
}

// tests says that a package is a test helper, by its name.
func tests(name string) bool { return strings.HasSuffix(name, "test") }

// small names the nested packages that one package imports and that are not
// large enough to be an idea. Test helpers, programs, commands and model providers
// (a package each), and packages that a build tag leaves out or that hold tests alone are free.
func small(m module) map[string]string {
	importers := map[string][]string{}
	for _, p := range m.pkgs {
		for _, imp := range p.Imports {
			if dep, ok := strings.CutPrefix(imp, internal); ok {
				importers[dep] = append(importers[dep], p.name())
			}
		}
	}
	found := map[string]string{}
	for _, p := range m.pkgs {
		name := p.name()
		if !nested(name) || tests(name) || isCommand(name) || strings.HasPrefix(name, "sys/llm/") || p.Name == "main" || len(p.GoFiles) == 0 || len(importers[name]) > 1 {
			continue
		}
		if n := m.lines(p); n < minNested {
			found[name] = fmt.Sprintf("%d lines of code, imported by %s", n, strings.Join(importers[name], " "))
		}
	}
	return found
}

// isCommand reports whether a package is a command of the command line.
func isCommand(name string) bool {
	return strings.HasPrefix(name, "face/cli/") && strings.HasSuffix(name, "cmd")
}

// twins names the packages that share a name, programs aside.
func twins(pkgs []pkg) map[string]string {
	by := map[string][]string{}
	for _, p := range pkgs {
		if p.Name != "main" && p.Name != "" {
			by[p.Name] = append(by[p.Name], p.name())
		}
	}
	found := map[string]string{}
	for name, of := range by {
		if len(of) > 1 {
			found[name] = strings.Join(of, ", ")
		}
	}
	return found
}

// unexcused compares what breaks a rule with its exceptions, each of which has
// a reason and is needed.
func unexcused(found, excused map[string]string) []string {
	var wrong []string
	for name, what := range found {
		if _, ok := excused[name]; !ok {
			wrong = append(wrong, name+": "+what)
		}
	}
	for name, why := range excused {
		if _, ok := found[name]; !ok {
			wrong = append(wrong, name+": the exception is not needed any more: remove it")
		} else if why == "" {
			wrong = append(wrong, name+": the exception has no reason")
		}
	}
	return wrong
}

func TestNested(t *testing.T) {
	lines := func(p pkg) int {
		n := 0
		for _, f := range p.sources(t) {
			if !f.test {
				n += f.code
			}
		}
		return n
	}
	for _, wrong := range unexcused(small(module{load(t), lines}), smallPackages) {
		t.Errorf("%s: a nested package has two importers or %d lines; move it into its importer, or, if it is an idea of its own, say why in smallPackages (except_test.go)", wrong, minNested)
	}
}

func TestNames(t *testing.T) {
	for _, wrong := range unexcused(twins(load(t)), sharedNames) {
		t.Errorf("two packages share a name: %s", wrong)
	}
}

// TestNestedRule shows the rules on nested packages and on names on a small module.
func TestNestedRule(t *testing.T) {
	at := func(name string, imports ...string) pkg {
		for i := range imports {
			imports[i] = internal + imports[i]
		}
		return pkg{ImportPath: internal + name, Name: path.Base(name), GoFiles: []string{"a.go"}, Imports: imports}
	}
	program, tagged := at("work/a/tool"), at("work/a/tagged")
	program.Name, tagged.GoFiles = "main", nil
	m := module{
		pkgs: []pkg{
			at("work/a", "work/a/once", "work/a/twice", "work/a/large", "work/a/atest"), at("work/b", "work/a/twice", "work/once"),
			at("work/a/once"), at("work/a/twice"), at("work/a/large"), at("work/a/atest"), at("work/once"), program, tagged,
		},
		lines: func(p pkg) int {
			if p.Name == "large" {
				return minNested
			}
			return minNested - 1
		},
	}
	found := small(m)
	if want := map[string]string{"work/a/once": "199 lines of code, imported by work/a"}; !maps.Equal(found, want) {
		t.Errorf("small nested packages: %v, want %v", found, want)
	}
	if got, want := twins(m.pkgs), map[string]string{"once": "work/a/once, work/once"}; !maps.Equal(got, want) {
		t.Errorf("twins: %v, want %v", got, want)
	}
	for _, c := range []struct {
		excused map[string]string
		want    string
	}{
		{nil, "work/a/once: " + found["work/a/once"]},
		{map[string]string{"work/a/once": "it is slow to build"}, ""},
		{map[string]string{"work/a/once": ""}, "work/a/once: the exception has no reason"},
		{map[string]string{"work/a/once": "x", "work/c": "y"}, "work/c: the exception is not needed any more: remove it"},
	} {
		if got := strings.Join(unexcused(found, c.excused), "\n"); got != c.want {
			t.Errorf("%v: %q, want %q", c.excused, got, c.want)
		}
	}
}

// gone names what a rule speaks of and no package is, and homes of a library
// that do not import it.
func gone(pkgs []pkg, named []string, homes map[string][]string) []string {
	imports := map[string][]string{}
	for _, p := range pkgs {
		imports[p.name()] = append(imports[p.name()], p.Imports...)
	}
	has := func(name string) bool {
		_, ok := imports[name]
		return ok || slices.ContainsFunc(slices.Collect(maps.Keys(imports)), func(p string) bool { return strings.HasPrefix(p, name+"/") })
	}
	var wrong []string
	for _, name := range named {
		if !has(name) {
			wrong = append(wrong, name+": a rule names it, and there is no such package")
		}
	}
	for lib, of := range homes {
		for _, home := range of {
			switch {
			case home == nowhere || home == oracle:
			case !has(strings.TrimSuffix(home, "/...")):
				wrong = append(wrong, home+": the home of "+lib+" is no package")
			case !strings.HasSuffix(home, "/...") && !slices.ContainsFunc(imports[home], func(imp string) bool { return strings.HasPrefix(imp, lib) }):
				wrong = append(wrong, home+": it is a home of "+lib+" and does not import it")
			}
		}
	}
	slices.Sort(wrong)
	return wrong
}

// TestRules wants no rule for a package that is not there.
func TestRules(t *testing.T) {
	named := slices.Concat([]string{shared, caller}, slices.Collect(maps.Keys(may)), harnesses)
	for name := range longFiles {
		named = append(named, path.Dir(name))
	}
	for name := range fatInterfaces {
		named = append(named, strings.TrimSuffix(name, path.Ext(name)))
	}
	named = slices.AppendSeq(named, maps.Keys(smallPackages))
	for _, floors := range may {
		named = append(named, floors...)
	}
	for _, wrong := range gone(load(t), named, homes) {
		t.Error(wrong)
	}
	for _, file := range []string{".golangci.yml", "Makefile"} {
		data, err := os.ReadFile(filepath.Join("..", "..", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range inTree.FindAllString(string(data), -1) {
			if _, err := os.Stat(filepath.Join("..", "..", dir)); err != nil {
				t.Errorf("%s names %s, which is not there", file, dir)
			}
		}
	}
}

// inTree is a path in the configuration of a tool.
var inTree = regexp.MustCompile(`internal(/[a-z]+)+`)

// TestRulesRule shows that a rule for a package that is not there is seen.
func TestRulesRule(t *testing.T) {
	pkgs := []pkg{
		{ImportPath: internal + "sys/git", Imports: []string{"os/exec"}},
		{ImportPath: internal + "sys/apikey/store"},
	}
	for _, c := range []struct {
		named []string
		homes map[string][]string
		want  string
	}{
		{[]string{"sys/git", "sys", "sys/apikey"}, map[string][]string{"os/exec": {"sys/git"}, "x/": {nowhere}, "y/": {oracle}}, ""},
		{[]string{"sys/gi"}, nil, "sys/gi: a rule names it, and there is no such package"},
		{nil, map[string][]string{"os/exec": {"sys/git", "sys/jail"}}, "sys/jail: the home of os/exec is no package"},
		{nil, map[string][]string{"os/exec": {"sys/apikey/store"}}, "sys/apikey/store: it is a home of os/exec and does not import it"},
	} {
		if got := strings.Join(gone(pkgs, c.named, c.homes), "\n"); got != c.want {
			t.Errorf("%v %v: %q, want %q", c.named, c.homes, got, c.want)
		}
	}
}
