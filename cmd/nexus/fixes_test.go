package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
)

// realFix is a fix that was made in a public library, with its tests.
type realFix struct {
	Repo  string `yaml:"repo"`  // owner/name; its clone is owner+name
	Fix   string `yaml:"fix"`   // commit
	Goal  string `yaml:"goal"`  // the bug, as a user would say it
	Test  string `yaml:"test"`  // command of the gate
	Other string `yaml:"other"` // another fix of the library; its tests are red, too, where its patch is played
	Half  []int  `yaml:"half"`  // hunks of the fix that half of it has, from 1
	Weak  []edit `yaml:"weak"`  // make the red tests expect what the code does

	wrong string         // a patch that does not repair it, with a test of its own that passes
	check map[string]any // of it, as somebody submitted it who saw nothing of any patch
}

// edit replaces a text of a file wherever it is.
type edit struct{ File, Old, New string }

// TestRealFixes plays patches for bugs of public libraries: what is right has to land, and nothing
// else. Clones of them are in $NEXUS_FIXES; $NEXUS_FIXES_OF has parts of the names of those to play,
// and $NEXUS_FIXES_KINDS the patches.
func TestRealFixes(t *testing.T) {
	clones := os.Getenv("NEXUS_FIXES")
	if clones == "" {
		t.Skip("NEXUS_FIXES names no directory of clones")
	}
	all := realFixes(t)
	kinds := strings.Fields(cmp.Or(os.Getenv("NEXUS_FIXES_KINDS"), "true half other gone weak comment right wrong"))
	for _, f := range all {
		name := f.Repo + " " + f.Fix
		if of := strings.Fields(os.Getenv("NEXUS_FIXES_OF")); len(of) > 0 && !slices.ContainsFunc(of, func(one string) bool { return strings.Contains(name, one) }) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			row := f.play(t, filepath.Join(clones, strings.ReplaceAll(f.Repo, "/", "+")), kinds)
			t.Logf("| %s | %s | %s | %s |", f.Repo, f.Fix, f.Goal, strings.Join(row, " | "))
		})
	}
}

