package tamper_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/tamper"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

const (
	goTest = "package m\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Error(\"no\")\n\t}\n}\n\nfunc TestSub(t *testing.T) {\n\tif Sub(3, 2) != 1 {\n\t\tt.Error(\"no\")\n\t}\n}\n"
	jsTest = "import { add } from './add.js'\n\ntest('adds', () => {\n  expect(add(1, 2)).toBe(3)\n})\n\ntest('adds none', () => {\n  expect(add()).toEqual(0)\n})\n"
	pyTest = "from add import add\n\n\ndef test_adds():\n    assert add(1, 2) == 3\n\n\ndef test_none():\n    assert add() == 0\n"
	rsTest = "use add::add;\n\n#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n\n#[test]\nfn none() {\n    assert_eq!(add(0, 0), 0);\n}\n"
	jvTest = "class AddTest {\n  @Test\n  void adds() {\n    assertEquals(3, Add.add(1, 2));\n  }\n\n  @Test\n  void none() {\n    assertEquals(0, Add.add(0, 0));\n  }\n}\n"
	rbTest = "describe 'add' do\n  it 'adds' do\n    expect(add(1, 2)).to eq 3\n  end\n  it 'adds none' do\n    expect(add(0, 0)).to eq 0\n  end\nend\n"
	phTest = "<?php\nclass AddTest extends TestCase {\n  public function testAdds() {\n    $this->assertSame(3, add(1, 2));\n  }\n  public function testNone() {\n    $this->assertSame(0, add(0, 0));\n  }\n}\n"
	shTest = "@test \"adds\" {\n  run add 1 2\n  [ \"$output\" = 3 ]\n}\n\n@test \"none\" {\n  run add\n  [ \"$output\" = 0 ]\n}\n"
	cpTest = "TEST(Add, Adds) {\n  EXPECT_EQ(3, add(1, 2));\n}\n\nTEST(Add, None) {\n  EXPECT_EQ(0, add(0, 0));\n}\n"
	pkg    = `{"name":"m","scripts":{"test":"vitest run","lint":"eslint .","start":"node ."},"jest":{"bail":true}}`
	gates  = "[gates]\ntest = \"go test ./...\"\nlint = \"golangci-lint run\"\n"
	ci     = "jobs:\n  test:\n    steps:\n      - run: npm ci\n      - run: npm test\n"
	mk     = "build:\n\tgo build ./...\n\ntest:\n\tgo test ./...\n"
	gradle = "apply plugin: 'java'\n\ntest {\n  maxHeapSize = '1g'\n}\n\ndependencies {\n}\n"
	ini    = "[pytest]\naddopts = -ra --strict-markers\ntestpaths = tests\n"
	run    = "#!/bin/sh\nset -e\ngo vet ./...\ngo test ./...\n"
)

// change makes one file other than it was: each odd word is replaced by the
// one after it. A lone word is what the file is now; none, and it is gone.
func change(file, old string, words ...string) tamper.ChangedFileVersions {
	f := tamper.ChangedFileVersions{Path: file, Old: &old}
	switch len(words) {
	case 0:
	case 1:
		f.New = &words[0]
	default:
		now := strings.NewReplacer(words...).Replace(old)
		if now == old {
			panic("nothing was replaced in " + file)
		}
		f.New = &now
	}
	return f
}

func added(file, text string) tamper.ChangedFileVersions {
	return tamper.ChangedFileVersions{Path: file, New: &text}
}

type lie struct {
	files []tamper.ChangedFileVersions
	want  string // class of one of the findings
}

func one(f tamper.ChangedFileVersions, want string) lie {
	return lie{[]tamper.ChangedFileVersions{f}, want}
}

