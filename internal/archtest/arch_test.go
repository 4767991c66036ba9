// Package archtest holds the rules of ARCHITECTURE.md as a test: who may
// import whom, where each library lives, and how large a file, a line, a
// package and an interface may grow. Exceptions are in except_test.go.
package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const internal = "github.com/nexus-ai-builder/nexus/internal/"

// may lists the floors each floor may import. A floor may import itself.
var may = map[string][]string{
	"nexus":  {},
	"stack":  {"nexus"},
	"decide": {"nexus", "stack"},
	"view":   {"nexus", "stack", "decide"},
	"sys":    {"nexus", "stack"},
	"work":   {"nexus", "stack", "decide", "sys"},
	"run":    {"nexus", "stack", "decide", "sys", "work"},
	"app":    {"nexus", "stack", "decide", "view", "sys", "work", "run"},
	"face":   {"nexus", "stack", "decide", "view", "sys"},
}

// caller is the face that starts everything: it and its packages alone may call
// app, and import other faces and the floors below app.
const caller = "face/cli"

func isCaller(name string) bool { return name == caller || strings.HasPrefix(name, caller+"/") }

// shared is what several faces draw with and that reads git, follows journals or colours code; it
// shows nothing itself.
const shared = "face/common"

// nowhere is where a library lives that keeps the linker from dropping methods
// that nothing calls.
const nowhere = "no package: it makes the program larger"

// oracle is where libraries live that the program must not link: a module of
// its own, whose packages are not among those that are looked at here.
const oracle = "the module internal/oracle"

// homes names the only packages that may import a library.
var homes = map[string][]string{
	"database/sql":                {"sys/journal", "sys/textindex"},
	"modernc.org/":                {"sys/journal", "sys/textindex"},
	"os/exec":                     {"face/cli/bench", "sys/git", "sys/git/gittest", "sys/sandbox", "sys/testenv"},
	"charm.land/":                 {"view", "face/tui"},
	"github.com/spf13/cobra":      {"face/cli/..."},
	"html/template":               {nowhere},
	"text/template":               {nowhere},
	"github.com/anthropics/":      {oracle},
	"github.com/openai/":          {oracle},
	"google.golang.org/genai":     {oracle},
	"go.opentelemetry.io/":        {"face/telemetry"},
	"github.com/prometheus/":      {"face/metrics"},
	"github.com/google/go-github": {"sys/forge"},
	"gitlab.com/gitlab-org/":      {"sys/forge"},
	"github.com/knadh/koanf":      {"sys/config"},
	"mvdan.cc/sh/":                {"decide/policy", "decide/policy/shell", "decide/interactivecommand"},
	"github.com/zalando/":         {"sys/apikey"},
	"github.com/reviewdog/":       {"stack/outputparser/lint"},
	"github.com/zricethezav":      {"sys/secret/leak"},
	"github.com/modelcontext":     {"sys/mcp", "sys/mcp/mcpserver", "sys/mcp/mcptest"},
	"github.com/coder/acp":        {"sys/acp/acptest"},
	"github.com/alecthomas/":      {"face/common/highlight"},
	"github.com/sourcegraph/":     {"sys/lsp"},
	"github.com/wneessen/go-mail": {"face/notify/delivery"},
}

// impure lists what the deciding floors may not touch, so that the same
// state always leads to the same decision.
var impure = []string{"os", "os/exec", "net", "net/http", "database/sql", "math/rand", "math/rand/v2", "sync"}

// pkg is a package as go list tells of it.
type pkg struct {
	ImportPath, Dir, Doc, Name                         string
	GoFiles, IgnoredGoFiles, TestGoFiles, XTestGoFiles []string
	Imports                                            []string
}

// name is the path below the module, without internal.
func (p pkg) name() string {
	return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, internal), strings.TrimSuffix(internal, "internal/"))
}

// sized is a file of a package and what was measured in it.
type sized struct {
	source

	name string
	test bool
}

func (p pkg) sources(t *testing.T) []sized {
	t.Helper()
	var out []sized
	for _, f := range slices.Concat(p.GoFiles, p.IgnoredGoFiles, p.TestGoFiles, p.XTestGoFiles) {
		if !strings.HasSuffix(f, ".go") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(p.Dir, f))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(string(data), "// Code generated ") {
			continue // nobody reads it: what it is generated from is short
		}
		s, err := measure(f, string(data))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, sized{source: s, name: f, test: strings.HasSuffix(f, "_test.go")})
	}
	return out
}

