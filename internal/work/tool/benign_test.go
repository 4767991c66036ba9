package tool

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// A benign command is one that developers type: it must be let through, and do
// its work in the box.
type benign struct {
	needs   string // the program, where not every machine has it
	command string
	says    string // what is in its output; empty for anything
}

// project is a tree that holds a little of everything.
func project() map[string]string {
	return map[string]string{
		"README.md": "# A project\n\nTODO: more\n", "data.csv": "name,n\na,1\nb,20\nc,3\n", "data.json": `{"a":{"b":[1,2,3]}}` + "\n",
		".gitignore": "build/\ntarget/\nnode_modules/\n__pycache__/\n",
		"go/go.mod":  "module example.com/x\n\ngo 1.21\n", "go/x.go": "package x\n\n// Add adds.\nfunc Add(a, b int) int { return a + b }\n",
		"go/x_test.go":     "package x\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Error(\"sum\")\n\t}\n}\n",
		"go/cmd/x/main.go": "package main\n\nfunc main() { println(\"ran\") }\n",
		"js/package.json":  `{"name":"x","version":"1.2.3","scripts":{"test":"node --test","build":"node build.js","lint":"node --check sum.js"}}` + "\n",
		"js/sum.js":        "module.exports = (a, b) => a + b;\n", "js/build.js": "require('fs').writeFileSync('out.js', 'built');\nconsole.log('built');\n",
		"js/sum.test.js":    "const test = require('node:test');\nconst assert = require('node:assert');\ntest('sum', () => assert.strictEqual(require('./sum.js')(1, 2), 3));\n",
		"js/server.js":      "require('http').createServer((q, s) => s.end('served')).listen(8123, '127.0.0.1');\n",
		"py/x.py":           "def add(a: int, b: int) -> int:\n    return a + b\n\n\nif __name__ == '__main__':\n    print('ran', add(1, 2))\n",
		"py/test_x.py":      "import unittest\n\nfrom x import add\n\n\nclass TestAdd(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n",
		"rs/Cargo.toml":     "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
		"rs/src/lib.rs":     "pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n\n#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n",
		"rs/src/main.rs":    "fn main() {\n    println!(\"ran {}\", x::add(1, 2));\n}\n",
		"c/Makefile":        "all: main\n\nmain: main.c\n\t$(CC) -Wall -o $@ $<\n\ntest: main\n\t./main\n\nclean:\n\trm -f main\n\n.PHONY: all test clean\n",
		"c/main.c":          "#include <stdio.h>\nint main(void) { puts(\"ran\"); return 0; }\n",
		"c/x.cpp":           "#include <vector>\n#include <iostream>\nint main() { std::vector<int> v{1, 2}; std::cout << \"ran\" << v.size(); }\n",
		"cm/CMakeLists.txt": "cmake_minimum_required(VERSION 3.13)\nproject(x C)\nenable_testing()\nadd_executable(x x.c)\nadd_test(NAME x COMMAND x)\n",
		"cm/x.c":            "int main(void) { return 0; }\n",
		"java/Main.java":    "public class Main { public static void main(String[] a) { System.out.println(\"ran\"); } }\n",
		"rb/x.rb":           "def add(a, b) = a + b\nputs \"ran #{add(1, 2)}\" if __FILE__ == $0\n",
		"rb/x_spec.rb":      "require_relative 'x'\nRSpec.describe('add') { it('adds') { expect(add(1, 2)).to eq(3) } }\n",
		"rb/Rakefile":       "task(:test) { puts 'ran' }\n",
		"php/x.php":         "<?php\nfunction add(int $a, int $b): int { return $a + $b; }\necho 'ran ', add(1, 2), \"\\n\";\n",
		"pl/x.pl":           "use strict; use warnings; print \"ran\\n\";\n",
		"sh/x.sh":           "#!/bin/sh\nset -eu\necho \"ran $#\"\n",
	}
}

