package testselection_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/testselection"
)

func tree(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		name, text, _ := strings.Cut(f, "=")
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// goTree is a module in which c needs b and b needs a, the tests of d need b,
// and e needs nothing; g is a module of its own.
func goTree() []string {
	return []string{
		"go.mod=module m\n", "a/a.go=package a\n", "a/a_test.go=package a\n", "a/a.s=", "a/x/words.txt=",
		"b/b.go=package b\n\nimport _ \"m/a\"\n\n//go:embed roles data/*.json\nvar x int\n", "b/roles/coder.md=", "b/data/x.json=", "b/data/x.bin=",
		"c/c.go=//go:build odd\n\npackage c\n\nimport _ \"m/b\"\n", "c/c_test.go=package c\n", "c/testdata/in.txt=",
		"d/d.go=package d\n", "d/d_test.go=package d_test\n\nimport _ \"m/b\"\n",
		"build/e.go=package build\n\nimport _ \"m/c\"\n", "build/e_test.go=package build\n", "f/f.go=package f\n", "f/f_test.go=package f\n",
		"g/go.mod=module m/g\n", "g/g.go=package g\n", "g/g_test.go=package g\n", "g/h/h.go=package h\n", "g/h/h_test.go=package h\n\nimport _ \"m/g\"\n", "g/i/i_test.go=package i\n",
		"web/app.ts=",
	}
}

func python() []string {
	return []string{
		"pyproject.toml=[tool.pytest.ini_options]\n", "src/app/__init__.py=", "src/app/core.py=X = 1\n", "src/app/api.py=from .core import X\n", "src/app/odd.py=import importlib\nimportlib.import_module(name)\n",
		"src/app/alone.py=", "tests/test_core.py=from app.core import X\n", "tests/test_api.py=from app import (\n    api,\n)\n", "tests/test_alone.py=import app.alone as a, os\n", "tests/test_odd.py=from app import odd\n",
		"tests/sub/conftest.py=from app import alone\n", "tests/sub/test_sub.py=", "tests/data.json=", "README.md=", "conftest.py=",
	}
}

func node(manifest string) []string {
	return []string{
		"package.json=" + manifest, "lib/a.js=", "lib/b.js=const a = require('./a')\n", "lib/c.mjs=import {x} from \"./b.js\"\nimport 'left-pad'\n", "lib/odd.js=require(name)\n", "lib/alias.js=import x from '@/lib/a'\n",
		"a.test.js=require('./lib/a')\n", "c.test.mjs=import './lib/c.mjs'\n", "d.test.js=import('./lib/odd')\n", "e.test.js=", "f.test.js=import x from './lib/alias.js'\n", "style.css=", "docs/x.md=",
	}
}

func rust() []string {
	return []string{
		"Cargo.toml=[workspace]\nmembers = [\"a\", \"b\", \"c\"]\n", "a/Cargo.toml=[package]\nname = \"alpha\"\n", "a/src/lib.rs=",
		"b/Cargo.toml=[package]\nversion = \"1\"\nname = \"beta\"\n[dependencies]\nalpha = { path = \"../a\" }\n", "b/src/lib.rs=",
		"c/Cargo.toml=[package]\nname = \"gamma\"\n[dependencies.beta]\npath = \"../b\"\n", "c/src/lib.rs=", "d/Cargo.toml=[package]\nname = \"delta\"\n", "d/src/lib.rs=",
	}
}

const surefire = "mvn -B -o -ntp -fae test -Dsurefire.failIfNoSpecifiedTests=false -Dtest="

// jvm is a build of three modules and one that is not part of it, in which Web needs
// Core through Api, and Util of Kotlin is a file of functions.
func jvm(more ...string) []string {
	const at = "src/main/java/org/x/"
	return append([]string{
		"pom.xml=<modules><module>core</module><!--<module>old</module>--><module>web</module></modules><profiles><profile><modules><module>odd</module></modules></profile></profiles>", "core/pom.xml=", "web/pom.xml=", "odd/pom.xml=", "old/pom.xml=",
		"core/" + at + "Core.java=package org.x;\npublic class Core {}\n", "core/src/test/java/org/x/CoreTest.java=package org.x;\nclass CoreTest { @Nested class In {} }\n",
		"core/" + at + "Alone.java=package org.x;\nclass Alone {}\nclass Second {}", "core/src/test/java/org/x/TestAlone.java=package org.x;\nclass TestAlone {}", "core/src/test/java/org/x/OtherTests.java=package org.x;\nclass OtherTests { Second s; }",
		"web/src/main/java/org/y/Api.java=package org.y;\nimport org.x.Core;\npublic interface Api { Core core(); }\n", "web/src/test/java/org/y/WebTest.java=package org.y;\nclass WebTest { Api api; }", "web/src/test/java/org/y/CoreTestCase.java=package org.y;\n// no Core of org.z\nclass CoreTestCase {}",
		"web/src/main/kotlin/Util.kt=package org.u\n\nfun twice() = 2\n", "web/src/test/kotlin/UtilTest.kt=package org.u\nclass UtilTest\n", "web/src/test/kotlin/FarTest.kt=package org.v\nimport org.u.twice\nclass FarTest\n",
		"odd/src/test/java/OddTest.java=class OddTest {}", "core/src/test/java/org/x/BootTest.java=package org.x;\n@SpringBootTest class BootTest {}", "core/src/test/resources/a.txt=", "core/src/test/java/org/x/SlowIT.java=package org.x;\nclass SlowIT { Core c; }",
	}, more...)
}

// TestChoose tells for each stack which tests a change concerns.
func TestChoose(t *testing.T) {
	for name, tt := range map[string]struct {
		files   []string
		changed string
		want    map[string]string // command by gate, or why not
	}{
		"nothing":                  {goTree(), "", map[string]string{"test": "all: nothing changed", "test-g": "all: nothing changed"}},
		"code and who needs it":    {goTree(), "a/a.go", map[string]string{"test": "go test -json -count=1 m/a m/build m/c m/d", "test-g": "none"}},
		"a test alone":             {goTree(), "d/d_test.go", map[string]string{"test": "go test -json -count=1 m/d", "test-g": "none"}},
		"code under a tag":         {goTree(), "c/c.go", map[string]string{"test": "go test -json -count=1 m/build m/c", "test-g": "none"}},
		"test data":                {goTree(), "c/testdata/in.txt", map[string]string{"test": "go test -json -count=1 m/c", "test-g": "none"}},
		"an embedded directory":    {goTree(), "b/roles/coder.md", map[string]string{"test": "go test -json -count=1 m/build m/c m/d", "test-g": "none"}},
		"an embedded pattern":      {goTree(), "b/data/x.json", map[string]string{"test": "go test -json -count=1 m/build m/c m/d", "test-g": "none"}},
		"not that pattern":         {goTree(), "b/data/x.bin", map[string]string{"test": "all: it is unknown which tests b/data/x.bin affects", "test-g": "all: it is unknown which tests b/data/x.bin affects"}},
		"assembly":                 {goTree(), "a/a.s", map[string]string{"test": "go test -json -count=1 m/a m/build m/c m/d", "test-g": "none"}},
		"a file of no known use":   {goTree(), "a/a.go a/x/words.txt", map[string]string{"test": "all: it is unknown which tests a/x/words.txt affects", "test-g": "all: it is unknown which tests a/x/words.txt affects"}},
		"the module":               {goTree(), "go.mod", map[string]string{"test": "all: it is unknown which tests go.mod affects", "test-g": "all: it is unknown which tests go.mod affects"}},
		"vendored":                 {goTree(), "vendor/x/x.go", map[string]string{"test": "all: vendor/x/x.go belongs to another module", "test-g": "all: vendor/x/x.go belongs to another module"}},
		"another module":           {goTree(), "g/g.go", map[string]string{"test": "none", "test-g": "go test -json -count=1 m/g m/g/h"}},
		"a deleted package":        {goTree(), "b/old.go gone/x.go", map[string]string{"test": "go test -json -count=1 m/build m/c m/d", "test-g": "none"}},
		"words":                    {goTree(), "README.md .github/x.yml", map[string]string{"test": "none", "test-g": "none"}},
		"another stack":            {goTree(), "web/app.ts f/f.go", map[string]string{"test": "go test -json -count=1 m/f", "test-g": "none"}},
		"all":                      {goTree(), "a/a.go f/f.go", map[string]string{"test": "all: the change affects all 5 packages with tests", "test-g": "none"}},
		"python":                   {python(), "src/app/core.py", map[string]string{"test": "pytest -p no:cacheprovider tests/test_api.py tests/test_core.py tests/test_odd.py"}},
		"python, a test":           {python(), "tests/test_alone.py", map[string]string{"test": "pytest -p no:cacheprovider tests/test_alone.py tests/test_odd.py"}},
		"python, conftest":         {python(), "src/app/alone.py", map[string]string{"test": "pytest -p no:cacheprovider tests/sub/test_sub.py tests/test_alone.py tests/test_odd.py"}},
		"python, conftest of all":  {python(), "conftest.py", map[string]string{"test": "all: the change affects all 5 test files"}},
		"python, data":             {python(), "tests/data.json", map[string]string{"test": "all: tests/data.json is not a source file"}},
		"python, gone":             {python(), "src/app/gone.py", map[string]string{"test": "all: src/app/gone.py is gone"}},
		"python, a test is gone":   {python(), "tests/test_gone.py", map[string]string{"test": "none"}},
		"python, words":            {python(), "README.md", map[string]string{"test": "none"}},
		"unittest":                 {[]string{"setup.py=", "a.py=", "b.py=", "tests/__init__.py=", "tests/test_a.py=import a\n", "tests/test_b.py=import b\n"}, "a.py", map[string]string{"test": "python3 -m unittest -v tests/test_a.py"}},
		"node:test":                {node(`{}`), "lib/a.js", map[string]string{"test": "node --test --test-reporter=tap a.test.js c.test.mjs d.test.js f.test.js"}},
		"node:test by its script":  {node(`{"scripts":{"test":"node --test"}}`), "lib/c.mjs", map[string]string{"test": "node --test --test-reporter=tap c.test.mjs d.test.js f.test.js"}},
		"a script with more to it": {node(`{"scripts":{"test":"node --test lib && echo done"}}`), "lib/c.mjs", map[string]string{"test": "all: its command cannot run single tests"}},
		"mocha":                    {node(`{"devDependencies":{"mocha":"11"}}`), "e.test.js", map[string]string{"test": "npx --no-install mocha d.test.js e.test.js f.test.js"}},
		"jest":                     {node(`{"scripts":{"test":"jest --ci"}}`), "lib/a.js docs/x.md", map[string]string{"test": "npm run --silent test -- --findRelatedTests lib/a.js"}},
		"vitest":                   {node(`{"devDependencies":{"vitest":"4"}}`), "lib/a.js", map[string]string{"test": "npx --no-install vitest related --run --reporter=default lib/a.js"}},
		"vitest, a style":          {node(`{"devDependencies":{"vitest":"4"}}`), "style.css", map[string]string{"test": "all: style.css is not a module that its tests import"}},
		"vitest, gone":             {node(`{"devDependencies":{"vitest":"4"}}`), "lib/gone.js", map[string]string{"test": "all: lib/gone.js is gone"}},
		"a package of a monorepo":  {[]string{"go.mod=module m\n", "m.go=package m\n", "m_test.go=package m\n", `web/package.json={"scripts":{"test":"jest"}}`, "web/a.js="}, "web/a.js", map[string]string{"test": "none", "test-web": "npm run --silent test -- --findRelatedTests a.js"}},
		"crates":                   {rust(), "a/src/lib.rs", map[string]string{"test": "cargo test --offline --no-fail-fast -p alpha -p beta -p gamma"}},
		"crates, by name":          {append(rust(), "e/Cargo.toml=[package]\nname = \"aleph\"\n[dependencies]\ngamma = { path = \"../c\" }\n", "e/src/lib.rs="), "c/src/lib.rs", map[string]string{"test": "cargo test --offline --no-fail-fast -p aleph -p gamma"}},
		"crates, the last":         {rust(), "c/src/lib.rs README.md", map[string]string{"test": "cargo test --offline --no-fail-fast -p gamma"}},
		"crates, a manifest":       {rust(), "c/Cargo.toml", map[string]string{"test": "all: c/Cargo.toml is not a source file of a package"}},
		"crates, all":              {rust(), "a/src/lib.rs d/src/lib.rs", map[string]string{"test": "all: the change affects all 4 packages"}},
		"maven":                    {jvm(), "core/src/main/java/org/x/Core.java", map[string]string{"test": strings.Replace(surefire, "-Dtest=", "'-Dtest=", 1) + "BootTest,CoreTest,CoreTest$*,WebTest' -pl core,web -am", "test-odd": "none", "test-old": "none"}},
		"maven, types of a file":   {jvm(), "core/src/main/java/org/x/Alone.java", map[string]string{"test": surefire + "BootTest,OtherTests,TestAlone -pl core -am", "test-odd": "none", "test-old": "none"}},
		"maven, functions":         {jvm(), "web/src/main/kotlin/Util.kt", map[string]string{"test": surefire + "BootTest,FarTest,UtilTest -pl core,web -am", "test-odd": "none", "test-old": "none"}},
		"maven, a test":            {jvm(), "web/src/test/java/org/y/CoreTestCase.java", map[string]string{"test": surefire + "BootTest,CoreTestCase -pl core,web -am", "test-odd": "none", "test-old": "none"}},
		"maven, no module":         {jvm(), "odd/src/test/java/OddTest.java", map[string]string{"test": surefire + "BootTest,OddTest", "test-odd": "all: the change affects all 1 test files", "test-old": "none"}},
		"gradle": {
			[]string{"build.gradle=", "a/src/main/java/org/x/A.java=package org.x;\nclass A {}", "a/src/test/groovy/org/x/ATest.groovy=package org.x\nclass ATest { def a = new A() }", "a/src/test/java/BTest.java=import org.x.A;\nclass BTest {}", "a/src/test/java/CTest.java=class CTest {}"},
			"a/src/main/java/org/x/A.java",
			map[string]string{"test": "--tests=BTest --tests=org.x.ATest"},
		},
		"maven, data":      {jvm(), "core/src/test/resources/a.txt", map[string]string{"test": "all: core/src/test/resources/a.txt is not a source file", "test-odd": "none", "test-old": "none"}},
		"maven, the build": {jvm(), "web/pom.xml", map[string]string{"test": "all: web/pom.xml is not a source file", "test-odd": "none", "test-old": "none"}},
		"maven, gone":      {jvm(), "core/src/main/java/org/x/Gone.java", map[string]string{"test": "all: core/src/main/java/org/x/Gone.java is gone", "test-odd": "all: core/src/main/java/org/x/Gone.java is gone", "test-old": "all: core/src/main/java/org/x/Gone.java is gone"}},
		"maven, rules of its own": {
			jvm("web/pom.xml=<plugin><artifactId>maven-surefire-plugin</artifactId><configuration><excludes><exclude>x</exclude></excludes></configuration></plugin>"), "core/src/main/java/org/x/Core.java",
			map[string]string{"test": "all: web/pom.xml selects test classes itself", "test-odd": "all: web/pom.xml selects test classes itself", "test-old": "all: web/pom.xml selects test classes itself"},
		},
		"maven, other rules": {
			jvm("web/pom.xml=<plugin><artifactId>maven-surefire-plugin</artifactId></plugin><plugin><artifactId>x</artifactId><excludes/></plugin>"), "core/src/main/java/org/x/Alone.java",
			map[string]string{"test": surefire + "BootTest,OtherTests,TestAlone -pl core -am", "test-odd": "none", "test-old": "none"},
		},
		"a runner that cannot":       {[]string{"Gemfile=", "spec/a_spec.rb="}, "spec/a_spec.rb", map[string]string{"test": "all: its command cannot run single tests"}},
		"a name that is an option":   {node(`{"devDependencies":{"vitest":"4"}}`), "-x.js", map[string]string{"test": "all: -x.js is gone"}},
		"a command that picks tests": {append(goTree(), "nexus.toml="), "a/a.go", nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := tree(t, tt.files...)
			gates := gatesOf(t, dir)
			if tt.want == nil {
				gates = []gate.QualityGate{{Name: "test", Args: []string{"go", "test", "-json", "-run=X", "./..."}, Format: "go-test-json", Tests: true}}
				tt.want = map[string]string{"test": "all: its command selects tests itself"}
			}
			got := map[string]string{}
			for _, c := range testselection.ChooseRelatedTests(dir, strings.Fields(tt.changed), gates) {
				switch {
				case c.None:
					got[c.Of.Name] = "none"
				case !c.Some:
					got[c.Of.Name] = "all: " + c.Why
				default:
					got[c.Of.Name] = c.Gate.Command()
					if name == "gradle" { // a script comes first
						_, got[c.Of.Name], _ = strings.Cut(got[c.Of.Name], " cleanTest test --continue ")
					}
					if c.Gate.Of != c.Of.Name || c.Gate.Name != "related"+strings.TrimPrefix(c.Of.Name, "test") || !c.Gate.Tests || c.Gate.Dir != c.Of.Dir {
						t.Errorf("%+v", c.Gate)
					}
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("\nhave %v\nwant %v", got, tt.want)
			}
		})
	}
}

func gatesOf(t *testing.T, dir string) []gate.QualityGate {
	t.Helper()
	gates, err := detect.DetectGates(dir, config.GateSettings{})
	if err != nil {
		t.Fatal(err)
	}
	return gates
}

// TestBefore puts some before all, after everything that runs no tests.
func TestBefore(t *testing.T) {
	dir := tree(t, goTree()...)
	gates := gatesOf(t, dir)
	var names []string
	for _, g := range testselection.InsertRelatedGates(gates, testselection.ChooseRelatedTests(dir, []string{"d/d.go", "g/g.go"}, gates)) {
		names = append(names, g.Name)
	}
	if got := strings.Join(names, " "); got != "build build-g lint lint-g related related-g test test-g" {
		t.Error(got)
	}
	if len(testselection.InsertRelatedGates(gates, testselection.ChooseRelatedTests(dir, nil, gates))) != len(gates) {
		t.Error("gates for no change")
	}
}

// TestGoListAgrees holds the choice against the go command's own word, on
// this module: nothing that depends on a package is left out.
func TestGoListAgrees(t *testing.T) {
	root, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "list", "-test", "-deps", "-json=ImportPath,ForTest,Imports,Standard,Dir", "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	type listed struct {
		ImportPath, ForTest, Dir string
		Imports                  []string
		Standard                 bool
	}
	all := map[string]listed{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if !p.Standard {
			all[p.ImportPath] = p
		}
	}
	const module = "github.com/nexus-ai-builder/nexus/"
	for _, pkg := range []string{"internal/sys/portslot", "internal/stack", "internal/work/gate/detect", "internal/sys/git"} {
		needs := map[string]bool{}
		var reaches func(name string) bool
		reaches = func(name string) bool {
			if done, ok := needs[name]; ok {
				return done
			}
			plain, _, _ := strings.Cut(name, " ")
			needs[name] = plain == module+pkg
			for _, i := range all[name].Imports {
				needs[name] = reaches(i) || needs[name]
			}
			return needs[name]
		}
		var want []string
		for name, p := range all {
			if under := strings.TrimSuffix(name, ".test"); under != name && strings.HasPrefix(p.ImportPath, module) && reaches(name) {
				want = append(want, under)
			}
		}
		g := gate.QualityGate{Name: "test", Args: []string{"go", "test", "-json", "./..."}, Format: "go-test-json", Tests: true}
		c := testselection.ChooseRelatedTests(root, []string{path.Join(pkg, "new.go")}, []gate.QualityGate{g})[0]
		for _, name := range want {
			if !slices.Contains(c.Tests, name) {
				t.Errorf("%s: %s is missing", pkg, name)
			}
		}
		if len(want) == 0 || len(c.Tests) > len(want)+len(want)/10+2 {
			t.Errorf("%s: %d packages, the go command knows %d: %s", pkg, len(c.Tests), len(want), c.Why)
		}
	}
}

