package program_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/program"
)

// TestFind reads the table of programs, and takes no line of words for a part of it.
func TestFind(t *testing.T) {
	for name, want := range map[string]program.Entry{
		"echo": {Answer: "allow", Rule: "text.print", Operands: "text"},
		"cat":  {Answer: "allow", Rule: "file.read", Operands: "read", Asked: []string{"--files0-from"}},
		"grep": {Answer: "allow", Rule: "file.search", Operands: "pattern"},
		"tree": {Answer: "allow", Rule: "file.read", Operands: "read", Asked: []string{"-o"}},
	} {
		got, ok := program.Find(name)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || !ok {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for _, name := range []string{"", "programs", "|", "nosuch", "--files0-from"} {
		if e, ok := program.Find(name); ok || e.Answer != "" {
			t.Errorf("%q: %+v", name, e)
		}
	}
	for _, c := range []struct {
		e    program.Entry
		want bool
	}{
		{program.Entry{Answer: "allow", Operands: "read"}, true},
		{program.Entry{Answer: "allow", Operands: "pattern"}, true},
		{program.Entry{Answer: "allow", Operands: "read", Asked: []string{"--files0-from"}}, true},
		{program.Entry{Answer: "allow", Operands: "read", Asked: []string{"-o"}}, false},
		{program.Entry{Answer: "allow", Operands: "read", Asked: []string{"--files0-from", "-o"}}, false},
		{program.Entry{Answer: "allow", Operands: "write"}, false},
		{program.Entry{Answer: "ask", Operands: "read"}, false},
		{program.Entry{}, false},
	} {
		if c.e.OnlyReads() != c.want {
			t.Errorf("%+v: %v", c.e, !c.want)
		}
	}
}

// TestVariables holds which variables have power, may be given, are known and are not to be seen.
func TestVariables(t *testing.T) {
	for name, want := range map[string]string{
		"PATH": "power known", "path": "power", "LD_X": "power", "http_proxy": "power", "GOFLAGS": "power known", "HOME": "power known", "GOOS": "harmless known", "goos": "", "TEST_X": "harmless known",
		"API_KEY": "hidden", "api_key": "hidden", "MY_TOKEN": "hidden", "USER": "known", "x": "", "": "", "deny": "", "#": "", "Variables": "", "JAVA_HOME": "known",
	} {
		var got []string
		for _, is := range []struct {
			name string
			is   func(string) bool
		}{{"power", program.Powerful}, {"harmless", program.Harmless}, {"known", program.Known}, {"hidden", program.Hidden}} {
			if is.is(name) {
				got = append(got, is.name)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}

// TestPlain holds which settings of variables that nobody knows are plain text.
func TestPlain(t *testing.T) {
	type plain struct{ toggle, plain bool }
	for setting, want := range map[string]plain{
		"FEATURE_X=true": {true, true}, "FEATURE_X=Off": {true, true}, "FEATURE_X=12.5": {true, true}, "FEATURE_X=123456789": {true, true}, "FEATURE_X=1234567890": {false, true}, "FEATURE_X=": {false, true},
		"X_PLUGIN=1": {false, false}, "X_PATH=1": {false, false}, "LD_X=1": {false, false}, "X_VERIFY=false": {false, false},
		"CC=gcc": {false, true}, "CC=gcc-12 -O2": {false, true}, "cc=clang": {false, true}, "CC=./x": {false, false}, "CC=gcc -B.": {false, false}, "CC=sh": {false, false}, "CXX=arm-linux-g++": {false, true},
		"CFLAGS=-O2 -g": {false, true}, "CFLAGS=x": {false, false}, "LDFLAGS=-Wl,/opt/x": {false, false}, "CFLAGS=-fplugin=x": {false, false}, "CFLAGS=-I../x": {false, false},
		"BUNDLE_GEMFILE=gemfiles/a.rb": {false, true}, "BUNDLE_GEMFILE=../a": {false, false}, "BUNDLE_GEMFILE=/a": {false, false},
		"FOO_MODE=fast": {false, true}, "FOO_MODE=a b,c": {false, true}, "FOO_MODE=$(x)": {false, false}, "FOO_MODE=/etc/x": {false, false}, "FOO_MODE=a:/x": {false, false}, "FOO_MODE=../x": {false, false}, "FOO_MODE=~x": {false, false},
		"FOO_MODE=a@b": {false, false}, "FOO_MODE=-Dplugin": {false, false}, "FOO_URL=http://localhost:80": {false, true}, "FOO_URL=http://127.0.0.1/x": {false, true}, "FOO_URL=http://a.example": {false, false}, "FOO_URL=x://": {false, false},
		"FOO_SCRIPT=a": {false, false}, "FOO_HOME=a": {false, false}, "RM=x": {false, false}, "AWK=x": {false, false}, "MY_AWK=x": {false, true}, "FOO_LIB=a": {false, false}, "GIT_X=a": {false, false},
	} {
		name, value, _ := strings.Cut(setting, "=")
		if got := (plain{program.Toggle(name, value), program.Plain(name, value)}); got != want {
			t.Errorf("%s: %+v", setting, got)
		}
	}
	if !program.Plain("FOO_MODE", strings.Repeat("a", 200)) || program.Plain("FOO_MODE", strings.Repeat("a", 201)) {
		t.Error("a long value")
	}
}

// TestVerbs reads the table of programs that are told by a word what to do.
func TestVerbs(t *testing.T) {
	for _, name := range []string{"", "program", "nosuch", "# program"} {
		if _, ok := program.FindVerbs(name); ok {
			t.Errorf("%q is there", name)
		}
	}
	find := func(name string) program.Verbs {
		v, ok := program.FindVerbs(name)
		if !ok {
			t.Fatalf("%s is not there", name)
		}
		return v
	}
	zig, openssl := find("zig"), find("openssl")
	if zig.Operands != "write" || zig.Only || !cmp.Equal(zig.Options, []string{"--build-file", "--zig-lib-dir", "--global-cache-dir", "--libc", "-fno-sanitize"}) {
		t.Errorf("%+v", zig)
	}
	if !zig.Does("build", "x") || zig.Does("init", "x") || zig.Brings("build") || zig.Runs("build", "") != -1 || zig.Dir("--cwd") || zig.Value("-in") {
		t.Errorf("%+v", zig)
	}
	if !openssl.Value("-in") || openssl.Value("-rand") || openssl.Dir("-in") || !openssl.Knows("-rand") || !openssl.Knows("-bogus") {
		t.Errorf("%+v", openssl)
	}
}

// TestVerbsOfStacks holds what the table says of programs of languages: verbs of two words, what brings dependencies, what
// runs another program, and which options are known.
func TestVerbsOfStacks(t *testing.T) {
	find := func(name string) program.Verbs {
		v, _ := program.FindVerbs(name)
		return v
	}
	npm, cargo, mvn := find("npm"), find("cargo"), find("mvn")
	npx, composer, rails, gradle, yarn := find("npx"), find("composer"), find("rails"), find("gradle"), find("yarn")
	for what, ok := range map[string]bool{
		"npx takes only what it knows":  npx.Only && npx.Knows("--no-install") && !npx.Knows("-c") && !npx.Knows("only"),
		"npx runs what stands there":    npx.Runs("eslint", "") == 0,
		"others take any option":        !npm.Only && npm.Knows("--bogus"),
		"a short verb is denied whole":  !composer.Does("cc", "") && composer.Does("ccx", "") && !rails.Does("r", "") && !rails.Does("c", "") && rails.Does("routes", ""),
		"a longer one by its beginning": !rails.Does("runners", "") && !rails.Does("db", "") && rails.Does("db:migrate", "") && !rails.Does("destroy:secrets", ""),
		"a task of a project":           !gradle.Does(":lib:publishAll", "") && gradle.Does(":publish-x:test", "") && !gradle.Does("publish-x:test", "") && gradle.Does(":lib:test", ""),
		"a verb of two words of yarn":   yarn.Does("workspaces", "list") && !yarn.Does("workspaces", "bogus") && yarn.Runs("workspaces", "foreach") == 2 && yarn.Runs("exec", "foreach") == 1,
		"an option just as it is":       mvn.Exact("-s") && mvn.Exact("--file=x") && !mvn.Exact("-X=/a b") && !npm.Exact("-Dfoo=/a b"),
		"a property that is known":      !mvn.Exact("-Dtests=/a b") && !mvn.Exact("-Dx.skip=/a b") && !mvn.Exact("-DskipIt=/a b") && mvn.Exact("-Dtestsuite=/a b"),
		"npm ci":                        npm.Does("ci", ""),
		"npm does not publish":          !npm.Does("publish", ""),
		"npm install brings":            npm.Brings("install") && npm.Does("install", ""),
		"npm ci brings nothing":         !npm.Brings("ci"),
		"npm exec runs":                 npm.Runs("exec", "x") == 1,
		"npm ci runs nothing":           npm.Runs("ci", "x") == -1,
		"npm works in a directory":      npm.Dir("--prefix"),
		"cargo build":                   cargo.Does("build", ""),
		"cargo does not publish":        !cargo.Does("publish", ""),
		"any other program of cargo":    cargo.Does("nextest", "") && !cargo.Does("-x", ""),
		"one of cargo that is denied":   !cargo.Does("install", "") && !cargo.Does("install-update", "") && !cargo.Does("fuzz", "run"),
		"two words of cargo":            cargo.Does("fuzz", "list") && !cargo.Does("fuzz", ""),
		"a short word is denied whole":  !find("cargo").Does("wix", "") && cargo.Does("ne", ""),
		"mvn does any goal":             mvn.Does("test", "") && mvn.Does("compile", ""),
		"mvn deploys nothing":           !mvn.Does("deploy", "") && !mvn.Does("deploy:deploy", ""),
		"an option is no goal":          !mvn.Does("--bogus", ""),
		"what is skipped":               !mvn.Exact("-DskipTests") && !mvn.Exact("-Dx.skip=true") && !mvn.Exact("-Dtest=Foo"),
		"a plain property":              !mvn.Exact("-Dfoo.level=a") && !mvn.Exact("-Dfoo=true"),
		"a property that is a program":  mvn.Exact("-Dexec.executable=sh") && mvn.Exact("-Dfoo=/x y"),
		"an option that is not exact":   !mvn.Exact("-X"),
	} {
		if !ok {
			t.Error(what)
		}
	}
}