// commands returns what is tried, each on a tree of its own.
func commands() []benign {
	return []benign{
		{"go", `cd go && go build ./...`, ""},
		{"go", `cd go && go test ./...`, "ok"},
		{"go", `cd go && go test -run TestAdd -v -count=1 .`, "PASS"},
		{"go", `cd go && go vet ./... && gofmt -l .`, ""},
		{"go", `cd go && go run ./cmd/x 2>&1`, "ran"},
		{"go", `go version && go env GOROOT`, "go"},
		{"go", `cd go && go list ./...`, "example.com/x/cmd/x"},
		{"go", `cd go && go mod tidy && git diff --stat`, ""},
		{"go", `cd go && go build -o bin/x ./cmd/x && ./bin/x 2>&1`, "ran"},
		{"go", `cd go && go test -coverprofile=/tmp/c.out . && go tool cover -func=/tmp/c.out`, "100.0%"},
		{"node", `node --version`, "v"},
		{"node", `cd js && node --test`, "pass 1"},
		{"node", `cd js && node --check sum.js && node build.js`, "built"},
		{"node", `cd js && node -p "require('./package.json').version"`, "1.2.3"},
		{"node", `node -e "console.log(1+1)"`, "2"},
		{"node", `cd js && (node server.js & for i in 1 2 3 4 5 6 7 8 9; do curl -s http://127.0.0.1:8123/ && break; sleep 0.2; done; kill %1)`, "served"},
		{"npm", `cd js && npm test`, "pass 1"},
		{"npm", `cd js && npm run build --silent`, "built"},
		{"npm", `npm --prefix js run lint`, ""},
		{"npm", `cd js && npm install --offline --no-audit --no-fund`, ""},
		{"npm", `cd js && npm ls --depth=0`, "x@1.2.3"},
		{"npm", `cd js && npm pkg get version`, "1.2.3"},
		{"python3", `python3 py/x.py`, "ran 3"},
		{"python3", `cd py && python3 -m unittest -v 2>&1`, "OK"},
		{"python3", `python3 -c "import json; print(json.load(open('data.json'))['a'])"`, "[1, 2, 3]"},
		{"python3", `python3 -m json.tool data.json`, `"b"`},
		{"python3", `python3 -m py_compile py/x.py`, ""},
		{"python3", `python3 -m venv --without-pip /tmp/v && ls /tmp/v/bin`, "activate"},
		{"python3", `python3 -m venv .venv && .venv/bin/python --version`, "Python"},
		{"pip", `pip --version && pip list`, "pip"},
		{"pip3", `pip3 check || true`, ""},
		{"pytest", `cd py && pytest -q`, "1 passed"},
		{"pytest", `cd py && pytest -x -q test_x.py::TestAdd::test_add`, "1 passed"},
		{"mypy", `cd py && mypy x.py`, "no issues"},
		{"flake8", `flake8 --version`, ""},
		{"python3", `echo '{"a":1}' | python3 -m json.tool`, `"a": 1`},
		{"cargo", `cd rs && cargo build --offline`, ""},
		{"cargo", `cd rs && cargo test --offline`, "1 passed"},
		{"cargo", `cd rs && cargo run -q`, "ran 3"},
		{"cargo", `cd rs && cargo check && cargo clean`, ""},
		{"cargo", `cargo --version && cargo metadata --manifest-path rs/Cargo.toml --format-version 1 --no-deps || true`, ""},
		{"rustc", `rustc --edition 2021 rs/src/lib.rs --crate-type lib -o /tmp/x.rlib`, ""},
		{"rustfmt", `cd rs && rustfmt --check src/lib.rs`, ""},
		{"make", `cd c && make`, ""},
		{"make", `make -C c test`, "ran"},
		{"make", `cd c && make -j2 all && make clean`, ""},
		{"gcc", `gcc -Wall -O2 -o /tmp/m c/main.c && /tmp/m`, "ran"},
		{"gcc", `cd c && gcc -g -fsanitize=undefined -o m main.c && ./m && nm m | head -3`, "ran"},
		{"g++", `g++ -std=c++17 -o x c/x.cpp && ./x`, "ran2"},
		{"make", `make -C c CC=gcc main && file c/main`, ""},
		{"cmake", `cmake -S cm -B build -DCMAKE_BUILD_TYPE=Debug && cmake --build build && ctest --test-dir build`, "100% tests passed"},
		{"cmake", `mkdir -p build && cd build && cmake ../cm && make`, ""},
		{"java", `java -version 2>&1`, "version"},
		{"javac", `javac -d out java/Main.java && java -cp out Main`, "ran"},
		{"jar", `javac -d out java/Main.java && jar cf x.jar -C out . && jar tf x.jar`, "Main.class"},
		{"mvn", `mvn -version`, "Maven"},
		{"ruby", `ruby rb/x.rb && ruby -c rb/x.rb`, "ran 3"},
		{"rspec", `cd rb && rspec x_spec.rb`, "0 failures"},
		{"rake", `cd rb && rake test`, "ran"},
		{"php", `php php/x.php && php -l php/x.php`, "ran 3"},
		{"phpunit", `phpunit --version`, "PHPUnit"},
		{"perl", `perl pl/x.pl`, "ran"},
		{"dotnet", `dotnet --info`, ".NET"},
		{"", `git status --short`, ""},
		{"", `git status`, "branch main"},
		{"", `echo more >>README.md && git diff --stat`, "README.md"},
		{"", `git log --oneline -5`, "first"},
		{"", `git show --stat HEAD`, "README.md"},
		{"", `git blame README.md`, "A project"},
		{"", `git grep -n TODO`, "README.md:3"},
		{"", `git ls-files | wc -l`, ""},
		{"", `git rev-parse HEAD && git branch --show-current`, "main"},
		{"", `echo x >n.txt && git add -A && git commit -q -m 'Add n' && git log --oneline`, "Add n"},
		{"", `git mv README.md R.md && git status --short`, "R  README.md"},
		{"", `git diff HEAD~0 -- go/x.go`, ""},
		{"", `grep -rn TODO . --include='*.md'`, "README.md"},
		{"", `grep -c . data.csv`, "4"},
		{"rg", `rg -n TODO`, "README.md"},
		{"rg", `rg -l Add -g '*.go'`, "go/x.go"},
		{"", `sed -n '1,2p' data.csv`, "name,n"},
		{"", `sed -i 's/TODO/DONE/' README.md && cat README.md`, "DONE"},
		{"", `awk -F, 'NR>1 {s+=$2} END {print s}' data.csv`, "24"},
		{"", `awk -F, '$2 > 5 {print $1}' data.csv`, "b"},
		{"", `tar czf /tmp/x.tgz go && tar tzf /tmp/x.tgz | head -3`, "go/"},
		{"", `mkdir -p /tmp/u && tar cf - go | tar xf - -C /tmp/u && ls /tmp/u/go`, "go.mod"},
		{"", `find . -name '*.go' | xargs wc -l | tail -1`, "total"},
		{"", `find . -type f -name '*.py' -exec grep -l add {} +`, "x.py"},
		{"", `find . -name '*.csv' -print0 | xargs -0 cat | sort | uniq -c | head`, "1 a,1"},
		{"", `seq 1 3 | xargs -n1 echo`, "3"},
		{"jq", `jq -c '.a.b | map(. * 2)' data.json`, "[2,4,6]"},
		{"", `sort -t, -k2 -n data.csv | head -2 | cut -d, -f1 | tr a-z A-Z`, "NAME"},
		{"", `diff <(sort data.csv) <(sort data.csv) && echo same`, "same"},
		{"", `cat > n.txt <<'END'` + "\nhello\nEND\ncat n.txt", "hello"},
		{"", `mkdir -p a/{b,c} && touch a/b/x && ls -R a`, "x"},
		{"", `rm -rf a && cp -r go g2 && mv g2 g3 && rm -rf g3`, ""},
		{"", `chmod +x sh/x.sh && ./sh/x.sh 1 2`, "ran 2"},
		{"", `bash -c 'set -euo pipefail; echo ok | tee /tmp/x'`, "ok"},
		{"", `for f in go/*.go; do head -1 "$f"; done`, "package x"},
		{"", `if [ -f go/go.mod ]; then echo yes; fi`, "yes"},
		{"", `timeout 10 sleep 0.1 && echo ok`, "ok"},
		{"", `echo $((1+2)) && date +%Y && uname -s && nproc && id -u`, "Linux"},
		{"", `xz --version || gzip -k data.csv && ls`, ""},
		{"", `md5sum data.csv && sha256sum data.csv && base64 data.csv | head -1`, ""},
		{"", `ln -s go link && ls link/`, "go.mod"},
		{"", `nohup sleep 30 >/dev/null 2>&1 & sleep 0.1; jobs; kill %1`, ""},
		{"", `export FOO=bar; env | grep FOO`, "FOO=bar"},
		{"", `patch -p0 --dry-run < /dev/null; echo ok`, "ok"},
		{"bc", `bc <<< '2*21'`, "42"},
		{"", `mktemp -d && df -h . | tail -1`, "/tmp/"},
		{"xxd", `xxd data.csv | head -1`, "name"},
		{"tree", `tree -L 1`, "README.md"},
		{"shellcheck", `shellcheck sh/x.sh`, ""},
		{"perl", `perl -c pl/x.pl 2>&1`, "OK"},
	}
}