// FuzzChoose reads whatever a tree holds, and never names a file to a runner
// that is not there.
func FuzzChoose(f *testing.F) {
	f.Add("lib/a.js", "import './b'\n", "a.test.js", "require(\"./lib/a\")")
	f.Add("a.py", "from . import (x,\ny)\n", "test_a.py", "import a.b, c as d\nfrom ..a import *")
	f.Add("a/a.go", "package a\nimport \"m/b\"\n//go:embed all:x [\n", "a/a_test.go", "package a")
	f.Add("Cargo.toml", "[package]\nname = \"-x\"\n", "src/lib.rs", "")
	f.Fuzz(func(t *testing.T, name, text, test, code string) {
		dir := t.TempDir()
		for file, text := range map[string]string{"go.mod": "module m\n", "package.json": "{}", "x.test.mjs": "", "pytest.ini": "", name: text, test: code} {
			if !filepath.IsLocal(file) || strings.ContainsAny(file, "\x00\\") {
				t.Skip()
			}
			at := filepath.Join(dir, file)
			if errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644)) != nil {
				t.Skip()
			}
		}
		gates, err := detect.DetectGates(dir, config.GateSettings{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range testselection.ChooseRelatedTests(dir, []string{name, test}, gates) {
			for _, word := range c.Tests {
				if strings.HasPrefix(word, "-") {
					t.Errorf("%s is handed %q", c.Of.Name, word)
				}
				if _, err := os.Lstat(filepath.Join(dir, c.Of.Dir, word)); c.Some && c.Of.Related.By != "" && c.Of.Related.By != "rust" && err != nil {
					t.Errorf("%s is handed %q, which is not there", c.Of.Name, word)
				}
			}
		}
	})
}
