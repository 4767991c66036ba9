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
	for name, want := range map[string]program.ProgramRule{
		"echo": {Answer: "allow", Rule: "text.print", Operands: "text"},
		"cat":  {Answer: "allow", Rule: "file.read", Operands: "read", Asked: []string{"--files0-from"}},
		"grep": {Answer: "allow", Rule: "file.search", Operands: "pattern"},
		"tree": {Answer: "allow", Rule: "file.read", Operands: "read", Asked: []string{"-o"}},
	} {
		got, ok := program.FindProgram(name)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || !ok {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for _, name := range []string{"", "programs", "|", "nosuch", "--files0-from"} {
		if e, ok := program.FindProgram(name); ok || e.Answer != "" {
			t.Errorf("%q: %+v", name, e)
		}
	}
	for _, c := range []struct {
		e    program.ProgramRule
		want bool
	}{
		{program.ProgramRule{Answer: "allow", Operands: "read"}, true},
		{program.ProgramRule{Answer: "allow", Operands: "pattern"}, true},
		{program.ProgramRule{Answer: "allow", Operands: "read", Asked: []string{"--files0-from"}}, true},
		{program.ProgramRule{Answer: "allow", Operands: "read", Asked: []string{"-o"}}, false},
		{program.ProgramRule{Answer: "allow", Operands: "read", Asked: []string{"--files0-from", "-o"}}, false},
		{program.ProgramRule{Answer: "allow", Operands: "write"}, false},
		{program.ProgramRule{Answer: "ask", Operands: "read"}, false},
		{program.ProgramRule{}, false},
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
		}{{"power", program.IsPowerfulVariable}, {"harmless", program.IsHarmlessVariable}, {"known", program.IsKnownVariable}, {"hidden", program.IsHiddenVariable}} {
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
		if got := (plain{program.IsToggle(name, value), program.IsPlainSetting(name, value)}); got != want {
			t.Errorf("%s: %+v", setting, got)
		}
	}
	if !program.IsPlainSetting("FOO_MODE", strings.Repeat("a", 200)) || program.IsPlainSetting("FOO_MODE", strings.Repeat("a", 201)) {
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
	find := func(name string) program.VerbRules {
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
	if !zig.AllowsVerb("build", "x") || zig.AllowsVerb("init", "x") || zig.AddsDependencies("build") || zig.WordsBeforeProgram("build", "") != -1 || zig.TakesDirectory("--cwd") || zig.TakesValue("-in") {
		t.Errorf("%+v", zig)
	}
	if !openssl.TakesValue("-in") || openssl.TakesValue("-rand") || openssl.TakesDirectory("-in") || !openssl.AllowsOption("-rand") || !openssl.AllowsOption("-bogus") {
		t.Errorf("%+v", openssl)
	}
}

// TestVerbsOfStacks holds what the table says of programs of languages: verbs of two words, what brings dependencies, what
// runs another program, and which options are known.
func TestVerbsOfStacks(t *testing.T) {
	find := func(name string) program.VerbRules {
		v, _ := program.FindVerbs(name)
		return v
	}
	npm, cargo, mvn := find("npm"), find("cargo"), find("mvn")
	npx, composer, rails, gradle, yarn := find("npx"), find("composer"), find("rails"), find("gradle"), find("yarn")
	for what, ok := range map[string]bool{
		"npx takes only what it knows":  npx.Only && npx.AllowsOption("--no-install") && !npx.AllowsOption("-c") && !npx.AllowsOption("only"),
		"npx runs what stands there":    npx.WordsBeforeProgram("eslint", "") == 0,
		"others take any option":        !npm.Only && npm.AllowsOption("--bogus"),
		"a short verb is denied whole":  !composer.AllowsVerb("cc", "") && composer.AllowsVerb("ccx", "") && !rails.AllowsVerb("r", "") && !rails.AllowsVerb("c", "") && rails.AllowsVerb("routes", ""),
		"a longer one by its beginning": !rails.AllowsVerb("runners", "") && !rails.AllowsVerb("db", "") && rails.AllowsVerb("db:migrate", "") && !rails.AllowsVerb("destroy:secrets", ""),
		"a task of a project":           !gradle.AllowsVerb(":lib:publishAll", "") && gradle.AllowsVerb(":publish-x:test", "") && !gradle.AllowsVerb("publish-x:test", "") && gradle.AllowsVerb(":lib:test", ""),
		"a verb of two words of yarn":   yarn.AllowsVerb("workspaces", "list") && !yarn.AllowsVerb("workspaces", "bogus") && yarn.WordsBeforeProgram("workspaces", "foreach") == 2 && yarn.WordsBeforeProgram("exec", "foreach") == 1,
		"an option just as it is":       mvn.NeedsQuestionExactly("-s") && mvn.NeedsQuestionExactly("--file=x") && !mvn.NeedsQuestionExactly("-X=/a b") && !npm.NeedsQuestionExactly("-Dfoo=/a b"),
		"a property that is known":      !mvn.NeedsQuestionExactly("-Dtests=/a b") && !mvn.NeedsQuestionExactly("-Dx.skip=/a b") && !mvn.NeedsQuestionExactly("-DskipIt=/a b") && mvn.NeedsQuestionExactly("-Dtestsuite=/a b"),
		"npm ci":                        npm.AllowsVerb("ci", ""),
		"npm does not publish":          !npm.AllowsVerb("publish", ""),
		"npm install brings":            npm.AddsDependencies("install") && npm.AllowsVerb("install", ""),
		"npm ci brings nothing":         !npm.AddsDependencies("ci"),
		"npm exec runs":                 npm.WordsBeforeProgram("exec", "x") == 1,
		"npm ci runs nothing":           npm.WordsBeforeProgram("ci", "x") == -1,
		"npm works in a directory":      npm.TakesDirectory("--prefix"),
		"cargo build":                   cargo.AllowsVerb("build", ""),
		"cargo does not publish":        !cargo.AllowsVerb("publish", ""),
		"any other program of cargo":    cargo.AllowsVerb("nextest", "") && !cargo.AllowsVerb("-x", ""),
		"one of cargo that is denied":   !cargo.AllowsVerb("install", "") && !cargo.AllowsVerb("install-update", "") && !cargo.AllowsVerb("fuzz", "run"),
		"two words of cargo":            cargo.AllowsVerb("fuzz", "list") && !cargo.AllowsVerb("fuzz", ""),
		"a short word is denied whole":  !find("cargo").AllowsVerb("wix", "") && cargo.AllowsVerb("ne", ""),
		"mvn does any goal":             mvn.AllowsVerb("test", "") && mvn.AllowsVerb("compile", ""),
		"mvn deploys nothing":           !mvn.AllowsVerb("deploy", "") && !mvn.AllowsVerb("deploy:deploy", ""),
		"an option is no goal":          !mvn.AllowsVerb("--bogus", ""),
		"what is skipped":               !mvn.NeedsQuestionExactly("-DskipTests") && !mvn.NeedsQuestionExactly("-Dx.skip=true") && !mvn.NeedsQuestionExactly("-Dtest=Foo"),
		"a plain property":              !mvn.NeedsQuestionExactly("-Dfoo.level=a") && !mvn.NeedsQuestionExactly("-Dfoo=true"),
		"a property that is a program":  mvn.NeedsQuestionExactly("-Dexec.executable=sh") && mvn.NeedsQuestionExactly("-Dfoo=/x y"),
		"an option that is not exact":   !mvn.NeedsQuestionExactly("-X"),
	} {
		if !ok {
			t.Error(what)
		}
	}
}