// realFixes returns the fixes of the manifest, with their wrong patches where there are some.
func realFixes(t *testing.T) (all []realFix) {
	t.Helper()
	read := func(name string, to any) {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err == nil {
			err = yaml.Unmarshal(data, to)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	read("fixes.yaml", &all)
	var checks []struct {
		Repo, Fix string
		Check     map[string]any
	}
	read("wrong/checks.yaml", &checks)
	for i, f := range all {
		for _, c := range checks {
			if c.Repo == f.Repo && c.Fix == f.Fix {
				all[i].check = c.Check
			}
		}
		diff, err := os.ReadFile(filepath.Join("testdata", "wrong", strings.ReplaceAll(f.Repo, "/", "+")+"-"+f.Fix+".diff"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		all[i].wrong = string(diff)
	}
	return all
}

// play submits patches and returns how each ended. Those for one base share its verdicts.
func (f realFix) play(t *testing.T, clone string, kinds []string) (row []string) {
	t.Helper()
	var shared *stage
	for _, kind := range kinds {
		if kind == "half" && len(f.Half) == 0 || kind == "other" && f.Other == "" || kind == "weak" && len(f.Weak) == 0 || brings(kind) && f.wrong == "" {
			row = append(row, "-")
			continue
		}
		laid := filepath.Join(t.TempDir(), "laid")
		script := scriptOf(f.lay(t, clone, laid, kind))
		independent := "off"
		if brings(kind) {
			independent = "auto"
			script.Conversations = append(script.Conversations, reproducerOf(f.check))
		}
		s := shared
		if s == nil || kind == "other" || kind == "right" {
			s = newStage(t, program(t), sample{script: []byte("conversations: []"), write: func(dir string) error { return os.Rename(laid, dir) }})
			if deps := filepath.Join(clone+".over", "node_modules"); isDir(deps) {
				if err := os.CopyFS(filepath.Join(s.repo, "node_modules"), os.DirFS(deps)); err != nil {
					t.Fatal(err)
				}
			}
			s.env = append(s.env, "NEXUS_ACCEPTANCE_CHECKS=off", "NEXUS_DONE_COVERAGE=off", "GOFLAGS=-trimpath")
		}
		if kind != "other" {
			shared = s
		}
		server, stop, err := llmtest.StartServer(t.Context(), script, llmtest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		s.env = append(s.env, "ANTHROPIC_BASE_URL="+server.URL(), "OPENAI_BASE_URL="+server.URL()+"/v1", "NEXUS_ACCEPTANCE_INDEPENDENT="+independent)
		cmd, out := s.start("quick", f.Goal, "--strategy", "no-test", "--headless")
		_ = cmd.Wait() // its exit code tells
		stop()
		code := cmd.ProcessState.ExitCode()
		if landed := code == 0; landed != (kind == "true" || kind == "right") || !landed && strings.Contains(out.String(), "landed on ") {
			t.Errorf("%s: exit code %d\n%s", kind, code, out)
		}
		row = append(row, fmt.Sprintf("%d, %.0f s", code, time.Since(begun).Seconds()))
		for line := range strings.Lines(out.String()) {
			if strings.Contains(line, "independent check") {
				t.Log(strings.TrimSpace(line))
			}
		}
		t.Logf("%s: %s", kind, row[len(row)-1])
	}
	return row
}

// lay writes the library as it was before the fix, with the tests of it, and returns what the
// author of a patch does.
func (f realFix) lay(t *testing.T, clone, dir, kind string) []llmtest.ScriptCall {
	t.Helper()
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return string(out)
	}
	files := func(fix string, tests bool) (some []string) {
		for file := range strings.FieldsSeq(run("diff", "--name-only", "--no-renames", fix+"^", fix)) {
			if stack.IsProse(file) || stack.ServesTests(file) != tests {
				continue
			}
			some = append(some, file)
		}
		return some
	}
	diff := func(fix string, tests bool) string {
		return run(append([]string{"diff", "--no-renames", fix + "^", fix, "--"}, files(fix, tests)...)...)
	}
	apply := func(patch string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"apply", "--recount"}, args...)...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(patch)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %s: apply %v: %s", f.Fix, kind, args, out)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	run("clone", "--quiet", "--shared", "--no-checkout", clone, ".")
	run("checkout", "--quiet", "--force", "--detach", f.Fix+"^")
	if !brings(kind) {
		apply(diff(f.Fix, true))
	}
	if kind == "other" { // its bug is there, too
		before := exec.CommandContext(t.Context(), "git", "merge-base", "--is-ancestor", f.Other, f.Fix)
		before.Dir = dir
		if before.Run() == nil {
			apply(diff(f.Other, false), "--reverse")
		} else {
			apply(diff(f.Other, true), "-C1")
		}
	}
	conf := fmt.Sprintf("[gates]\nbuild = false\nlint = false\ntype = false\nformat = false\ntest = %q\n", f.Test)
	if err := os.WriteFile(filepath.Join(dir, "nexus.toml"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pnpm-lock.yaml", "package.json", "package-lock.json"} { // the tests alone need less than the whole project
		if data, err := os.ReadFile(filepath.Join(clone+".over", name)); err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o600)
			if err != nil {
				t.Fatal(err)
			}
		} else if isDir(clone + ".over") {
			_ = os.Remove(filepath.Join(dir, name)) // a lock of another program
		}
	}
	run("add", "--all")
	run("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "--quiet", "-m", "Tests of a bug")

	switch kind {
	case "true":
		apply(diff(f.Fix, false))
	case "right":
		apply(diff(f.Fix, false))
		apply(diff(f.Fix, true))
	case "wrong":
		apply(f.wrong, "--unidiff-zero")
	case "half":
		apply(hunks(diff(f.Fix, false), f.Half))
	case "other":
		apply(diff(f.Other, false), "-C1")
	case "gone":
		apply(diff(f.Fix, true), "--reverse")
	case "weak":
		for _, e := range f.Weak {
			replace(t, filepath.Join(dir, e.File), e.Old, e.New)
		}
	case "comment":
		file := files(f.Fix, false)[0]
		remark(t, filepath.Join(dir, file), diff(f.Fix, false))
	}
	var calls []llmtest.ScriptCall
	for file := range strings.FieldsSeq(run("diff", "--name-only", "--no-renames", "HEAD")) {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		calls = append(calls, llmtest.ScriptCall{Tool: "write_file", Input: map[string]any{"path": file, "content": string(text)}})
	}
	run("reset", "--quiet", "--hard")
	if err := os.RemoveAll(filepath.Join(dir, ".git")); err != nil { // what comes after the base is no one's to see
		t.Fatal(err)
	}
	return calls
}

// scriptOf is a model whose coder makes some calls, and in which everybody else agrees.
func scriptOf(calls []llmtest.ScriptCall) llmtest.Script {
	finish := func(input map[string]any) llmtest.ScriptTurn {
		return llmtest.ScriptTurn{Calls: []llmtest.ScriptCall{{Tool: "finish", Input: input}}}
	}
	done := finish(map[string]any{"summary": "Done.", "status": "done"})
	first := llmtest.ScriptTurn{Calls: slices.Concat(calls, done.Calls)}
	return llmtest.Script{Conversations: []llmtest.ScriptConversation{
		{Match: "T*/coder.*", Turns: []llmtest.ScriptTurn{first, done, done, done}},
		{Match: "T*/reviewer.*", Turns: []llmtest.ScriptTurn{finish(map[string]any{"approved": true, "summary": "Good.", "findings": []any{}})}},
		{Match: "T*/verifier.*", Turns: []llmtest.ScriptTurn{finish(map[string]any{
			"approved": true, "criteria": []any{map[string]any{"criterion": 1, "met": true}},
			"quality": map[string]any{"rating": "good", "issues": []any{}}, "reasoning": "It does what the goal says.",
		})}},
	}}
}

// brings reports whether a patch brings the tests that show it, and nothing is red before.
func brings(kind string) bool { return kind == "right" || kind == "wrong" }

// reproducerOf submits a check.
func reproducerOf(check map[string]any) llmtest.ScriptConversation {
	said := maps.Clone(check)
	said["criterion"] = 1
	return llmtest.ScriptConversation{Match: "T*/reproducer.*", Turns: []llmtest.ScriptTurn{
		{Calls: []llmtest.ScriptCall{{Tool: "finish", Input: map[string]any{"checks": []any{said}}}}},
	}}
}

// hunks returns some hunks of a diff, counted from 1.
func hunks(diff string, some []int) string {
	var out strings.Builder
	n := 0
	for file := range strings.SplitSeq("\n"+diff, "\ndiff ") {
		head, rest, _ := strings.Cut(file, "\n@@ ")
		for hunk := range strings.SplitSeq(rest, "\n@@ ") {
			if rest == "" {
				continue
			}
			if n++; slices.Contains(some, n) {
				if head != "" {
					out.WriteString("diff " + head + "\n")
				}
				out.WriteString("@@ " + strings.TrimSuffix(hunk, "\n") + "\n")
				head = ""
			}
		}
	}
	return out.String()
}

// remark puts a comment at the first line of a file that a diff takes away or adds to.
func remark(t *testing.T, file, diff string) {
	t.Helper()
	_, hunk, _ := strings.Cut(diff, "\n@@ ")
	hunk, _, _ = strings.Cut(hunk, "\ndiff ")
	lines := strings.Split(hunk, "\n")[1:]
	i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "-") })
	if i < 0 {
		i = 0 // the first line around what is added
	}
	line := lines[i][1:]
	mark := "//"
	if filepath.Ext(file) == ".py" {
		mark = "#"
	}
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	replace(t, file, "\n"+line+"\n", "\n"+indent+mark+" This is as it should be.\n"+line+"\n")
}

func replace(t *testing.T, file, old, text string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	now := strings.ReplaceAll(string(data), old, text)
	if now == string(data) {
		t.Fatalf("%s has no %q", file, old)
	}
	if err := os.WriteFile(file, []byte(now), 0o600); err != nil {
		t.Fatal(err)
	}
}

func isDir(name string) bool {
	at, err := os.Stat(name)
	return err == nil && at.IsDir()
}
