package stack_test

import (
	"flag"
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
)

var update = flag.Bool("update", false, "write what is expected of the samples, and docs/languages.md")

// TestConform holds each stack to its samples in testdata/conform: a small
// project, the gates that it has, and outputs of its tools with what they mean.
// An output lies at out/FORMAT/NAME, and its first line is its exit code.
func TestConform(t *testing.T) {
	for _, s := range stack.AllStacks() {
		t.Run(s.Name, func(t *testing.T) {
			wellFormed(t, s)
			file := path.Join("testdata/conform", s.Name+".txtar")
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			tree, want := fstest.MapFS{}, map[string]string{}
			var got []txtar.File
			outputs := 0
			for _, f := range a.Files {
				kind, name, _ := strings.Cut(f.Name, "/")
				switch kind {
				case "tree":
					tree[name] = &fstest.MapFile{Data: f.Data}
					got = append(got, f)
				case "out":
					got = append(got, f)
				default:
					want[f.Name] = string(f.Data)
				}
			}
			got = append(got, txtar.File{Name: "gates", Data: []byte(gates(s, tree))})
			for _, f := range a.Files {
				if name, is := strings.CutPrefix(f.Name, "out/"); is {
					outputs++
					got = append(got, txtar.File{Name: "means/" + name, Data: []byte(means(t, tree, name, string(f.Data)))})
				}
			}
			if outputs == 0 || len(gates(s, tree)) == 0 {
				t.Errorf("%d outputs, gates %q", outputs, gates(s, tree))
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(&txtar.Archive{Comment: a.Comment, Files: got}), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			for _, f := range got {
				if kind, _, _ := strings.Cut(f.Name, "/"); kind == "tree" || kind == "out" {
					continue
				}
				if d := cmp.Diff(want[f.Name], string(f.Data)); d != "" {
					t.Errorf("%s: %s", f.Name, d)
				}
			}
		})
	}
}

// gates lists what the sample of a stack is judged by.
func gates(s stack.Stack, tree fstest.MapFS) string {
	var b strings.Builder
	for _, f := range stack.FindGateCommands(tree) {
		if f.Stack != s.Name {
			continue
		}
		line, _, _ := strings.Cut(strings.Join(f.Args, " "), "\n")
		fmt.Fprintf(&b, "%s: %s (%s)", f.Name, line, f.Format)
		for _, can := range []struct {
			what string
			args []string
		}{{"related", f.Part.Args}, {"alone", f.Lone.Args}, {"held", f.Hold.Args}, {"cover", f.Goes.Args}} {
			if len(can.args) > 0 {
				b.WriteString(" " + can.what)
			}
		}
		for range f.Fix {
			b.WriteString(" fix")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// means reads an output of tools that ran in /w/app.
func means(t *testing.T, tree fstest.MapFS, name, text string) string {
	t.Helper()
	format, _, _ := strings.Cut(name, "/")
	if _, ok := stack.OutputFormats().FindFormat(format); !ok {
		t.Errorf("no format %q", format)
	}
	exit, out, _ := strings.Cut(text, "\n")
	code, err := strconv.Atoi(exit)
	if err != nil {
		t.Error(name, err)
	}
	r := stack.ReadOutput(outputparser.ToolOutput{Format: format, Stdout: []byte(out), Exit: code, Root: "/w/app", Find: stack.NewFileFinder(tree)})
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d passed, %d failed, %d skipped\n", r.State, r.Counts.Passed, r.Counts.Failed, r.Counts.Skipped)
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s:%d %q %s: %s\n", f.File, f.Line, f.Test, f.Code, strings.ReplaceAll(f.Message, "\n", " / "))
	}
	return b.String()
}

// wellFormed looks at the rows of a stack by themselves.
func wellFormed(t *testing.T, s stack.Stack) {
	t.Helper()
	x := s.Tests
	for _, pattern := range []string{x.Declares, x.Skips, x.Focuses, x.Asserts, x.Weak, x.Swallows, x.Quiets, x.Mocks, x.Reports, x.Inverts} {
		if re, err := regexp.Compile(pattern); err != nil || pattern != "" && re.MatchString("") {
			t.Errorf("it finds something in nothing: %q, %v", pattern, err)
		}
	}
	if s.Tests.Declares != "" && len(s.Tests.Ends) == 0 {
		t.Error("its tests are declared in no file")
	}
	for _, c := range s.Configs {
		for _, pattern := range []string{c.Runs, c.Narrows, c.Loads} {
			if _, err := regexp.Compile(pattern); err != nil || len(c.Files) == 0 {
				t.Error(c.Files, err)
			}
		}
		for _, f := range c.Files {
			if is, ok := stack.CheckConfigOf(strings.ReplaceAll(f, "*", "x") + map[bool]string{true: "x"}[strings.HasSuffix(f, "/")]); !ok || !slices.Equal(is.Files, c.Files) {
				t.Errorf("%s is not found, or is another one's: %v", f, is.Files)
			}
		}
	}
	for row := range strings.Lines(s.CommandRules) {
		if n := strings.Count(row, "|"); strings.TrimSpace(row) != "" && n != 3 && n != 4 {
			t.Errorf("no rule about a command: %s", row)
		}
	}
	for _, x := range s.Stores {
		if x.Name == "" || len(x.Tools) == 0 || x.Var == "" {
			t.Errorf("store %+v", x)
		}
	}
	for _, l := range s.Listings {
		if len(l.Files) == 0 || l.Packages == nil || len(l.Packages("")) > 0 {
			t.Errorf("listing %v", l.Files)
		}
	}
	surroundings(t, s)
	if s.Steps == nil {
		return
	}
	for _, step := range s.Steps() {
		for _, l := range step.Alone {
			if !slices.ContainsFunc(l.Args, func(w string) bool { return strings.HasSuffix(w, "{test}") }) || !isNamed(l.Name) {
				t.Errorf("it does not say which test runs: %v", l.Args)
			}
		}
		for _, h := range step.Held {
			if len(h.Args) == 0 {
				t.Error("held by no command")
			}
			if _, err := regexp.Compile(h.Told); err != nil {
				t.Error(err)
			}
		}
		for _, c := range step.Cover {
			if f, ok := stack.OutputFormats().FindFormat(c.Format); !ok || !f.IsCoverage() || len(c.Args) == 0 || c.Name == "" {
				t.Errorf("cover %+v", c)
			}
		}
	}
}

// isNamed reports whether some stack knows what runners call a test by such a name.
func isNamed(how string) bool {
	return slices.ContainsFunc(stack.AllStacks(), func(s stack.Stack) bool {
		return s.Namings != nil && slices.ContainsFunc(s.Namings(), func(n stack.TestNameConverter) bool { return n.Name == how && n.Word != nil })
	})
}

// surroundings looks at what the tools of a stack find around them.
func surroundings(t *testing.T, s stack.Stack) {
	t.Helper()
	pair, name := regexp.MustCompile(`^\w+=.`), regexp.MustCompile(`^\w+$`)
	e := s.Environment
	for _, v := range slices.Concat(e.Sets, e.Private, e.Offline, e.Proxied) {
		if !pair.MatchString(v) {
			t.Errorf("no variable with a value: %q", v)
		}
	}
	for _, v := range slices.Concat(e.Keeps, e.Trusts) {
		if !name.MatchString(v) {
			t.Errorf("no name of a variable: %q", v)
		}
	}
	for _, p := range e.Unreached {
		if re, err := regexp.Compile(p); err != nil || re.MatchString("") {
			t.Errorf("it says of anything that there was no network: %q, %v", p, err)
		}
	}
	for _, h := range s.Hosts {
		for _, host := range h.Hosts {
			if h.Name == "" || !regexp.MustCompile(`^[a-z0-9-]+(?:\.[a-z0-9-]+)+$`).MatchString(host) {
				t.Errorf("preset %q has no host %q", h.Name, host)
			}
		}
	}
	for _, x := range s.Servers {
		if x.Name == "" || len(x.Commands) == 0 || len(x.Ends) == 0 {
			t.Errorf("server %+v", x)
		}
	}
	for _, file := range s.Written {
		if !stack.IsToolWrittenFile(file) || file != strings.ToLower(file) {
			t.Errorf("%s is not told as a file that tools write", file)
		}
	}
	if s.Running != nil {
		for _, r := range s.Running() {
			if _, ok := stack.OutputFormats().FindFormat(r.Format); !ok || r.Test == nil {
				t.Errorf("what runs in %q", r.Format)
			}
		}
	}
}