// load lists the packages of this module.
func load(t *testing.T) []pkg {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-e", "-json=ImportPath,Dir,Doc,Name,GoFiles,IgnoredGoFiles,TestGoFiles,XTestGoFiles,Imports", "../../...")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []pkg
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) < 3 {
		t.Fatalf("go list named %d packages", len(all))
	}
	return all
}

func TestArchitecture(t *testing.T) {
	for _, p := range load(t) {
		if len(p.GoFiles) == 0 {
			continue
		}
		if p.Doc == "" {
			t.Errorf("%s has no package comment", p.name())
		}
		if !strings.HasPrefix(p.ImportPath, internal) {
			continue
		}
		for _, imp := range p.Imports {
			for _, wrong := range checkImport(p.name(), imp) {
				t.Errorf("%s imports %s: %s", p.name(), imp, wrong)
			}
		}
	}
}

// within reports whether a package is the home of a library, or below it if the home ends in /...
func within(name, home string) bool {
	above, all := strings.CutSuffix(home, "/...")
	return name == above || all && strings.HasPrefix(name, above+"/")
}

// TestImports shows each rule on who imports whom.
func TestImports(t *testing.T) {
	for _, c := range []struct {
		name, imp string
		wrong     bool
	}{
		{"decide/taskgraph", internal + "nexus", false},
		{"decide/taskgraph", internal + "sys/git", true},
		{"decide/taskgraph", "os", true},
		{"decide/taskgraph", internal + "view", true},
		{"view/projection", internal + "decide/state", false},
		{"view/projection", internal + "sys/git", true},
		{"view", "sync", true},
		{"work/land", internal + "view", true},
		{"run", internal + "view", true},
		{"nexus", "sync", true},
		{"sys/git", "sync", false},
		{"sys/git", internal + "decide/taskgraph", true},
		{"work/land", internal + "run", true},
		{"run", internal + "app", true},
		{"app", internal + "run", false},
		{"face/notify", internal + "work/land", true},
		{"face/notify", internal + "face/hook", true},
		{"face/notify", internal + shared, false},
		{"face/notify", internal + shared + "/part", false},
		{"face/notify", internal + "face/notify/part", false},
		{"face/notify/part", internal + "face/notify/other", false},
		{"face/notify/part", internal + "face/hook", true},
		{caller, internal + "app", false},
		{caller + "/watch", internal + "face/hook", false},
		{"work/land", "os/exec", true},
		{"sys/git", "os/exec", false},
		{"sys/git", "database/sql", true},
		{"sys/journal", "database/sql", false},
		{"face/cli", "text/template", true},
	} {
		if got := checkImport(c.name, c.imp); (len(got) > 0) != c.wrong {
			t.Errorf("%s imports %s: %q", c.name, c.imp, got)
		}
	}
}

// room returns the face that a package is a part of, such as face/web.
func room(name string) string {
	parts := strings.SplitN(name, "/", 3)
	return strings.Join(parts[:min(len(parts), 2)], "/")
}

// checkImport says what is wrong with a package that imports another one.
func checkImport(name, imp string) []string {
	var wrong []string
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	from, _, _ := strings.Cut(name, "/")
	if dep, ok := strings.CutPrefix(imp, internal); ok {
		to, _, _ := strings.Cut(dep, "/")
		if !isCaller(name) && to != from && !slices.Contains(may[from], to) {
			say("floor %q may not import floor %q", from, to)
		}
		if from == "face" && to == "face" && !isCaller(name) && room(dep) != shared && room(dep) != room(name) {
			say("faces do not know each other")
		}
		return wrong
	}
	for lib, home := range homes {
		if strings.HasPrefix(imp, lib) && !slices.ContainsFunc(home, func(h string) bool { return within(name, h) }) {
			say("it lives in %s", strings.Join(home, ", "))
		}
	}
	if slices.Contains([]string{"nexus", "stack", "decide", "view"}, from) && slices.Contains(impure, imp) {
		say("floor %q computes and does not act", from)
	}
	return wrong
}
