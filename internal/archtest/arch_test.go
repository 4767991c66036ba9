// Package archtest holds the rules of ARCHITECTURE.md as a test: who may
// import whom, where each library lives, and how large a package may grow.
package archtest

import (
	"encoding/json"
	"errors"
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
	"sys":    {"nexus", "stack"},
	"work":   {"nexus", "stack", "decide", "sys"},
	"run":    {"nexus", "stack", "decide", "sys", "work"},
	"app":    {"nexus", "stack", "decide", "sys", "work", "run"},
	"face":   {"nexus", "decide", "sys"},
}

// caller is the face that starts everything: it and its packages alone may call
// app, and import other faces and the floors below app.
const caller = "face/cli"

func isCaller(name string) bool { return name == caller || strings.HasPrefix(name, caller+"/") }

// shared is the room that every face may draw with; it shows nothing itself.
const shared = "face/view"

// nowhere is where a library lives that keeps the linker from dropping methods
// that nothing calls.
const nowhere = "no package: it makes the program larger"

// oracle is where libraries live that the program must not link: a module of
// its own, whose packages are not among those that are looked at here.
const oracle = "the module internal/oracle"

// homes names the only packages that may import a library.
var homes = map[string][]string{
	"database/sql":            {"sys/journal"},
	"modernc.org/":            {"sys/journal"},
	"os/exec":                 {"sys/git", "sys/git/gittest", "sys/sandbox", "sys/testenv"},
	"go.temporal.io/":         {"run/temporal"},
	"charm.land/":             {"face/tui", "face/view"},
	"github.com/spf13/cobra":  {"face/cli", "face/cli/frame", "face/cli/work", "face/cli/watch", "face/cli/look", "face/cli/bench", "face/cli/check", "face/cli/quarantine", "face/cli/progress"},
	"html/template":           {nowhere},
	"text/template":           {nowhere},
	"github.com/anthropics/":  {oracle},
	"github.com/openai/":      {oracle},
	"google.golang.org/":      {oracle},
	"github.com/knadh/koanf":  {"sys/config"},
	"mvdan.cc/sh/":            {"decide/policy", "decide/policy/shell", "decide/policy/chain", "decide/screen"},
	"github.com/zalando/":     {"sys/key"},
	"github.com/reviewdog/":   {"stack/read/lint"},
	"github.com/zricethezav":  {"sys/secret/leak"},
	"github.com/modelcontext": {"sys/mcp", "sys/mcp/mcptest"},
	"github.com/sourcegraph/": {"sys/lsp"},
}

// impure lists what the deciding floors may not touch, so that the same
// state always leads to the same decision.
var impure = []string{"os", "os/exec", "net", "net/http", "database/sql", "math/rand", "math/rand/v2", "sync"}

const maxLines = 3000 // of code, rows of tables aside: a smoke alarm, since a package is as large as its idea

type pkg struct {
	ImportPath, Dir, Doc string
	GoFiles, Imports     []string
}

func TestArchitecture(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Dir,Doc,GoFiles,Imports", "../../...").Output()
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(strings.NewReader(string(out)))
	seen := 0
	for {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		seen++
		if len(p.GoFiles) > 0 {
			t.Run(p.ImportPath, func(t *testing.T) { check(t, p) })
		}
	}
	if seen < 3 {
		t.Fatalf("go list named %d packages", seen)
	}
}

func check(t *testing.T, p pkg) {
	t.Helper()
	if p.Doc == "" {
		t.Error("has no package comment")
	}
	lines := 0
	for _, f := range p.GoFiles {
		data, err := os.ReadFile(filepath.Join(p.Dir, f))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") && !row(line) {
				lines++
			}
		}
	}
	if lines > maxLines {
		t.Errorf("has %d lines of code, more than %d: is there a second idea in it?", lines, maxLines)
	}
	name, inside := strings.CutPrefix(p.ImportPath, internal)
	if !inside {
		return
	}
	for _, imp := range p.Imports {
		checkImport(t, name, imp)
	}
}

// row reports whether a line is a row of a table.
func row(line string) bool { return strings.HasPrefix(line, "{") && strings.HasSuffix(line, "},") }

func checkImport(t *testing.T, name, imp string) {
	t.Helper()
	from, _, _ := strings.Cut(name, "/")
	if dep, ok := strings.CutPrefix(imp, internal); ok {
		to, _, _ := strings.Cut(dep, "/")
		if !isCaller(name) && to != from && !slices.Contains(may[from], to) {
			t.Errorf("imports %s: floor %q may not import floor %q", dep, from, to)
		}
		if from == "face" && to == "face" && !isCaller(name) && dep != shared && !strings.HasPrefix(dep, name+"/") {
			t.Errorf("imports %s: faces do not know each other", dep)
		}
		return
	}
	for lib, home := range homes {
		if strings.HasPrefix(imp, lib) && !slices.Contains(home, name) {
			t.Errorf("imports %s, which lives in %s", imp, strings.Join(home, ", "))
		}
	}
	if (from == "decide" || from == "nexus" || from == "stack") && slices.Contains(impure, imp) {
		t.Errorf("imports %s: floor %q decides and does not act", imp, from)
	}
}