// history makes a repository of the tree whose directory lies beside it, as
// the one of an attempt does.
func history(t *testing.T, dir string) (gitDir string) {
	t.Helper()
	gitDir = filepath.Join(t.TempDir(), "git")
	for _, args := range [][]string{
		{"init", "-q", "-b", "main", "--separate-git-dir", gitDir}, {"config", "user.name", "nexus"}, {"config", "user.email", "nexus@localhost"}, {"add", "-A"}, {"commit", "-q", "-m", "first"},
	} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", args, err, out)
		}
	}
	return gitDir
}

// beyond reports whether a command needs what Landlock alone cannot give, as
// its box says: a /tmp of its own, or a socket. npm stops at settings of the
// system's that it may not read.
func beyond(command string) bool {
	for _, part := range []string{"/tmp", "curl", "pip", "python3 -m venv", "mktemp", "npm "} {
		if strings.Contains(command, part) {
			return true
		}
	}
	return false
}

// Benign commands are allowed by the policy and succeed in each kind of box:
// the first of each program and every fifth, and at night all.
func TestBenignCommands(t *testing.T) {
	testenv.NeedToolchains(t)
	cache := ""
	if out, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE").Output(); err == nil {
		cache = strings.TrimSpace(string(out))
	}
	for _, m := range []sandbox.ConfinementMode{sandbox.ModeNative, sandbox.ModeBwrap, sandbox.ModeLandlock} {
		t.Run(string(m), func(t *testing.T) {
			b, err := sandbox.FindSandbox(t.Context(), m)
			testenv.NeedMachine(t, "a sandbox", err)
			tried := map[string]bool{}
			ran, missing, without := 0, 0, 0
			for i, c := range commands() {
				if c.needs != "" {
					if _, err := exec.LookPath(c.needs); err != nil {
						t.Logf("not tried, %s is not installed: %s", c.needs, c.command)
						missing++
						continue
					}
				}
				if m == sandbox.ModeLandlock && beyond(c.command) {
					without++
					continue
				}
				if !testenv.RunsNightly() && i%5 != 0 && tried[c.needs] {
					continue
				}
				tried[c.needs] = true
				ran++
				bench := newBench(t, func(e *AgentToolEnvironment) {
					for name, text := range project() {
						file := filepath.Join(e.Dir, name)
						if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
							t.Fatal(err)
						}
						if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
							t.Fatal(err)
						}
					}
					e.Readable = gate.SystemSettings()
					e.Box, e.Writable, e.Vars = b, []string{history(t, e.Dir)}, sandbox.AgentCommandEnv()
					if cache != "" && c.needs == "go" {
						e.Writable, e.Vars = append(e.Writable, cache), append(e.Vars, "GOCACHE="+cache)
					}
				})
				a := bench.call(t, "shell", map[string]any{"command": c.command})
				if a.Judged.Refused {
					t.Errorf("refused: %s: %+v", c.command, a.Judged)
				} else if a.Result.Failed || !strings.Contains(a.Result.Text, c.says) {
					t.Errorf("fails: %s: %.600s", c.command, a.Result.Text)
				}
			}
			t.Logf("%d commands ran, %d had no program here, %d need what this box has not", ran, missing, without)
		})
	}
}
