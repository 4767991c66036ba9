package agent_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestSystemPrompts(t *testing.T) {
	roles, err := agent.LoadRoleDefinitions(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []nexus.Role{nexus.Planner, nexus.Coder, nexus.Tester, nexus.Reviewer, nexus.Merger, nexus.Router, nexus.Scout, nexus.Verifier, nexus.Reproducer, nexus.Checker, nexus.Specifier, nexus.Researcher, nexus.Documenter, nexus.Editor, nexus.Explainer} {
		r, ok := roles[name]
		if !ok || r.Name != name {
			t.Fatalf("role %s: %+v", name, r)
		}
		golden(t, string(name)+".golden", prompt.SystemPrompt(r.Prompt, nil, prompt.RoleEnvironment{}))
	}
	golden(t, "assistant.golden", prompt.StandaloneSystemPrompt(roles[nexus.Assistant].Prompt, nil))
	if len(roles) != 18 {
		t.Errorf("%d roles", len(roles))
	}
}

// TestOrders holds what a role is told with each strategy to what it may do
// then: its own text, which is the same with all of them, and the order of work.
func TestOrders(t *testing.T) {
	roles, err := agent.LoadRoleDefinitions(nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := &nexus.TestsRunWithoutWork{Proof: nexus.ProofRed, Files: []string{"a_test.go"}, Tests: []string{"TestA"}}
	var all strings.Builder
	for _, s := range nexus.Strategies() {
		for _, role := range []nexus.Role{nexus.Tester, nexus.Coder, nexus.Verifier, nexus.Reviewer} {
			order := prompt.TestOrderText(s, role, seen)
			if order != "" {
				fmt.Fprintf(&all, "== %s, %s\n\n%s\n\n", role, s, strings.TrimSpace(order))
			}
			text := roles[role].Prompt + "\n" + order
			says := func(part string) bool { return strings.Contains(text, part) }
			may := func(file string) bool { // as the attempt grants it
				own, rule := roles[role].Writes.MakeWriteCheck(), repair.FileWriteRule(s, role)
				return (own == nil || own(file) == nil || repair.MayWriteBeyondRights(s, role)) && (rule == nil || rule(file) == nil)
			}
			for part, want := range map[string]bool{
				"Change test files only":           role == nexus.Tester && !repair.MayWriteBeyondRights(s, role),
				"Change only tests and their data": role == nexus.Tester && repair.MayWriteBeyondRights(s, role) && !may("a.go"),
				"add the smallest stubs":           role == nexus.Tester && may("a.go"),
				"cannot change a test file":        role == nexus.Coder && !may("a_test.go"),
				"test what you add":                role == nexus.Coder && s == nexus.TestAfter,
				"Write the tests first":            role == nexus.Coder && s == nexus.TDDSimple,
				"The code is written":              role == nexus.Tester && !s.UsesSeparateSessions(),
				"the code does not exist yet":      role == nexus.Tester && s.UsesSeparateSessions(),
				"The tests are written":            role == nexus.Coder && s.UsesSeparateSessions(),
				"The tests were written first":     role == nexus.Verifier && s.UsesSeparateSessions(),
			} {
				if says(part) != want {
					t.Errorf("%s with %s says %q: %v", role, s, part, !want)
				}
			}
		}
	}
	golden(t, "orders.golden", all.String())
}

// TestPermissionMatrix is what each role may do, as it was agreed.
func TestPermissionMatrix(t *testing.T) {
	roles, err := agent.LoadRoleDefinitions(nil)
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		writes agent.RoleWriteScope
		has    string
	}
	want := map[nexus.Role]row{
		nexus.Planner:  {agent.WriteNothing, "read_file search_code list_files git request_context scout ask finish"},
		nexus.Coder:    {agent.WriteAll, "read_file write_file edit_file search_code list_files shell job git request_context request_replan scout ask finish"},
		nexus.Tester:   {agent.WriteTests, "read_file write_file edit_file search_code list_files shell job git request_context finish"},
		nexus.Reviewer: {agent.WriteNothing, "read_file search_code list_files git request_context finish"},
		nexus.Merger:   {agent.WriteAll, "read_file write_file edit_file search_code list_files shell job git finish"},
		nexus.Editor:   {agent.WriteAll, "read_file write_file edit_file search_code list_files shell job git finish"},
		nexus.Router:   {agent.WriteNothing, "finish"},
		nexus.Scout:    {agent.WriteNothing, "read_file search_code list_files git request_context finish"},
		nexus.Verifier: {agent.WriteNothing, "read_file search_code list_files git finish"},
		nexus.Checker:  {agent.WriteNothing, "read_file search_code list_files finish"},

		nexus.Reproducer: {agent.WriteNothing, "read_file search_code list_files finish"},

		nexus.Specifier:  {agent.WriteNothing, "read_file search_code list_files git finish"},
		nexus.Researcher: {agent.WriteNothing, "read_file search_code list_files git finish"},
		nexus.Documenter: {agent.WriteNothing, "read_file search_code list_files finish"},

		nexus.Explainer: {agent.WriteNothing, "finish"},
		nexus.Suggester: {agent.WriteNothing, "read_file search_code list_files finish"},

		nexus.Interviewer: {agent.WriteNothing, "read_file search_code list_files git finish"},

		nexus.Assistant: {agent.WriteAll, "read_file write_file edit_file search_code list_files shell job"},
	}
	for name, r := range roles {
		if got := (row{r.Writes, strings.Join(r.Tools, " ")}); got != want[name] {
			t.Errorf("%s: %+v", name, got)
		}
		rule := r.Writes.MakeWriteCheck()
		for file, test := range map[string]bool{"a.go": false, "a_test.go": true, "testdata/x": true, "nexus.toml": false} {
			if may := rule == nil || rule(file) == nil; may != (r.Writes == agent.WriteAll || r.Writes == agent.WriteTests && test) {
				t.Errorf("%s writes %s: %v", name, file, may)
			}
		}
	}
	if agent.RoleWriteScope("").MakeWriteCheck()("a_test.go") == nil {
		t.Error("a scope that nobody set lets files be written")
	}
}

const good = "---\ntier: strong\ntools: [read_file, finish]\nturns: 7\nmax_tokens: 1000\n---\n\nYou code.\n"

func TestRolesAreOverridden(t *testing.T) {
	roles, err := agent.LoadRoleDefinitions(fstest.MapFS{"coder.md": {Data: []byte(good)}, "notes.txt": {Data: []byte("no role")}})
	if err != nil {
		t.Fatal(err)
	}
	want := agent.RoleDefinition{Name: nexus.Coder, Tier: nexus.Strong, Tools: []string{"read_file", "finish"}, Writes: agent.WriteAll, Turns: 7, MaxTokens: 1000, Map: true, Prompt: "You code."}
	if diff := cmp.Diff(want, roles[nexus.Coder]); diff != "" {
		t.Error(diff)
	}
	blind, err := agent.LoadRoleDefinitions(fstest.MapFS{"coder.md": {Data: []byte(strings.Replace(good, "turns", "map: false\nturns", 1))}})
	if err != nil || blind[nexus.Coder].Map {
		t.Errorf("a role that wants no map is shown one: %v", err)
	}
	own, err := agent.LoadRoleDefinitions(nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(own[nexus.Tester], roles[nexus.Tester]); diff != "" {
		t.Error(diff)
	}
}

func TestBadRolesAreNamed(t *testing.T) {
	with := func(old, new string) string { return strings.Replace(good, old, new, 1) }
	cases := []struct{ name, file, text, want string }{
		{"no front matter", "coder", "You code.", "front matter is missing"},
		{"not closed", "coder", "---\ntier: fast\n", "front matter is missing"},
		{"empty front matter", "coder", "---\n---\nYou code.", `tier "" is not one of`},
		{"unknown key", "coder", with("turns", "truns"), "truns"},
		{"key twice", "coder", with("turns: 7", "turns: 7\nturns: 8"), "turns"},
		{"wrong type", "coder", with("turns: 7", "turns: many"), "many"},
		{"unknown tier", "coder", with("strong", "mighty"), `tier "mighty" is not one of fast, balanced, strong`},
		{"unknown tool", "coder", with("read_file", "rm"), `there is no tool "rm"; there are read_file`},
		{"tool twice", "coder", with("read_file", "finish"), "the tool finish is given twice"},
		{"no finish", "coder", with(", finish", ""), "tools must include finish"},
		{"answers and submits", "assistant", with("turns: 7", "answers: true"), "a role that answers in text must have neither the tool finish nor force"},
		{"turns", "coder", with("turns: 7", "turns: -1"), "turns -1 is not from 0 to 1000"},
		{"tokens", "coder", with("max_tokens: 1000", "max_tokens: 1"), "max_tokens 1 is not from 256 to 128000"},
		{"no prompt", "coder", with("You code.", ""), "the prompt is empty"},
		{"unknown role", "codr", good, "there is no such role; there are assistant, checker, coder, documenter, editor, explainer, interviewer, merger, planner, reproducer, researcher, reviewer, router, scout, specifier, suggester, tester"},
		{"more tools", "reviewer", with("read_file", "shell"), `it may not have the tool "shell"`},
		{"writes more", "tester", with("turns", "writes: tree\nturns"), `it may not write "tree"; it may write "tests"`},
		{"writes anything", "coder", with("turns", "writes: home\nturns"), `writes "home" is not one of none, tests, tree`},
		{"large", "coder", good + strings.Repeat("x", 70_000), "the maximum is 65536"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := agent.LoadRoleDefinitions(fstest.MapFS{c.file + ".md": {Data: []byte(c.text)}})
			e, ok := errors.AsType[*nexus.Error](err)
			if !ok || e.Code != nexus.CodeInvalidConfig || !strings.Contains(e.Error(), c.want) || !strings.Contains(e.Error(), c.file) || !strings.Contains(e.Hint, c.file+".md") {
				t.Errorf("%v (%#v), want %q", err, e, c.want)
			}
		})
	}
}

// TestOwnRoles holds what a role of the repository's own may be: a reader that has no more than reviewers have, or an
// editor that has no more than editors have.
func TestOwnRoles(t *testing.T) {
	ours, err := agent.LoadRoleDefinitions(nil)
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{
		"steward.md": {Data: []byte("---\n---\nYou read.")},
		"scribe.md":  {Data: []byte("---\nwrites: tests\ntools: [write_file, finish]\ntier: strong\nturns: 3\n---\nYou write.")},
	}
	roles, err := agent.LoadRoleDefinitions(files, "steward", "scribe", "absent")
	if err != nil || len(roles) != len(ours)+2 {
		t.Fatal(len(roles), err)
	}
	read, edit := ours[nexus.Reviewer], ours[nexus.Editor]
	read.Prompt, edit.Prompt, edit.Tools, edit.Tier, edit.Turns, edit.Writes = "You read.", "You write.", []string{"write_file", "finish"}, nexus.Strong, 3, agent.WriteTests
	if d := cmp.Diff([]agent.RoleDefinition{read, edit}, []agent.RoleDefinition{roles["steward"], roles["scribe"]}); d != "" {
		t.Error(d)
	}
	for text, want := range map[string]string{
		"---\ntools: [read_file, shell, finish]\nwrites: none\n---\nx": `it may not have the tool "shell"; it may have read_file, search_code`,
		"---\ntools: [edit_file, finish]\n---\nx":                      "does not say what it writes; add writes: tree",
		"---\ntools: [ask, finish]\nwrites: tree\n---\nx":              `it may not have the tool "ask"; it may have read_file, write_file`,
		"---\ntools: [read_file]\n---\nx":                              "tools must include finish",
		"---\nanswers: true\n---\nx":                                   "answers has no effect in a step of the pipeline",
		"---\nwrites: home\n---\nx":                                    `writes "home" is not one of none, tests, tree`,
		"---\n---\n":                                                   "the prompt is empty",
		"You read.":                                                    "front matter is missing",
	} {
		_, err := agent.LoadRoleDefinitions(fstest.MapFS{"steward.md": {Data: []byte(text)}}, "steward")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func FuzzParseRole(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte("---\ntier: &a [*a]\n---\nx"))
	f.Add([]byte("---\r\ntier: fast\r\n---\r\nx"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := agent.ParseRole("coder", data)
		if err != nil {
			return
		}
		if !r.Tier.IsKnown() || r.Prompt == "" || len(r.Tools) == 0 || r.Turns < 0 || r.MaxTokens < 0 {
			t.Errorf("%+v", r)
		}
	})
}
