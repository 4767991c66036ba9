package gate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// TestRun changes the files of a change, and no others.
func TestRun(t *testing.T) {
	upper := func(files string) string {
		return "for f in " + files + "; do tr a-z A-Z <$f >$f.tmp && cat $f.tmp >$f; rm $f.tmp; done"
	}
	for name, tt := range map[string]struct {
		fix      stack.FixCommand
		dir      string
		files    []gate.FixedChangeFile
		want     string // the files that are in capitals afterwards
		commands int
	}{
		"the changed ones":             {fix: stack.FixCommand{Args: []string{"sh", "-c", upper(`"$@"`), "sh", "{files}"}}, files: []gate.FixedChangeFile{{Path: "a.x"}, {Path: "d/c.x"}}, want: "a.x d/c.x", commands: 1},
		"of one kind":                  {fix: stack.FixCommand{Args: []string{"sh", "-c", upper(`"$@"`), "sh", "{files}"}, Ends: []string{".y"}}, files: []gate.FixedChangeFile{{Path: "a.x"}, {Path: "b.y"}}, want: "b.y", commands: 1},
		"new ones":                     {fix: stack.FixCommand{Args: []string{"sh", "-c", upper(`"$@"`), "sh", "{files}"}, New: true}, files: []gate.FixedChangeFile{{Path: "a.x"}, {Path: "b.y", New: true}}, want: "b.y", commands: 1},
		"of its package":               {fix: stack.FixCommand{Args: []string{"sh", "-c", upper(`"$@"`), "sh", "{files}"}}, dir: "d", files: []gate.FixedChangeFile{{Path: "a.x"}, {Path: "d/c.x"}}, want: "d/c.x", commands: 1},
		"others are put back":          {fix: stack.FixCommand{Args: []string{"sh", "-c", upper("*.x *.y") + "; touch new; rm -f gone.x", "sh", "{files}"}}, files: []gate.FixedChangeFile{{Path: "a.x"}}, want: "a.x", commands: 1},
		"in their directories":         {fix: stack.FixCommand{Args: []string{"sh", "-c", upper(`"$1"/*.x`), "sh", "{dirs}"}}, files: []gate.FixedChangeFile{{Path: "d/c.x"}}, want: "d/c.x", commands: 1},
		"nothing changed":              {fix: stack.FixCommand{Args: []string{"sh", "-c", upper(`"$@"`), "sh", "{files}"}}},
		"a link":                       {fix: stack.FixCommand{Args: []string{"sh", "-c", upper(`"$@"`), "sh", "{files}"}}, files: []gate.FixedChangeFile{{Path: "link.x"}}},
		"what is gone":                 {fix: stack.FixCommand{Args: []string{"sh", "-c", upper(`"$@"`), "sh", "{files}"}}, files: []gate.FixedChangeFile{{Path: "nowhere.x"}}},
		"a name that is an option":     {fix: stack.FixCommand{Args: []string{"sh", "-c", upper(`"$@"`), "sh", "{files}"}}, files: []gate.FixedChangeFile{{Path: "-e.x"}}},
		"it says that more is wrong":   {fix: stack.FixCommand{Args: []string{"sh", "-c", upper(`"$@"`) + "; exit 1", "sh", "{files}"}}, files: []gate.FixedChangeFile{{Path: "a.x"}}, want: "a.x", commands: 1},
		"it changes nothing":           {fix: stack.FixCommand{Args: []string{"true", "{files}"}}, files: []gate.FixedChangeFile{{Path: "a.x"}}},
		"it is not installed":          {fix: stack.FixCommand{Args: []string{"no-such-tool", "{files}"}}, files: []gate.FixedChangeFile{{Path: "a.x"}}},
		"it deletes what it should do": {fix: stack.FixCommand{Args: []string{"rm", "{files}"}}, files: []gate.FixedChangeFile{{Path: "a.x"}}, want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			names := []string{"a.x", "b.y", "gone.x", "-e.x", "d/c.x", "d/e.y"}
			if err := os.Mkdir(filepath.Join(dir, "d"), 0o755); err != nil {
				t.Fatal(err)
			}
			for _, n := range names {
				if err := os.WriteFile(filepath.Join(dir, n), []byte("text of "+n), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink("a.x", filepath.Join(dir, "link.x")); err != nil {
				t.Fatal(err)
			}
			box, err := sandbox.FindSandbox(t.Context(), sandbox.ModeOff)
			if err != nil {
				t.Fatal(err)
			}
			r := gate.GateRunner{Box: box, Env: sandbox.AgentCommandEnv(), Timeout: time.Minute}
			g := gate.QualityGate{Name: "lint", Dir: tt.dir, Format: "exit", Fix: []stack.FixCommand{tt.fix, tt.fix}}
			d, err := gate.ApplyAutoFixes(t.Context(), r, gate.JudgedTreeDir{Dir: dir}, []gate.QualityGate{g}, tt.files)
			if err != nil {
				t.Fatal(err)
			}
			var capitals []string
			for _, n := range names {
				text, err := os.ReadFile(filepath.Join(dir, n))
				switch {
				case err == nil && string(text) == strings.ToUpper("text of "+n):
					capitals = append(capitals, n)
				case err != nil || string(text) != "text of "+n:
					t.Errorf("%s is %q, %v", n, text, err)
				}
			}
			if got := strings.Join(capitals, " "); got != tt.want || strings.Join(d.Files, " ") != tt.want || len(d.Commands) != tt.commands {
				t.Errorf("changed %s, want %s; says %+v", got, tt.want, d)
			}
			if _, err := os.Lstat(filepath.Join(dir, "new")); err == nil {
				t.Error("a file was made")
			}
			if (d.String() == "") != (tt.want == "") {
				t.Errorf("%q", d)
			}
		})
	}
}