// lies are changes that make a tree look done.
func lies() map[string]lie {
	cut := func(text, from string) string { return text[:strings.Index(text, from)] }
	return map[string]lie{
		"go: a test is gone":                  one(change("m_test.go", goTest, cut(goTest, "func TestSub")), tamper.Deleted),
		"go: the file is gone":                one(change("m_test.go", goTest), tamper.Deleted),
		"go: renamed so that it does not run": one(change("m_test.go", goTest, "func TestSub", "func testSub"), tamper.Deleted),
		"go: a subtest is gone":               one(change("m_test.go", "func TestA(t *testing.T) {\n\tt.Run(\"one\", f)\n\tt.Run(\"two\", f)\n}\n", "func TestA(t *testing.T) {\n\tt.Run(\"one\", f)\n}\n"), tamper.Deleted),
		"go: skipped":                         one(change("m_test.go", goTest, "func TestSub(t *testing.T) {\n", "func TestSub(t *testing.T) {\n\tt.Skip(\"later\")\n"), tamper.Skipped),
		"go: never built":                     one(change("m_test.go", goTest, "package m\n", "//go:build never\n\npackage m\n"), tamper.Skipped),
		"go: an assertion is gone":            one(change("m_test.go", goTest, "\tif Sub(3, 2) != 1 {\n\t\tt.Error(\"no\")\n\t}\n", "\tSub(3, 2)\n"), tamper.Loosened),
		"go: leaves in TestMain":              one(change("m_test.go", goTest, "func TestSub", "func TestMain(m *testing.M) { m.Run(); os.Exit(0) }\n\nfunc TestSub"), tamper.Swallowed),
		"go: moved, and one less":             {[]tamper.ChangedFileVersions{change("m_test.go", goTest), added("n_test.go", cut(goTest, "func TestSub"))}, tamper.Deleted},
		"js: a test is gone":                  one(change("add.test.js", jsTest, cut(jsTest, "test('adds none'")), tamper.Deleted),
		"js: the file is gone":                one(change("src/__tests__/add.js", jsTest), tamper.Deleted),
		"js: skipped":                         one(change("add.test.js", jsTest, "test('adds none'", "test.skip('adds none'"), tamper.Skipped),
		"js: todo":                            one(change("add.test.js", jsTest, "test('adds none'", "test.todo('adds none'"), tamper.Skipped),
		"js: xit":                             one(change("add.test.js", jsTest, "test('adds none'", "xtest('adds none'"), tamper.Skipped),
		"js: one alone":                       one(change("add.test.js", jsTest, "test('adds'", "test.only('adds'"), tamper.Skipped),
		"js: one alone in a new file":         one(added("new.test.ts", "it.only('x', () => { expect(1).toBe(1) })\n"), tamper.Skipped),
		"js: looks less closely":              one(change("add.test.js", jsTest, "toBe(3)", "toBeTruthy()"), tamper.Loosened),
		"js: defined is enough":               one(change("add.test.js", jsTest, "toEqual(0)", "toBeDefined()"), tamper.Loosened),
		"js: another value":                   one(change("add.test.js", jsTest, "toBe(3)", "toBe(-1)"), tamper.Expectation),
		"js: leaves":                          one(change("add.test.js", jsTest, "test('adds'", "process.exit(0)\ntest('adds'"), tamper.Swallowed),
		"js: the subject is replaced":         {[]tamper.ChangedFileVersions{change("src/add.js", "a\n", "b\n"), change("add.test.js", jsTest, "test('adds'", "jest.mock('./add.js', () => ({ add: () => 3 }))\ntest('adds'")}, tamper.Mocked},
		"js: snapshots are new":               one(change("__snapshots__/a.test.js.snap", "exports[`a`] = `3`;\n", "exports[`a`] = `-1`;\n"), tamper.Snapshot),
		"js: another test command":            one(change("package.json", pkg, "vitest run", "vitest run --exclude add.test.js"), tamper.Command),
		"js: no test command":                 one(change("package.json", pkg, `"test":"vitest run",`, ""), tamper.Command),
		"js: a test command that passes":      one(change("package.json", pkg, "vitest run", "vitest run || true"), tamper.Command),
		"js: another lint command":            one(change("package.json", pkg, "eslint .", "echo ok"), tamper.Command),
		"js: jest is set up otherwise":        one(change("package.json", pkg, `"bail":true`, `"testPathIgnorePatterns":["add"]`), tamper.Command),
		"js: vitest runs less":                one(change("vitest.config.ts", "export default { test: { globals: true } }\n", "export default { test: { globals: true,\n exclude: ['add.test.ts'] } }\n"), tamper.Command),
		"js: type errors ignored":             one(change("add.ts", "add(1)\n", "// @ts-ignore\nadd(1)\n"), tamper.Suppressed),
		"php: psalm is told to look away":     one(change("a.php", "add(1);\n", "/** @psalm-suppress X */\nadd(1);\n"), tamper.Suppressed),
		"java: pmd is told to look away":      one(change("A.java", "add(1);\n", "add(1); // NOPMD\n"), tamper.Suppressed),
		"js: lint is told to look away":       one(change("add.ts", "add(1)\n", "/* eslint-disable */\nadd(1)\n"), tamper.Suppressed),
		"js: types are no longer strict":      one(change("tsconfig.json", "{\n  \"strict\": true\n}\n", "{\n  \"strict\": false\n}\n"), tamper.Command),
		"python: a test is gone":              one(change("test_add.py", pyTest, cut(pyTest, "def test_none")), tamper.Deleted),
		"python: renamed":                     one(change("tests/test_add.py", pyTest, "def test_none", "def check_none"), tamper.Deleted),
		"python: skipped":                     one(change("test_add.py", pyTest, "def test_none", "@pytest.mark.skip\ndef test_none"), tamper.Skipped),
		"python: expected to fail":            one(change("test_add.py", pyTest, "def test_none", "@pytest.mark.xfail\ndef test_none"), tamper.Skipped),
		"python: anything will do":            one(change("test_add.py", pyTest, "assert add() == 0", "assert add() is not None"), tamper.Loosened),
		"python: an assertion is gone":        one(change("test_add.py", pyTest, "assert add() == 0", "add()"), tamper.Loosened),
		"python: collected no more":           one(change("conftest.py", "import pytest\n", "import pytest\ncollect_ignore = ['test_add.py']\n"), tamper.Skipped),
		"python: leaves":                      one(change("conftest.py", "import pytest\n", "import pytest, os\nos._exit(0)\n"), tamper.Swallowed),
		"python: the subject is replaced":     {[]tamper.ChangedFileVersions{change("add.py", "a\n", "b\n"), change("test_add.py", pyTest, "def test_none():\n", "@patch('add.add')\ndef test_none():\n")}, tamper.Mocked},
		"python: other options":               one(change("pytest.ini", ini, "--strict-markers", "-k 'not none'"), tamper.Command),
		"python: another directory":           one(change("pytest.ini", ini, "testpaths = tests", "testpaths = empty"), tamper.Command),
		"python: no configuration":            one(change("pytest.ini", ini), tamper.Command),
		"python: lint is told to look away":   one(change("add.py", "import os\n", "import os  # noqa\n"), tamper.Suppressed),
		"rust: a test is gone":                one(change("tests/add.rs", rsTest, cut(rsTest, "#[test]\nfn none")), tamper.Deleted),
		"rust: ignored":                       one(change("tests/add.rs", rsTest, "#[test]\nfn none", "#[test]\n#[ignore]\nfn none"), tamper.Skipped),
		"rust: looks less closely":            one(change("tests/add.rs", rsTest, "assert_eq!(add(0, 0), 0);", "assert!(true);"), tamper.Loosened),
		"rust: lint is told to look away":     one(change("src/lib.rs", "fn a() {}\n", "#[allow(dead_code)]\nfn a() {}\n"), tamper.Suppressed),
		"java: a test is gone":                one(change("src/test/java/AddTest.java", jvTest, cut(jvTest, "  @Test\n  void none")+"}\n"), tamper.Deleted),
		"java: disabled":                      one(change("src/test/java/AddTest.java", jvTest, "  @Test\n  void none", "  @Disabled\n  @Test\n  void none"), tamper.Skipped),
		"java: another value":                 one(change("src/test/java/AddTest.java", jvTest, "assertEquals(3", "assertEquals(-1"), tamper.Expectation),
		"gradle: failures ignored":            one(change("build.gradle", gradle, "test {\n", "test {\n  setIgnoreFailures(!false)\n"), tamper.Command),
		"gradle: another task":                one(change("core/build.gradle", gradle, "test {", "task test(overwrite: true) {"), tamper.Command),
		"gradle: reports written by the way":  one(change("build.gradle.kts", gradle, "test {", "tasks.test {\n  doLast { copy { from(\"ok\") } }"), tamper.Command),
		"gradle: leaves":                      one(change("buildSrc/src/main/groovy/Check.groovy", "class Check {\n}\n", "{\n", "{\n  def ok = { Runtime.runtime.halt(0) }\n"), tamper.Command),
		"gradle: another script":              one(change("settings.gradle", "include 'core'\n", "include 'core'\n", "include 'core'\napply from: 'x'\n"), tamper.Command),
		"gradle: another wrapper":             one(change("gradlew", "#!/bin/sh\nexec java -jar x \"$@\"\n", "exec", "cp ok.xml build; exec"), tamper.Command),
		"gradle: one line less":               one(change("gradlew", "#!/bin/sh\nset -e\njava -jar x \"$@\"\n", "set -e\n", ""), tamper.Command),
		"gradle: another Gradle":              one(change("gradle/wrapper/gradle-wrapper.properties", "distributionUrl=a\n", "=a", "=b"), tamper.Command),
		"gradle: a wrapper in front":          one(added("gradlew", "#!/bin/sh\nexec java -jar x\n"), tamper.Command),
		"maven: failures ignored":             one(change("pom.xml", "<configuration>\n</configuration>\n", "<configuration>\n", "<configuration>\n<testFailureIgnore>true</testFailureIgnore>\n"), tamper.Command),
		"maven: another program":              one(change("pom.xml", "<plugins>\n</plugins>\n", "<plugins>\n", "<plugins>\n<plugin><artifactId>maven-antrun-plugin</artifactId></plugin>\n"), tamper.Command),
		"maven: another file":                 one(added(".mvn/maven.config", "--file\nother.xml\n"), tamper.Command),
		"maven: another wrapper":              one(change("mvnw", "#!/bin/sh\nexec java\n", "#!/bin/sh\nexit 0\n"), tamper.Command),
		"ruby: another rails":                 one(change("bin/rails", "#!/usr/bin/env ruby\nrequire 'x'\n", "require 'x'", "puts 'ok'"), tamper.Command),
		"ruby: pending":                       one(change("spec/add_spec.rb", rbTest, "  it 'adds none' do\n", "  it 'adds none' do\n    skip\n"), tamper.Skipped),
		"ruby: a test is gone":                one(change("spec/add_spec.rb", rbTest, "  it 'adds none' do\n    expect(add(0, 0)).to eq 0\n  end\n", ""), tamper.Deleted),
		"php: skipped":                        one(change("tests/AddTest.php", phTest, "testNone() {\n", "testNone() {\n    $this->markTestSkipped();\n"), tamper.Skipped),
		"shell: skipped":                      one(change("tests/add.bats", shTest, "@test \"none\" {\n", "@test \"none\" {\n  skip\n"), tamper.Skipped),
		"c: a test is gone":                   one(change("tests/add.cc", cpTest, cut(cpTest, "TEST(Add, None)")), tamper.Deleted),
		"c: disabled":                         one(change("tests/add.cc", cpTest, "TEST(Add, None)", "TEST(Add, DISABLED_None)"), tamper.Deleted),
		"gates are switched off":              one(change("nexus.toml", gates, "test = \"go test ./...\"", "test = false"), tamper.Command),
		"another gate":                        one(change("nexus.toml", gates, "go test ./...", "true"), tamper.Command),
		"the build forgives":                  one(change("Makefile", mk, "\tgo test ./...", "\tgo test ./... || true"), tamper.Swallowed),
		"the build ignores":                   one(change("Makefile", mk, "\tgo test ./...", "\t-go test ./..."), tamper.Swallowed),
		"a script goes on":                    one(change("check.sh", run, "set -e\n", "set +e\n"), tamper.Swallowed),
		"a script ends well":                  one(change("check.sh", run, "go test ./...", "go test ./...; exit 0"), tamper.Swallowed),
		"CI forgives":                         one(change(".github/workflows/ci.yml", ci, "- run: npm test", "- run: npm test\n        continue-on-error: true"), tamper.Swallowed),
		"CI runs no tests":                    one(change(".github/workflows/ci.yml", ci, "      - run: npm test\n", ""), tamper.Command),
		"linters fewer":                       one(change(".golangci.yml", "linters:\n  enable: [errcheck]\n", "linters:\n  enable: []\n"), tamper.Command),
		"go: put into a comment":              one(change("m_test.go", goTest, "\tif Sub(3, 2) != 1 {\n\t\tt.Error(\"no\")\n\t}\n", "\t/*\n\tif Sub(3, 2) != 1 {\n\t\tt.Error(\"no\")\n\t}\n\t*/\n"), tamper.Loosened),
		"go: a test put into a comment":       one(change("m_test.go", goTest, "func TestSub", "/*\nfunc TestSub", "Sub(3, 2) != 1 {\n\t\tt.Error(\"no\")\n\t}\n}\n", "Sub(3, 2) != 1 {\n\t\tt.Error(\"no\")\n\t}\n}\n*/\n"), tamper.Deleted),
		"go: leaves at once":                  one(change("m_test.go", goTest, "\tif Sub", "\treturn\n\tif Sub"), tamper.Loosened),
		"js: put into a comment":              one(change("add.test.js", jsTest, "  expect(add())", "  add() // expect(add())"), tamper.Loosened),
		"js: put into a literal":              one(change("add.test.js", jsTest, "  expect(add()).toEqual(0)\n", "  `\n  expect(add()).toEqual(0)\n  `\n"), tamper.Loosened),
		"js: between marks in literals":       one(change("add.test.js", strings.Replace(jsTest, "  expect(add()).toEqual(0)\n", "  open('/*')\n  expect(add()).toEqual(0)\n  open(\"*/\")\n", 1), "  expect(add()).toEqual(0)\n", ""), tamper.Loosened),
		"js: leaves at once":                  one(change("add.test.js", jsTest, "  expect(add())", "  if (true) return;\n  expect(add())"), tamper.Loosened),
		"python: put into a literal":          one(change("test_add.py", pyTest, "    assert add() == 0\n", "    \"\"\"\n    assert add() == 0\n    \"\"\"\n"), tamper.Loosened),
		"python: between literals":            one(change("test_add.py", "def test_a():\n    \"\"\"Adds\n    two.\"\"\"\n    assert add() == 0\n    \"\"\"Or\n    none.\"\"\"\n", "    assert add() == 0\n", ""), tamper.Loosened),
		"python: leaves at once":              one(change("test_add.py", pyTest, "    assert add() == 0\n", "    return\n    assert add() == 0\n"), tamper.Loosened),
		"ruby: put into a comment":            one(change("spec/add_spec.rb", rbTest, "    expect(add(0, 0)).to eq 0\n", "=begin\n    expect(add(0, 0)).to eq 0\n=end\n"), tamper.Loosened),
		"shell: put into a comment":           one(change("tests/add.bats", shTest, "  run add\n  [ \"$output\" = 0 ]", "  run add # [ \"$output\" = 0 ]"), tamper.Loosened),
		"c: put into a comment":               one(change("tests/add.cc", cpTest, "  EXPECT_EQ(0,", "  (void)0; // EXPECT_EQ(0,"), tamper.Loosened),
		"c: switched off":                     one(change("tests/add.cc", cpTest, "  EXPECT_EQ(0, add(0, 0));\n", "#if 0\n  EXPECT_EQ(0, add(0, 0));\n#endif\n"), tamper.Loosened),
		"c: switched off, with more in it":    one(change("tests/add.cc", cpTest, "  EXPECT_EQ(0, add(0, 0));\n", "#if 0\n#if X\n#endif\n#ifdef Y\n#else\n#endif\n  EXPECT_EQ(0, add(0, 0));\n#endif\n"), tamper.Loosened),
		"c: kept for another case":            one(change("tests/add.cc", cpTest, "  EXPECT_EQ(0, add(0, 0));\n", "#if 0\n  EXPECT_EQ(0, add(0, 0));\n#else\n#endif\n"), tamper.Loosened),
		"php: put into a comment":             one(change("tests/AddTest.php", phTest, "    $this->assertSame(0", "    add(); # $this->assertSame(0"), tamper.Loosened),
		"php: put into another comment":       one(change("tests/AddTest.php", phTest, "    $this->assertSame(0", "    add(); // $this->assertSame(0"), tamper.Loosened),
		"python: put into a comment":          one(change("test_add.py", pyTest, "    assert add() == 0\n", "    #assert add() == 0\n"), tamper.Loosened),
		"python: after what ends a line":      one(change("test_add.py", pyTest, "    assert add() == 0\n", "    x = 'it\\'s'; #assert add() == 0\n"), tamper.Loosened),
		"python: behind the quote of another": one(change("test_add.py", pyTest, "    assert add() == 0\n", "    add(\"'\") # assert add() == 0'\n"), tamper.Loosened),
		"c: Unity's is gone":                  one(change("tests/add.c", "void none(void) {\n  TEST_ASSERT_EQUAL(0, add(0, 0));\n}\n", "TEST_ASSERT_EQUAL(0, add(0, 0))", "add(0, 0)"), tamper.Loosened),
		"go: another way to build":            one(change("m_test.go", goTest, "package m\n", "//go:build integration\n\npackage m\n"), tamper.Skipped),
		"go: does not look at its t":          one(change("m_test.go", goTest, "func TestSub(t *testing.T) {\n", "func TestSub(*testing.T) {\n\tt := &fake{}\n"), tamper.Skipped),
		"go: another module in its place":     one(change("go.mod", "module m\n", "module m\n\nreplace x => ./x\n"), tamper.Command),
		"js: shall fail":                      one(change("add.test.js", jsTest, "test('adds none'", "test.fails('adds none'"), tamper.Loosened),
		"js: another shell":                   one(added(".npmrc", "script-shell=./sh\n"), tamper.Command),
		"js: mocha runs nothing":              one(added(".mocharc.json", "{\"dry-run\": true}\n"), tamper.Command),
		"js: something before vitest":         one(added("vitest.config.js", "export default { test: { setupFiles: ['./kind.js'] } }\n"), tamper.Command),
		"js: leaves without a code":           one(change("add.test.js", jsTest, "test('adds'", "process.exit()\ntest('adds'"), tamper.Swallowed),
		"python: a hook":                      one(change("conftest.py", "import pytest\n", "import pytest\n\n\ndef pytest_runtest_makereport(item):\n    pass\n"), tamper.Swallowed),
		"python: catches it":                  one(change("test_add.py", pyTest, "    assert add() == 0", "    try:\n        assert add() == 0\n    except AssertionError:\n        pass"), tamper.Swallowed),
		"python: stands in its place":         {[]tamper.ChangedFileVersions{change("add.py", "a\n", "b\n"), added("tests/add.py", "def add(a, b):\n    return 3\n")}, tamper.Mocked},
		"python: always started":              one(added("sitecustomize.py", "import os\n"), tamper.Command),
		"rust: should panic":                  one(change("tests/add.rs", rsTest, "#[test]\nfn none", "#[test]\n#[should_panic]\nfn none"), tamper.Loosened),
		"rust: a runner":                      one(added(".cargo/config.toml", "[target.x]\nrunner = \"true\"\n"), tamper.Command),
		"rust: left out":                      one(change("Cargo.toml", "[package]\n", "[package]\nautotests = false\n"), tamper.Command),
		"ruby: a dry run":                     one(change(".rspec", "--format progress\n", "--format progress\n--dry-run\n"), tamper.Command),
		"php: leaves":                         one(added("tests/AaaTest.php", "<?php\nfunction testAaa() { echo 'OK'; exit(0); }\n"), tamper.Swallowed),
		"c: will fail":                        one(change("CMakeLists.txt", "add_test(NAME a COMMAND a)\n", "add_test(NAME a COMMAND a)\nset_tests_properties(a PROPERTIES WILL_FAIL TRUE)\n"), tamper.Command),
		"c: another command":                  one(change("CMakeLists.txt", "add_test(NAME a COMMAND a)\n", "add_test(NAME a COMMAND true)\n"), tamper.Command),
		"a Makefile in front":                 one(added("GNUmakefile", "test:\n\ttrue\n"), tamper.Command),
		"the build ignores all":               one(change("Makefile", mk, "test:\n", ".IGNORE:\ntest:\n"), tamper.Swallowed),
		"go: lint is told to look away":       one(change("m.go", "package m\n", "package m //nolint\n"), tamper.Suppressed),
	}
}

