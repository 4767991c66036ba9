package discover

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/stack/missingdocs"
)

// red runs the check of a finding where files are, and reports whether it fails.
func red(t *testing.T, check string, files map[string]string) bool {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", check)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if len(out) > 0 {
		t.Errorf("%s prints %s", check, out)
	}
	return err != nil
}

// TestMissingWords finds public names that nothing describes, and says the same as its check.
func TestMissingWords(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a.go", "func Open() {}", "func Open() {}"},
		{"a.go", "// Open opens.\nfunc Open() {}", ""},
		{"a.go", "func (v byAge) Less(i, j int) bool { return false }", ""},
		{"a.go", "func (v Ages) Less(i, j int) bool { return false }", ""},
		{"a.go", "func (v Ages) Oldest() int { return 0 }", "func (v Ages) Oldest() int { return 0 }"},
		{"a.go", "func (v *ages) Oldest() int { return 0 }", ""},
		{"a.go", "func (Ages) MarshalJSON() ([]byte, error) { return nil, nil }", ""},
		{"a.go", "/*\nfunc Old() {}\n*/\n\nfunc New() {}", "func New() {}"},
		{"a.go", "/*\nOpen opens.\n*/\nfunc Open() {}", ""},
		{"a.rs", "/*!\n```\n    pub struct Flags;\n```\n*/", ""},
		{"a.rs", "        pub const $Flag: Self = 1;", ""},
		{"a.rs", "pub unsafe fn raw() {}", "pub unsafe fn raw() {}"},
		{"a.rs", "pub(crate) fn raw() {}", ""},
		{"a.rs", "#[derive(Debug)]\npub struct A;", ""},
		{"a.ts", "/** A. */\nexport class A {}", ""},
		{"a.ts", "/** A. */\r\nexport class A {}\r", ""},
		{"a.ts", "export class A {}", "export class A {}"},
		{"a.js", "/** A. */\n\nexport class A {}", ""},
		{"a.js", "/** A. */\r\n\r\nexport class A {}\r", ""},
		{"a.js", "/** A. */\nlet a\n\nexport class A {}", "export class A {}"},
		{"a.go", "// Open opens.\n\nfunc Open() {}", "func Open() {}"},
		{"a.py", "def open_all(a,\n    b):\n    # Why.\n    return a", "def open_all(a,"},
		{"a.py", "def open_all(a,\n             b) -> int:  # two\n\n    \"\"\"Open both.\"\"\"\n    return a", ""},
		{"a.py", "async def open_all():\n    'Open.'", ""},
		{"a.py", "def open_all(): return 1", "def open_all(): return 1"},
		{"a.py", "def _open():\n    pass\n\nclass _Private:\n    def open(self):\n        pass", ""},
		{"a.py", "class Box:\n    \"\"\"A box.\"\"\"\n    size = 1\n\n    def open(\n        self,\n    ):\n        pass\n", "def open("},
		{"a.py", "class Box(Base):\n    \"\"\"A box.\n\n    def open(self):\n    \"\"\"\n    def open(self):\n        pass\n", ""},
		{"a.py", "class Box:\n    \"\"\"A box.\"\"\"\n    @property\n    def size(self):\n        return 1\n\n    def __len__(self):\n        def one():\n            pass\n        return 1", ""},
		{"a.py", "class Box:\n    size = 1\n", "class Box:"},
		{"a.py", "@wraps(x,\n  y)\ndef open():\n    pass\n", ""},
		{"a.py", "def open():\n    pass\n\nif __name__ == '__main__':\n    open()\n", ""},
		{"a.py", "if True:\n    def open():\n        pass\n", ""},
		{"A.java", "/** A. */\n@Named(\n  value = 1)\npublic class A {\n    /** Opens. */\n    @X({\n        \"a\"\n    })\n    public void open() {\n        x();\n    }\n}", ""},
		{"A.java", "/** A. */\npublic class A {\n    int n;\n    public List<Map<A, B>> open(int n) {\n        return x;\n    }\n}", "public List<Map<A, B>> open(int n) {"},
		{"A.java", "/** A. */\npublic class A {\n    public A(int n) {}\n    public int getN() {}\n    @Override\n    @X\n    public void open() {}\n    public int x = open();\n    private void shut() {\n    }\n}", ""},
		{"A.java", "public final class A {\n}", "public final class A {"},
		{"A.java", "/** A. */\n// Older: {@code\n// x();\n//  }\npublic class A {\n    int n;\n    // open {\n    public void open() {\n    }\n}", "public void open() {"},
		{"A.java", "class A {\n    public void open() {\n    }\n}", ""},
		{"lib/a.rb", "# A.\nclass A < B\n  def initialize\n  end\n\n  # Opens.\n  def open\n  end\n\n  def shut\n  end\n\n  private\n\n  def hidden\n  end\nend", "def shut"},
		{"lib/a.rb", "module A\n  class Error < StandardError; end\n  # B.\n  class B\n    protected\n    def hidden\n    end\n  end\n  # C.\n  class C\n    def self.open\n    end\n  end\nend", "def self.open"},
		{"lib/a.rb", "class Binding\n  # Opens.\n\n  def open\n  end\nend", ""},
		{"lib/a.rb", "class A < B\nend", "class A < B"},
		{"lib/a.rb", "class A < B # :nodoc:\n  def to_s\n  end\nend", ""},
		{"lib/a.rb", "class A\n  def open\n  end\n  private :open\nend", ""},
		{"a.php", "<?php\n/** A. */\nfinal class A\n{\n    public function open(): int\n    {\n    }\n    public function getN() {}\n    private function shut() {}\n}", "public function open(): int"},
		{"a.php", "<?php\n/** A. */\n#[Attribute]\nfinal class A\n{\n    /** Opens. */\n    public function open(): int\n    {\n    }\n}", ""},
		{"a.kt", "/** A. */\n@Serializable\ndata class A(val n: Int)\n\nprivate fun hidden() = 1\n\nfun open(): Int = 1", "fun open(): Int = 1"},
		{"a.swift", "/// A.\npublic struct A {\n    func hidden() {}\n    @inlinable\n    public func open() {}\n}\n\npublic func shut() {}", "public func shut() {}"},
	} {
		d, known := missingdocs.LanguageOf(c.name)
		if !known {
			t.Errorf("%s is not looked at", c.name)
			continue
		}
		f, ok := undescribedNamesFinding(d, c.name, strings.Split(strings.ReplaceAll(c.text, "\r", ""), "\n"))
		if f.Evidence != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q, not %q", c.text, f.Evidence, c.want)
		}
		if !d.CanFindNames(strings.Split(c.text, "\n")) {
			continue // nobody makes a check of such a file
		}
		if red(t, d.MissingDocsCommand(c.name), map[string]string{c.name: c.text + "\n"}) != ok {
			t.Errorf("%s: its check says something else: %s", c.text, f.Check)
		}
	}
}

