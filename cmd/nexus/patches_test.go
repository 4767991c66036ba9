package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

// patched is a project in one language, with bugs and red tests, and the edits that patches of it
// are made of.
type patched struct {
	Language string            `yaml:"language"`
	Needs    string            `yaml:"needs"` // program without which its tests do not run
	Link     map[string]string `yaml:"link"`
	Test     string            `yaml:"test"` // command of the gate
	Files    map[string]string `yaml:"files"`
	Edits    map[string]edit   `yaml:"edits"`
	Green    string            `yaml:"green"` // command that passes before the work
	Check    map[string]any    `yaml:"check"` // what a reproducer writes for [patch.checked]
}

// patch is what somebody who writes submits for a goal, in any language.
type patch struct {
	name, goal   string
	before, does []string // edits that are in the base, and those of the patch
	args         func(patched) []string
	checked      bool // a reproducer writes its check
	lands        bool
}

const (
	goalParse  = "a number with a fraction, a unit in lower case and a number without a space before its unit cannot be parsed"
	goalRender = "1536 is rendered as 1 K, and is 1.5 K"
	goalTest   = "add a test for render"
)

// patches are what docs/acceptance.md takes and refuses for bugs, and for tests that are asked for.
func patches() []patch {
	parsed := []string{"fraction", "lower", "space"}
	whole := append([]string{"untested"}, parsed...) // nothing is red
	return []patch{
		{name: "whole", goal: goalParse, does: parsed, lands: true},
		{name: "one of three", goal: goalParse, does: parsed[:1]},
		{name: "two of three", goal: goalParse, does: parsed[1:]},
		{name: "another bug", goal: goalParse, does: []string{"precision"}},
		{name: "deleted tests", goal: goalParse, does: []string{"ungone"}},
		{name: "other values", goal: goalParse, does: []string{"weakfraction", "weaklower", "weakspace"}},
		{name: "half and other values", goal: goalParse, does: []string{"lower", "weakfraction", "weakspace"}},
		{name: "skipped tests", goal: goalParse, does: []string{"skip"}},
		{name: "comment", goal: goalParse, does: []string{"comment"}},
		{name: "right with own test", goal: goalRender, before: whole, does: []string{"precision", "truetest"}, checked: true, lands: true},
		{name: "wrong with own test", goal: goalRender, before: whole, does: []string{"rounds", "owntest"}, checked: true},
		{name: "still", goal: "render still shows 1536 as 1 K", before: whole, does: []string{"remark"}, args: func(p patched) []string {
			return []string{"--check", p.Green}
		}},
		{name: "test that asserts nothing", goal: goalTest, before: whole, does: []string{"hollow"}},
		{name: "test", goal: goalTest, before: whole, does: []string{"asserts"}, lands: true},
	}
}

// TestPatches submits patches that show a criterion and patches that do not, in three languages, to
// reviewers who agree to everything.
func TestPatches(t *testing.T) {
	testenv.NeedToolchains(t)
	data, err := os.ReadFile("testdata/patches.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var all []patched
	if err := yaml.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		t.Run(p.Language, func(t *testing.T) {
			t.Parallel()
			testenv.NeedTool(t, p.Needs)
			stages := map[string]*stage{} // by what is in their base: its verdicts are shared
			for _, one := range patches() {
				base := strings.Join(one.before, " ")
				if stages[base] == nil {
					stages[base] = p.stage(t, one.before)
				}
				t.Run(one.name, func(t *testing.T) { p.submit(t, stages[base], one) })
			}
		})
	}
}

// stage makes the repository.
func (p patched) stage(t *testing.T, before []string) *stage {
	t.Helper()
	s := newStage(t, program(t), sample{script: []byte("conversations: []"), write: func(dir string) error {
		for name, text := range p.edited(t, before) {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				return err
			}
		}
		for name, to := range p.Link {
			if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
				return err
			}
		}
		conf := "[gates]\nbuild = false\nlint = false\ntype = false\nformat = false\ntest = \"" + p.Test + "\"\n"
		return os.WriteFile(filepath.Join(dir, "nexus.toml"), []byte(conf), 0o600)
	}})
	s.env = append(s.env, "NEXUS_ACCEPTANCE_CHECKS=off", "NEXUS_DONE_COVERAGE=off", "GOFLAGS=-trimpath")
	return s
}

// edited returns the files with edits.
func (p patched) edited(t *testing.T, names []string) map[string]string {
	t.Helper()
	files := maps.Clone(p.Files)
	for _, name := range names {
		e, ok := p.Edits[name]
		now := strings.ReplaceAll(files[e.File], e.Old, e.New)
		if !ok || now == files[e.File] {
			t.Fatalf("%s: edit %q changes nothing", p.Language, name)
		}
		files[e.File] = now
	}
	return files
}

// submit lets a patch be written, and sees whether it lands.
func (p patched) submit(t *testing.T, s *stage, one patch) {
	t.Helper()
	base, now := p.edited(t, one.before), p.edited(t, slices.Concat(one.before, one.does))
	var calls []llmtest.ScriptCall
	for name, text := range now {
		if text != base[name] {
			calls = append(calls, llmtest.ScriptCall{Tool: "write_file", Input: map[string]any{"path": name, "content": text}})
		}
	}
	script := scriptOf(calls)
	if one.checked {
		script.Conversations = append(script.Conversations, reproducerOf(p.Check))
	}
	server, stop, err := llmtest.StartServer(t.Context(), script, llmtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	s.env = append(s.env, "ANTHROPIC_BASE_URL="+server.URL(), "OPENAI_BASE_URL="+server.URL()+"/v1")
	args := []string{"quick", one.goal, "--strategy", "no-test", "--headless"} // nobody else writes tests
	if one.args != nil {
		args = append(args, one.args(p)...)
	}
	cmd, out := s.start(args...)
	_ = cmd.Wait() // its exit code tells
	code := cmd.ProcessState.ExitCode()
	if landed := code == 0; landed != one.lands || !one.lands && strings.Contains(out.String(), "landed on ") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if strings.Contains(out.String(), "not-run") {
		t.Errorf("a gate did not run:\n%s", out)
	}
	if one.checked && one.lands && !strings.Contains(out.String(), "fails without the change and passes with it") {
		t.Errorf("nobody checked it independently:\n%s", out)
	}
}