// honest are changes that nobody has to explain.
func honest() map[string][]tamper.ChangedFileVersions {
	grow := func(file, text, more string) []tamper.ChangedFileVersions {
		return []tamper.ChangedFileVersions{change(file, text, text+more)}
	}
	return map[string][]tamper.ChangedFileVersions{
		"go: one more":              grow("m_test.go", goTest, "\nfunc TestMul(t *testing.T) {\n\tif Mul(2, 3) != 6 {\n\t\tt.Error(\"no\")\n\t}\n}\n"),
		"go: a new file":            {added("n_test.go", goTest)},
		"go: moved":                 {change("m_test.go", goTest), added("sub/m_test.go", goTest)},
		"go: split":                 {change("m_test.go", goTest, goTest[:strings.Index(goTest, "func TestSub")]), added("sub_test.go", goTest[strings.Index(goTest, "func TestSub"):])},
		"go: other order":           {change("m_test.go", goTest, goTest[strings.Index(goTest, "func TestSub"):]+goTest[:strings.Index(goTest, "func TestSub")])},
		"go: formatted":             {change("m_test.go", goTest, strings.ReplaceAll(goTest, "\t", "    "))},
		"go: a comment":             {change("m_test.go", goTest, "func TestSub", "// TestSub must not be skipped: t.Skip() is wrong here.\nfunc TestSub")},
		"go: another set-up":        {change("m_test.go", goTest, "func TestSub(t *testing.T) {\n", "func TestSub(t *testing.T) {\n\tt.Parallel()\n")},
		"go: a new test that skips": {added("n_test.go", "func TestNet(t *testing.T) {\n\tt.Skip(\"no net here\")\n}\n")},
		"go: code":                  {change("m.go", "package m\n", "package m\n\nfunc Add(a, b int) int { return a + b }\n")},
		"go: TestMain":              grow("m_test.go", goTest, "\nfunc TestMain(m *testing.M) { os.Exit(m.Run()) }\n"),
		"go: more asserted":         {change("m_test.go", goTest, "\tif Sub(3, 2) != 1 {\n", "\tif Sub(0, 0) != 0 {\n\t\tt.Error(\"none\")\n\t}\n\tif Sub(3, 2) != 1 {\n")},
		"go: a subtest more":        {change("m_test.go", "\tt.Run(\"one\", f)\n", "\tt.Run(\"one\", f)\n\tt.Run(\"two\", f)\n")},
		"go: a helper is gone":      {change("m_test.go", goTest+"\nfunc help() {}\n", goTest)},
		"go: a stray exit code":     {change("m.go", "package m\n", "package m\n\nfunc end() { os.Exit(0) }\n")},
		"go: a comment at its end":  {change("m_test.go", goTest, "t.Error(\"no\")\n\t}\n}\n\n", "t.Error(\"no\") // \"/*\"\n\t}\n}\n\n")},
		"go: a branch leaves":       {change("m_test.go", goTest, "\tif Sub", "\tif short() {\n\t\treturn\n\t}\n\tif Sub")},
		"go: a helper that returns": grow("m_test.go", goTest, "\nfunc help() int {\n\treturn 1\n}\n\nfunc other() {}\n"),
		"js: a helper that returns": grow("add.test.js", jsTest, "\nfunction one() {\n  switch (x) {\n  case 1:\n    return 1\n  default:\n    return 2\n  }\n}\n"),
		"js: marks in a pattern":    {change("add.test.js", jsTest+"test('p', () => {\n  expect(a).toMatch(/[/*]x/)\n})\n", "adds none', () => {\n", "adds none', () => {\n  const b = 1\n")},
		"python: a helper":          grow("test_add.py", pyTest, "\n\ndef help():\n    return 1\n\n\ndef test_more():\n    assert help() == 1\n"),
		"python: said at length":    {change("test_add.py", pyTest, "def test_none():\n", "def test_none():\n    \"\"\"Nothing\n    at all.\"\"\"\n")},
		"c: the other case":         {change("tests/add.cc", cpTest, "  EXPECT_EQ(0, add(0, 0));\n", "#if 0\nadd();\n#else\n  EXPECT_EQ(0, add(0, 0));\n#endif\n")},
		"c: after what is off":      {change("tests/add.cc", cpTest, "  EXPECT_EQ(0, add(0, 0));\n", "#if 0\n#ifdef X\nadd();\n#endif\n#endif\n  EXPECT_EQ(0, add(0, 0));\n")},
		"c: never switched on":      {change("tests/add.cc", cpTest, "TEST(Add, Adds)", "#if 0\nTEST(Add, Adds)")},
		"php: an attribute":         {change("tests/AddTest.php", phTest, "  public function testNone", "  #[Test]\n  public function testNone")},
		"js: marks in a literal":    {change("add.test.js", jsTest, "adds none', () => {\n", "adds none', () => {\n  const b = '/* `'\n")},
		"c: switched over":          {change("tests/add.cc", cpTest, "TEST(Add, None)", "#if 1\nint x;\n#endif\nTEST(Add, None)")},
		"js: one more":              grow("add.test.js", jsTest, "\ntest('more', () => {\n  expect(add(2, 2)).toBe(4)\n})\n"),
		"js: a new file":            {added("new.test.ts", jsTest)},
		"js: renamed file":          {change("add.test.js", jsTest), added("sum.test.js", jsTest)},
		"js: a new snapshot":        {added("__snapshots__/a.snap", "exports[`a`] = `3`;\n")},
		"js: one snapshot more":     grow("__snapshots__/a.snap", "exports[`a`] = `3`;\n", "exports[`b`] = `4`;\n"),
		"js: another is replaced":   {change("src/add.js", "a\n", "b\n"), change("add.test.js", jsTest, "test('adds'", "jest.mock('./clock.js')\ntest('adds'")},
		"js: a weak one more":       grow("add.test.js", jsTest, "\ntest('there', () => {\n  expect(add).toBeDefined()\n})\n"),
		"js: a dependency":          {change("package.json", pkg, `"name":"m"`, `"name":"m","dependencies":{"a":"1"}`)},
		"js: a script more":         {change("package.json", pkg, `"start":"node ."`, `"start":"node .","test:e2e":"playwright test"`)},
		"js: another start":         {change("package.json", pkg, `node .`, `node server.js`)},
		"js: a new package":         {added("package.json", pkg)},
		"js: a new config":          {added("vitest.config.ts", "export default { test: { exclude: ['e2e'] } }\n")},
		"js: wrapped":               {change("add.test.js", jsTest, jsTest+"\n// eof\n")},
		"js: each":                  grow("add.test.js", jsTest, "\ntest.each([[1, 2]])('adds %i', (a) => {\n  expect(add(a)).toBe(a)\n})\n"),
		"js: the word only":         {change("add.js", "x\n", "x.only = true\n")},
		"python: one more":          grow("test_add.py", pyTest, "\n\ndef test_more():\n    assert add(2, 2) == 4\n"),
		"python: parametrized":      {change("test_add.py", pyTest, "def test_none():", "@pytest.mark.parametrize('n', [0])\ndef test_none():")},
		"python: a fixture":         {change("conftest.py", "import pytest\n", "import pytest\n\n\n@pytest.fixture\ndef db():\n    yield 1\n")},
		"python: moved":             {change("test_add.py", pyTest), added("tests/test_add.py", pyTest)},
		"python: a dependency":      {change("pyproject.toml", "[project]\ndependencies = [\"a\"]\n", "[project]\ndependencies = [\"a\", \"b\"]\n")},
		"python: a new script":      {added("run.sh", run)},
		"rust: one more":            grow("tests/add.rs", rsTest, "\n#[test]\nfn more() {\n    assert_eq!(add(2, 2), 4);\n}\n"),
		"rust: a module":            {change("src/lib.rs", "fn a() {}\n", "fn a() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn b() { assert!(true); }\n}\n")},
		"java: one more":            {change("src/test/java/AddTest.java", jvTest, "  @Test\n  void none", "  @Test\n  void more() {\n    assertEquals(4, Add.add(2, 2));\n  }\n\n  @Test\n  void none")},
		"java: code":                {change("src/main/java/Add.java", "class Add {}\n", "class Add { int a; }\n")},
		"gradle: a dependency":      {change("build.gradle", gradle, "dependencies {\n", "dependencies {\n  testImplementation 'a:b:1'\n  implementation('c:d:1') { exclude group: 'e' }\n")},
		"gradle: a project within":  {change("settings.gradle", "include 'core'\n", "include 'core'\n", "include 'core'\ninclude 'web'\n"), added("web/build.gradle", gradle)},
		"gradle: says each":         {change("build.gradle", gradle, "test {\n", "test {\n  testLogging { events 'passed' }\n")},
		"gradle: more memory":       {change("gradle.properties", "a=1\n", "a=1\n", "a=1\norg.gradle.caching=true\n")},
		"gradle: code":              {change("src/main/java/build/Exec.java", "class Exec {}\n", "class Exec { void exec() { System.exit(0); } }\n")},
		"maven: a dependency":       {change("pom.xml", "<dependencies>\n", "<dependencies>\n<dependency><groupId>a</groupId><exclusions></exclusions></dependency>\n")},
		"maven: a plugin":           {change("pom.xml", "<plugins>\n", "<plugins>\n<plugin><artifactId>maven-checkstyle-plugin</artifactId></plugin>\n")},
		"ruby: one more":            {change("spec/add_spec.rb", rbTest, "  it 'adds none' do\n", "  it 'more' do\n    expect(add(2, 2)).to eq 4\n  end\n  it 'adds none' do\n")},
		"php: one more":             {change("tests/AddTest.php", phTest, "  public function testNone", "  public function testMore() {\n    $this->assertSame(4, add(2, 2));\n  }\n  public function testNone")},
		"shell: one more":           grow("tests/add.bats", shTest, "\n@test \"more\" {\n  run add 2 2\n  [ \"$output\" = 4 ]\n}\n"),
		"c: one more":               grow("tests/add.cc", cpTest, "\nTEST(Add, More) {\n  EXPECT_EQ(4, add(2, 2));\n}\n"),
		"a gate more":               {change("nexus.toml", gates, gates+"e2e = \"make e2e\"\n")},
		"a comment in the gates":    {change("nexus.toml", gates, "# checks\n"+gates)},
		"a target more":             grow("Makefile", mk, "\nclean:\n\trm -rf bin\n"),
		"a new Makefile":            {added("Makefile", mk)},
		"CI runs more":              {change(".github/workflows/ci.yml", ci, "- run: npm test", "- run: npm test\n      - run: npm run e2e")},
		"a script more":             {change("check.sh", run, run+"staticcheck ./...\n")},
		"docs":                      {change("README.md", "a\n", "b || true; exit 0\n")},
		"a target that forgives":    grow("Makefile", mk, "\ninstall:\n\tcp m /usr/bin || true\n"),
		"js: a start that forgives": {change("package.json", pkg, `node .`, `node . || true`)},
		"rust: a new one panics":    grow("tests/add.rs", rsTest, "\n#[test]\n#[should_panic]\nfn more() {\n    assert_eq!(add(2, 2), 5);\n}\n"),
		"rust: a dependency":        {change("Cargo.toml", "[dependencies]\n", "[dependencies]\nlibc = \"1\"\n")},
		"go: a requirement":         {change("go.mod", "module m\n", "module m\n\nrequire x v1.0.0\n")},
		"c: a source more":          {change("CMakeLists.txt", "add_library(a a.c)\n", "add_library(a a.c b.c)\ninclude_directories(x)\n")},
		"docs about tests":          {change("docs/testing.md", "assert\n", "t.Skip()\n")},
		"a golden file more":        {added("testdata/x.golden", "x\n")},
		"test data":                 {added("testdata/in.json", "{}\n")},
		"an image":                  {change("logo.png", "\x89PNG", "\x89PNG2")},
		"nothing":                   nil,
		"an empty test file":        {added("e_test.go", "")},
		"only white space":          {change("add.test.js", jsTest, jsTest+"\n\n")},
		"a new mock":                {added("src/__mocks__/clock.js", "export default () => 0\n")},
		"a lock file":               {change("package-lock.json", "{\"a\":1}", "{\"a\":2}")},
	}
}