// TestExtra leaves out what repeats itself for a reason.
func TestExtra(t *testing.T) {
	for name, want := range map[string]bool{
		"src/index.ts": false, "benchmarks/a.ts": true, "src/a.bench.ts": true, "benches/parse.rs": true, "misc/bench_omd.py": true, "examples/x/main.go": true,
		"test/globs.js": true, "spec/a_spec.rb": true, "a_test.go": true, "src/example_generated.rs": false, "example.go": false,
	} {
		if got := isAuxiliaryFile(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestPrivateModules finds modules of Rust that nobody else can reach.
func TestPrivateModules(t *testing.T) {
	lines := strings.Split("pub mod iter;\nmod traits;\nmod deep;\nmod here {}\npub use traits::{Bits, Flags};\n", "\n")
	if diff := cmp.Diff([]string{"src/deep"}, privateModules("src/lib.rs", lines)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"src/parse/deep"}, privateModules("src/parse.rs", lines)); diff != "" {
		t.Error(diff)
	}
}

// TestExcuse says why an audit broke, not where its log is.
func TestExcuse(t *testing.T) {
	for printed, want := range map[string]string{
		"npm warn audit request failed\nnpm error audit endpoint returned an error\nnpm error A complete log of this run is in /x\n": "npm error audit endpoint returned an error",
		"error: no such command: `audit`\n\nhelp: view all installed commands with `cargo --list`\n":                                 "error: no such command: `audit`",
		"fetching\ndial tcp: no such host\n": "dial tcp: no such host",
		"":                                   "timeout",
	} {
		if got := failureLine(printed, "timeout"); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// TestIDsStay holds that a finding keeps its ID when lines are added above it.
func TestIDsStay(t *testing.T) {
	d, _ := missingdocs.LanguageOf("a.go")
	of := func(lines ...string) (ids []string) {
		f, _ := undescribedNamesFinding(d, "a.go", lines)
		return append(ids, f.ID)
	}
	if diff := cmp.Diff(of("func Open() {}"), of("", "", "func Open() {}")); diff != "" {
		t.Error(diff)
	}
}

// TestOwnNames holds that names in packages that are nobody else's are not asked to be described.
func TestOwnNames(t *testing.T) {
	for name, want := range map[string]bool{"src/a/internal/A.java": false, "src/a/A.java": true, "a/_b.py": false, "a/b.py": true, "bin/a.rb": false, "lib/a.rb": true} {
		if _, known := missingdocs.LanguageOf(name); known != want {
			t.Errorf("%s: %v", name, known)
		}
	}
}

// TestSilent finds directories of which nothing says what they hold, and says the same as its check.
func TestSilent(t *testing.T) {
	for _, c := range []struct {
		base, text string
		want       bool // it says so
	}{
		{"a.go", "package a", false},
		{"a.go", "//go:build linux\n\npackage a", false},
		{"a.go", "// Package a is.\npackage a", true},
		{"a.go", "/*\nCommand a does.\n*/\npackage main", true},
		{"a.py", "\"\"\"A is.\"\"\"\nx = 1", false}, // of this file, not of all
		{"__init__.py", "# nothing\nx = 1", false},
		{"__init__.py", "\"\"\"A is.\"\"\"\nx = 1", true},
		{"mod.rs", "//! A is.\nuse b;", true},
		{"mod.rs", "// A is.\nuse b;", false},
		{"package-info.java", "/** A is. */\npackage a;", true},
		{"README", "A is.", true},
		{"Readme.md", "A is.", true},
		{"a.js", "// A is.\nexport const a = 1", false},
	} {
		into, own := map[string]string{".py": "__init__.py", ".java": "package-info.java"}[filepath.Ext(c.base)]
		if !own {
			into = "README.md"
		}
		d := directoryDocInfo{sources: 3, ends: map[string]bool{filepath.Ext(c.base): true}}
		if f := d.undescribedDirectoryFinding("a b"); f.Places[0].File != "a b/"+into || !strings.Contains(f.Title, f.Places[0].File) {
			t.Errorf("%s: %s, %v", c.base, f.Title, f.Places)
		}
		if got := missingdocs.DescribesDirectory(c.base, strings.Split(c.text, "\n")); got != (c.want && !strings.HasPrefix(strings.ToLower(c.base), "readme")) {
			t.Errorf("%s %q: %v", c.base, c.text, got)
		}
		if f := d.undescribedDirectoryFinding("a b"); red(t, f.Check+" 2>/dev/null", map[string]string{"a b/" + c.base: c.text + "\n"}) == c.want {
			t.Errorf("%s %q: %s", c.base, c.text, f.Check)
		}
	}
}
