package monorepo_test

import (
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/stack/monorepo"
)

// tree returns a tree of files, each as PATH=TEXT.
func tree(files ...string) fstest.MapFS {
	t := fstest.MapFS{}
	for _, f := range files {
		name, text, _ := strings.Cut(f, "=")
		t[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return t
}

// draw writes packages with what they need, a line each; ? stands for any.
func draw(r *monorepo.PackageGraph) []string {
	var all []string
	for _, p := range r.Packages {
		line := p.Name + " " + p.Dir + " " + strings.Join(p.Kinds, "+") + ":"
		if p.Wide != "" && p.Dir != "." {
			line += " ?"
		}
		all = append(all, strings.Join(append([]string{line}, p.Needs...), " "))
	}
	return all
}

// TestPackages says which packages a repository has, and which need which, by
// manifests, by code and by paths.
func TestPackages(t *testing.T) {
	for name, c := range map[string]struct {
		files []string
		want  []string
	}{
		"none": {[]string{"README.md=x"}, nil},
		"npm": {
			[]string{
				`package.json={"name":"top","workspaces":["p/*"]}`, `p/a/package.json={"name":"@o/a"}`, `p/b/package.json={"name":"@o/b","devDependencies":{"@o/a":"1"}}`,
				`p/c/package.json={"name":"c"}`, "p/c/index.ts=import x from '@o/b/sub'\n", `p/d/package.json={"name":"d"}`, "p/d/a.js=// '@o/ab' and a, b, ...args\n",
			},
			[]string{"top . node:", "@o/a p/a node:", "@o/b p/b node: p/a", "c p/c node: p/b", "d p/d node:"},
		},
		"computed": {
			[]string{`a/package.json={"name":"@o/a"}`, `b/package.json={"name":"@o/b"}`, "b/x.js=require(`@o/${name}`)", `c/package.json={"name":"c"}`, "c/x.js=require(name)", `d/package.json={"name":"d"}`},
			[]string{"@o/a a node:", "@o/b b node: a", "c c node: ?", "d d node:"},
		},
		"npm aliases": {
			[]string{`a/package.json={"name":"@o/a"}`, `b/package.json={"name":"b","dependencies":{"x":"workspace:@o/a@*"}}`, `c/package.json={"name":"c","dependencies":{"y":"npm:b@^1"}}`, `d/package.json={"name":"d","dependencies":{"z":"workspace:*"}}`},
			[]string{"@o/a a node:", "b b node: a", "c c node: b", "d d node:"},
		},
		"another kind": {
			[]string{`a/package.json={"name":"a"}`, `b/package.json={"name":"b"}`, "b/CMakeLists.txt=", `c/package.json={"name":"c"}`, "c/pyproject.toml="},
			[]string{"a a node:", "b b node+cmake: ?", "c c node+python:"},
		},
		"paths": {
			[]string{
				"a/package.json={}", "a/src/x.js=", "b/package.json={}", "b/src/y.js=require('../../a/src/x')", "c/package.json={}", `c/tsconfig.json={"extends":"../../tsconfig.json"}`,
				"d/package.json={}", "d/t.js=path.join(__dirname, '..', 'a', 'src')", "e/package.json={}", "e/run.sh=cd .. && make", "f/package.json={}", "f/g/x.js=require('../y')", "f/y.js=",
				"g/package.json={}", "g/run.sh=cat ../a/src/x.js", "h/package.json={}", "h/conf.yml=root: a/src/x.js",
			},
			[]string{"a a node:", "b b node: a", "c c node:", "d d node: a", "e e node: ?", "f f node:", "g g node: a", "h h node: a"},
		},
		"go": {
			[]string{"go.work=go 1.22\nuse (\n\t./a\n\t./b\n)\n", "a/go.mod=module example.org/a\n", "a/a.go=package a\n", "b/go.mod=module example.org/b\n", "b/b.go=package b\n\nimport \"example.org/a/sub\"\n", "ab/go.mod=module example.org/ab\n", "ab/x.go=package x\n"},
			[]string{". . go:", "example.org/a a go:", "example.org/ab ab go:", "example.org/b b go: a"},
		},
		"cargo": {
			[]string{"Cargo.toml=[workspace]\nmembers = [\"a\", \"b\"]\n", "a/Cargo.toml=[package]\nname = \"a\"\n", "b/Cargo.toml=[package]\nname = \"b\"\n\n[dependencies]\na = { path = \"../a\" }\n", "c/Cargo.toml=[package]\nname = \"c\"\n\n[dev-dependencies.b]\nworkspace = true\n"},
			[]string{". . rust:", "a a rust:", "b b rust: a", "c c rust: b"},
		},
		"python": {
			[]string{
				"lib/pyproject.toml=[project]\nname = \"my-lib\"\n", "lib/src/my_lib/__init__.py=", "app/pyproject.toml=[project]\nname = \"app\"\ndependencies = [\"My_Lib>=1\"]\n", "app/app.py=",
				"tool/setup.py=setup(name='tool')", "tool/tool.py=from my_lib.x import y\n", "far/setup.cfg=[metadata]\nname = far\n", "far/far.py=x = Path(__file__).parent.parent / 'y'\n",
			},
			[]string{"app app python: lib", "far far python: ?", "my-lib lib python:", "tool tool python: lib"},
		},
		"documentation is no package": {
			[]string{"lib/pyproject.toml=[project]\nname = \"lib\"\n", "docs/conf.py=project = 'x'\n", "docs/requirements.txt=sphinx\n", "app/pyproject.toml=[project]\nname = \"a\"\n", "app/conf.py=x\n", "tool/requirements.txt=x\n"},
			[]string{"a app python:", "lib lib python:", "tool tool python:"},
		},
		"mixed": {
			[]string{"web/package.json={\"name\":\"web\"}", "web/dist/x.js=", "api/pyproject.toml=[project]\nname='api'\n", "api/api/__init__.py=STATIC = '../../web/dist'\n", "both/package.json={\"name\":\"js\"}", "both/pyproject.toml=", "pom.xml=", "lib/pom.xml="},
			[]string{". . maven:", "api api python: web", "js both node+python:", "web web node:"},
		},
		"nested": {
			[]string{`a/package.json={"name":"a"}`, `a/inner/package.json={"name":"inner"}`, `b/package.json={"name":"b"}`},
			[]string{"a a node: a/inner", "inner a/inner node: a", "b b node:"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.want, draw(monorepo.ReadPackageGraph(tree(c.files...)))); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestComputedNames says which imports only a run of a script shows.
func TestComputedNames(t *testing.T) {
	for text, want := range map[string]bool{
		"require(name)": true, "require(path.join(x, 'y'))": true, "import(getPath(x))": true, `require(cfg["p"])`: true, "await import( name )": true, "import(a ? 'b' : 'c')": true,
		"import(`${name}`)": true, "import(`@o/a-${name}`)": true, "import(`@o/${ name }`)": true, "require('@o/a-' + name)": true, "import(/* x */ name)": true, "import(`../a-${x}`)": true,
		"import(`@o/${name}`)": false, "import(`./words/${name}.js`)": false, "import(`../words/${name}.js`)": false, "require('@o/' + name)": false,
		"require('x')": false, "import(`x`)": false, "import(/* webpackChunkName: \"x\" */ './x')": false, "import x from 'y'": false, "require()": false, "required(x)": false,
	} {
		r := monorepo.ReadPackageGraph(tree(`a/package.json={"name":"@o/a"}`, `b/package.json={"name":"@o/b"}`, "b/words/x.js=", "words/x.js=", "b/x.js="+text))
		if b, ok := r.PackageOf("b"); !ok || (b.Wide != "") != want {
			t.Errorf("%s: %q", text, b.Wide)
		}
	}
}

// TestAliases follows the names that a configuration of TypeScript in the root gives
// to what is in packages.
func TestAliases(t *testing.T) {
	for name, c := range map[string]struct {
		config, imports string
		want            string // packages that the one with the import needs; ? for any
	}{
		"a file":                {`{"compilerOptions":{"paths":{"ui":["./libs/ui/src/index.ts"]}}}`, "ui", "libs/ui"},
		"another name":          {`{"compilerOptions":{"paths":{"ui":["libs/ui/src/index.ts"]}}}`, "uint", ""},
		"with a base":           {`{"compilerOptions":{"baseUrl":"./libs","paths":{"@x":["ui/src/index.ts"]}}}`, "@x", "libs/ui"},
		"by the base":           {`{"compilerOptions":{"baseUrl":"libs"}}`, "ui/src/x", "libs/ui"},
		"within a package":      {`{"compilerOptions":{"paths":{"@ui/*":["libs/ui/src/*"]}}}`, "@ui/deep/x", "libs/ui"},
		"star of packages":      {`{"compilerOptions":{"paths":{"@x/*":["libs/*/src"]}}}`, "@x/kit", "libs/kit"},
		"and of what they have": {`{"compilerOptions":{"paths":{"@x/*":["libs/*"]}}}`, "@x/kit/src/y", "libs/kit"},
		"an ending":             {`{"compilerOptions":{"paths":{"@x/*/api":["libs/*/src/api.ts"]}}}`, "@x/ui/api", "libs/ui"},
		"part of a name":        {`{"compilerOptions":{"paths":{"@x/*-z":["libs/*/src"]}}}`, "fs", "libs/kit libs/ui"},
		"any name":              {`{"compilerOptions":{"paths":{"*":["libs/ui/src/*"]}}}`, "fs", "libs/ui"},
		"a dollar":              {`{"compilerOptions":{"paths":{"$lib/*":["libs/ui/src/*"]}}}`, "fs", "libs/ui"},
		"elsewhere":             {`{"compilerOptions":{"paths":{"@/*":["./src/*"],"*":["node_modules/*"],"@up":["../libs/ui"]}}}`, "@/ui", ""},
		"comments":              {"{ // a \"paths\"\n/* b */\"compilerOptions\":{\"paths\":{\"//k/*\":[\"libs/kit/a.ts\",],\"ui\":[\"libs/ui/src/index.ts\",],},\n},}", "ui", "libs/ui"},
		"broken":                {`{"compilerOptions":{"paths":`, "fs", "?"},
		"broken, without names": {`{"compilerOptions":{`, "fs", ""},
	} {
		for _, file := range []string{"tsconfig.base.json", "jsconfig.json"} {
			r := monorepo.ReadPackageGraph(fstest.MapFS{
				file: {Data: []byte(c.config)}, "app/package.json": {Data: []byte("{}")}, "app/x.ts": {Data: []byte("import x from '" + c.imports + "'\n")}, "libs/ui/package.json": {Data: []byte("{}")}, "libs/kit/package.json": {Data: []byte("{}")},
			})
			app, _ := r.PackageOf("app")
			got := strings.Join(app.Needs, " ")
			if app.Wide != "" {
				got = "?"
			}
			if got != c.want {
				t.Errorf("%s, %s: needs %q, want %q (%s)", name, file, got, c.want, app.Wide)
			}
		}
	}
}

// TestLinks follows links between packages.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a/package.json": "{}", "a/x.js": "", "b/package.json": "{}"} {
		if err := os.MkdirAll(path.Join(dir, path.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../a/x.js", path.Join(dir, "b", "x.js")); err != nil {
		t.Fatal(err)
	}
	want := []string{"a a node:", "b b node: a"}
	if d := cmp.Diff(want, draw(monorepo.ReadPackageGraph(os.DirFS(dir)))); d != "" {
		t.Error(d)
	}
}

// chain is a repository in which c needs b, and b needs a; d needs nothing, and e
// reaches for what nobody can tell.
func chain() fstest.MapFS {
	return tree(
		`package.json={"name":"top","workspaces":["p/*"]}`, "package-lock.json={}", "src/main.js=", "jest.config.js=",
		`p/a/package.json={"name":"a"}`, "p/a/x.js=", `p/b/package.json={"name":"b","dependencies":{"a":"*"}}`, "p/b/x.js=",
		`p/c/package.json={"name":"c","dependencies":{"b":"*"}}`, "p/c/x.js=", `p/d/package.json={"name":"d"}`, "p/d/x.js=",
		`p/e/package.json={"name":"e"}`, "p/e/x.js=require(name)", "py/pyproject.toml=[project]\nname = 'py'\n", "py/test_x.py=open('../docs/data.md')\n", "docs/data.md=x", "README.md=x", "data.txt=",
	)
}

// TestEffect says which packages a change may break, and all where that is not known.
func TestEffect(t *testing.T) {
	r := monorepo.ReadPackageGraph(chain())
	dirs := []string{"", "p/a", "p/b", "p/c", "p/d", "p/e", "py", "gone", "p/a/deeper", "p"}
	for changed, want := range map[string]string{
		"p/a/x.js":           "p/a:0 p/b:1 p/c:2 p/e:1",
		"p/b/x.js":           "p/b:0 p/c:1 p/e:1",
		"p/d/new.js":         "p/d:0 p/e:1",
		"p/d/README.md":      "p/d:0",
		"p/d/x.js p/c/x.js":  "p/c:0 p/d:0 p/e:1",
		"py/x.py":            "p/e:1 py:0",
		"src/main.js":        "p/a:1 p/b:1 p/c:1 p/d:1 p/e:1", // code of the root: not py, which is another language
		"docs/data.md":       "py:1",
		"README.md":          "all: no package is known to be affected",
		"GONE.md":            "all: GONE.md belongs to no package", // what read it does not name it any more, or fails
		"data.txt":           "all: data.txt belongs to no package",
		"jest.config.js":     "all: jest.config.js belongs to no package",
		"p/d/package.json":   "all: p/d/package.json is a manifest",
		"p/d/yarn.lock":      "all: p/d/yarn.lock is a lock file",
		"package-lock.json":  "all: package-lock.json is a lock file",
		".gitmodules":        "all: .gitmodules belongs to no package",
		"":                   "all: no package is known to be affected",
		"p/d/x.js other.txt": "all: other.txt belongs to no package",
	} {
		e := r.AffectedBy(strings.Fields(changed))
		got := "all: " + e.All
		if e.All == "" {
			var hit []string
			for _, dir := range dirs {
				if dir != "" && dir != "gone" && dir != "p" && dir != "p/a/deeper" && e.UnaffectedReason(dir) == "" {
					hit = append(hit, dir+":"+string(rune('0'+e.StepsFromChange(dir))))
				}
			}
			slices.Sort(hit)
			got = strings.Join(hit, " ")
		}
		if got != want {
			t.Errorf("%s: %s, want %s", changed, got, want)
		}
		for _, dir := range []string{"", ".", "gone", "p"} {
			if why := e.UnaffectedReason(dir); why != "" && dir != "gone" && (dir != "p" || !strings.HasPrefix(changed, "py")) {
				t.Errorf("%s: what judges %q is left out: %s", changed, dir, why)
			}
		}
	}
	if why := r.AffectedBy([]string{"p/d/x.js"}).UnaffectedReason("p/a"); why != "package a (p/a) does not need what changed: p/d" {
		t.Errorf("it says %q", why)
	}
	if why := (monorepo.AffectedPackages{}).UnaffectedReason("p/a"); why != "" {
		t.Errorf("the zero Effect leaves something out: %s", why)
	}
}

// TestFeeds says which packages those that a change may break need: what they build
// must be there.
func TestFeeds(t *testing.T) {
	pkg := func(name, needs string) string {
		return name + `/package.json={"name":"` + name + `","dependencies":{` + needs + `}}`
	}
	files := []string{
		`package.json={"name":"top","devDependencies":{"tool":"*"}}`, pkg("a", ""), pkg("b", `"a":"*"`), pkg("c", `"b":"*"`), pkg("d", `"c":"*","other":"*"`), pkg("other", ""), pkg("tool", ""), pkg("lone", ""),
	}
	dirs := strings.Fields("a b c d other tool lone")
	for name, c := range map[string]struct {
		more, changed, want string
	}{
		"all that is needed, of what may break, too": {"", "c/x.js", "a b c d other tool"},
		"nothing needed but by the root":             {"", "lone/x.js", "tool lone"},
		"the last":                                   {"", "d/x.js", "a b c d other tool"},
		"what may need any":                          {"lone/x.js=require(name)", "a/x.js", "a b c d other tool lone"},
	} {
		e := monorepo.ReadPackageGraph(tree(append(slices.Clone(files), strings.Fields(c.more)...)...)).AffectedBy([]string{c.changed})
		if got := strings.Join(slices.DeleteFunc(slices.Clone(dirs), func(dir string) bool { return !e.IsDependencyOfAffected(dir) }), " "); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	if !(monorepo.AffectedPackages{}).IsDependencyOfAffected("a") {
		t.Error("the zero Effect knows that a is of no use")
	}
}

// TestProblems tells people what is wrong.
func TestProblems(t *testing.T) {
	r := monorepo.ReadPackageGraph(tree(
		`package.json={"workspaces":["p/*","tools/lost"]}`, `p/a/package.json={"name":"same","dependencies":{"c":"*"}}`, `p/b/package.json={"name":"same"}`,
		`p/c/package.json={"name":"c","dependencies":{"d":"*"}}`, `p/d/package.json={"name":"d","dependencies":{"c":"*"}}`, "go.work=go 1.22\nuse ./x\n", "y/go.mod=module y\n",
		"Cargo.toml=[workspace]\nmembers = ['r']\n", "s/Cargo.toml=[package]\nname = 's'\n",
	))
	var got []string
	for _, p := range r.Problems {
		if p.Hint == "" {
			t.Errorf("%s: no hint", p.Text)
		}
		got = append(got, p.Text)
	}
	want := []string{
		"the go workspace of . names x, which is no package",
		"the node workspace of . names tools/lost, which is no package",
		"the rust workspace of . names r, which is no package",
		"2 packages of node are called same: p/a, p/b",
		"packages need each other in a circle: p/c -> p/d -> p/c",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for name, want := range map[string]string{"same": "2 packages are called \"same\": p/a, p/b; name the directory", "nothing": "no package is called \"nothing\"; there are"} {
		if _, err := r.FindPackage(name); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var none *monorepo.PackageGraph
	if _, err := none.FindPackage("a"); err == nil || err.Error() != `no package is called "a"; the repository has no packages` {
		t.Error("where nothing was read:", err)
	}
	if p, err := r.FindPackage("p/a/"); err != nil || p.Dir != "p/a" {
		t.Errorf("by directory: %v, %v", p.Dir, err)
	}
}

// FuzzRead reads any manifests and sources: it ends, a package never needs itself,
// needs and dependents are the same pairs, and a change in a package concerns it.
func FuzzRead(f *testing.F) {
	f.Add(`{"name":"a","workspaces":["*","../.."]}`, "import '../b/x'", "module x\n\nrequire a v1\n")
	f.Add(`{"dependencies":{"":1}}`, "../../../.. cd .. `@a/$", "use (")
	f.Add(`{"compilerOptions":{"baseUrl":"a","paths":{"a/*":["b/*/c",],"*":["*"]}},/* \" */}`, "import 'a/x'", "// \"")
	f.Add("[", "Path(__file__).parents[99999999999]", "\x00")
	f.Fuzz(func(t *testing.T, manifest, source, other string) {
		r := monorepo.ReadPackageGraph(tree("package.json="+manifest, "tsconfig.json="+manifest, "a/package.json="+manifest, "a/x.js="+source, "b/go.mod="+other, "b/x.go="+source, "c/pyproject.toml="+other, "c/x.py="+source, "d/Cargo.toml="+manifest))
		for _, p := range r.Packages {
			if slices.Contains(p.Needs, p.Dir) {
				t.Errorf("%s needs itself", p.Dir)
			}
			for _, dir := range p.Needs {
				if q, ok := r.PackageOf(dir); !ok || !slices.Contains(q.Users, p.Dir) {
					t.Errorf("%s needs %s, which does not say so", p.Dir, dir)
				}
			}
			if e := r.AffectedBy([]string{path.Join(p.Dir, "y.js")}); e.UnaffectedReason(p.Dir) != "" {
				t.Errorf("a change of %s leaves it out", p.Dir)
			}
		}
	})
}