func TestNoLieIsMissed(t *testing.T) {
	for name, c := range lies() {
		found := tamper.FindTampering(c.files)
		if !slices.ContainsFunc(found, func(f nexus.Finding) bool { return f.Code == c.want }) {
			t.Errorf("%s: %+v, want %s", name, found, c.want)
		}
		for _, f := range found {
			if f.File == "" || f.Message == "" || f.Severity == "" || f.Gate != tamper.Gate {
				t.Errorf("%s: %+v", name, f)
			}
		}
		for _, f := range c.files {
			if len(c.files) == 1 && !tamper.AffectsChecks(f.Path) && c.want != tamper.Suppressed {
				t.Errorf("%s: nobody would look at %s", name, f.Path)
			}
		}
	}
	t.Logf("%d lies", len(lies()))
}

// TestFindingsSayWhat holds what is said of a change, where, and how strongly.
func TestFindingsSayWhat(t *testing.T) {
	long := strings.Repeat("x", 200)
	goLong := "func TestA(t *testing.T) {\n\tt.Error(\"" + long + "\")\n}\n"
	var many []string
	for _, name := range []string{"A", "B", "C", "D", "E", "F", "G"} {
		many = append(many, "func Test"+name+"(t *testing.T) {}\n")
	}
	for name, c := range map[string]struct {
		file tamper.ChangedFileVersions
		want []string
	}{
		"one assertion":      {change("m_test.go", goTest, "\tif Sub(3, 2) != 1 {\n\t\tt.Error(\"no\")\n\t}\n", ""), []string{"tamper.loosened major 0: 1 assertion is gone, first: t.Error(\"no\")"}},
		"two":                {change("m_test.go", goTest, "\t\tt.Error(\"no\")\n", ""), []string{"tamper.loosened major 0: 2 assertions are gone, first: t.Error(\"no\")"}},
		"a long one":         {change("m_test.go", goLong, "func TestA(t *testing.T) {\n}\n"), []string{"tamper.loosened major 0: 1 assertion is gone, first: t.Error(\"" + long[:111] + "..."}},
		"a weaker one":       {change("add.test.js", "test('a', () => {\n  expect(add()).toEqual(0)\n})\n", "toEqual(0)", "toBeDefined()"), []string{"tamper.loosened major 2: the assertion is weaker: expect(add()).toBeDefined() instead of expect(add()).toEqual(0)"}},
		"another":            {change("add.test.js", "test('a', () => {\n  expect(add()).toEqual(0)\n})\n", "toEqual(0)", "toEqual(1)"), []string{"tamper.expectation minor 0: 1 assertion changed, first: expect(add()).toEqual(0)"}},
		"five tests":         {change("m_test.go", "package m\n"+strings.Join(many[:5], ""), "package m\n"), []string{"tamper.deleted major 0: 5 tests are gone: TestA, TestB, TestC, TestD, TestE"}},
		"more than are told": {change("m_test.go", "package m\n"+strings.Join(many, ""), "package m\n"), []string{"tamper.deleted major 0: 7 tests are gone: TestA, TestB, TestC, TestD, TestE and 2 more"}},
		"a gate that is off": {change("nexus.toml", gates, "lint = \"golangci-lint run\"", "# none\nlint = false"), []string{"tamper.command major 0: it changes how checks run; no longer: lint = \"golangci-lint run\""}},
	} {
		var got []string
		for _, f := range tamper.FindTampering([]tamper.ChangedFileVersions{c.file}) {
			got = append(got, fmt.Sprintf("%s %s %d: %s", f.Code, f.Severity, f.Line, f.Message))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestExplain takes what submissions say for the findings that they name, and
// what a reviewer agrees to.
func TestExplain(t *testing.T) {
	found := []nexus.Finding{{Name: "a_test.go: deleted"}, {Name: "b"}, {Message: "of no name"}, {Name: "c"}}
	said := []nexus.RemovalExplanation{{Name: "a_test.go: deleted", Why: "moved"}, {Name: " `./b`", Why: " renamed "}, {Name: "", Why: "x"}, {Name: "c", Why: " "}, {Name: "b", Why: "merged"}}
	all := tamper.AddExplanations(found, said)
	var got []string
	for _, f := range all {
		got = append(got, f.Explained)
	}
	if diff := cmp.Diff([]string{"moved", "merged", "", ""}, got); diff != "" || found[0].Explained != "" {
		t.Errorf("%s; what was given is %+v", diff, found[0])
	}
	if left := tamper.UnexplainedFindings(all); len(left) != 1 || left[0].Name != "c" {
		t.Errorf("without a word: %+v", left)
	}
	if left := tamper.UnapprovedFindings(all, []string{"'b'"}); len(left) != 1 || left[0].Name != "a_test.go: deleted" {
		t.Errorf("nobody agrees to %+v", left)
	}
	if left := tamper.UnapprovedFindings(all, nil); len(left) != 2 {
		t.Errorf("nobody agrees to %+v", left)
	}
}

func TestNoHonestChangeIsSuspect(t *testing.T) {
	for name, files := range honest() {
		if found := tamper.FindTampering(files); len(found) > 0 {
			t.Errorf("%s: %+v", name, found)
		}
	}
	t.Logf("%d honest changes", len(honest()))
}

// What a file is made of does not make a look at it long: these would take
// hours if each mark were followed to the end.
func TestLongFiles(t *testing.T) {
	for _, piece := range []string{"/*", "`", `"\`, `'\`, "// x", `""" `, "#if 0\n", "x"} {
		text := strings.Repeat(piece, 1<<17/len(piece)) + "expect(1)"
		for _, file := range []string{"a.test.js", "test_a.py", "tests/a.c"} {
			tamper.FindTampering([]tamper.ChangedFileVersions{{Path: file, Old: &text, New: &text}})
		}
	}
}

func FuzzLook(f *testing.F) {
	f.Add("a_test.go", goTest, goTest[:100])
	f.Add("a.test.js", jsTest, "")
	f.Add("package.json", pkg, "{")
	f.Fuzz(func(t *testing.T, file, old, now string) {
		if found := tamper.FindTampering([]tamper.ChangedFileVersions{{Path: file, Old: &old, New: &old}}); len(found) > 0 {
			t.Errorf("nothing was changed: %+v", found)
		}
		for _, x := range tamper.FindTampering([]tamper.ChangedFileVersions{{Path: file, Old: &old, New: &now}}) {
			if x.Line < 0 || x.Line > strings.Count(now, "\n")+1 {
				t.Errorf("line %d", x.Line)
			}
		}
	})
}

// TestQuarantine checks that each test whose failure shall not count any more
// is named, and that one which counts again is not.
func TestQuarantine(t *testing.T) {
	entry := func(test, until string) string {
		return "[[test]]\ntest = '" + test + "'\nreason = 'so'\nsince = 2026-11-01\nuntil = " + until + "\n"
	}
	one, two := entry("a", "2026-11-05"), entry("b", "2026-11-05")
	longer, broken := entry("a", "2026-11-09"), "[[test]]\n"
	both := one + two
	for name, tt := range map[string]struct {
		old, now *string
		want     int
	}{
		"new": {nil, &one, 1}, "one more": {&one, &both, 1}, "longer": {&one, &longer, 1}, "one less": {&both, &one, 0}, "gone": {&one, nil, 0}, "broken": {&one, &broken, 1}, "mended": {&broken, &one, 1},
	} {
		found := tamper.FindTampering([]tamper.ChangedFileVersions{{Path: ".nexus/quarantine.toml", Old: tt.old, New: tt.now}})
		if len(found) != tt.want {
			t.Errorf("%s: %+v", name, found)
		}
		for _, f := range found {
			if f.Severity != nexus.Major || f.Code != tamper.Command {
				t.Errorf("%s: %+v", name, f)
			}
		}
	}
}
