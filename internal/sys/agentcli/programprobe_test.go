package agentcli_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
)

// TestModels reads what programs print that are asked for their models, as Claude
// Code 2.1.332, Codex 0.169.0 and OpenCode 1.18.33 do.
func TestModels(t *testing.T) {
	for name, c := range map[string]struct {
		said  string
		args  string
		stdin bool
		want  []string
	}{
		"claude": {
			`{"type":"system","subtype":"status"}` + "\nnot JSON\n" + `{"type":"control_response","response":{"subtype":"success","request_id":"models","response":{"commands":[],"models":[` +
				`{"value":"default","displayName":"Default"},{"value":"opus"},{"value":"opus"},{"value":"a b"},{"value":"a\u202eb"},{"value":""}]}}}` + "\n",
			"-p --input-format stream-json", true,
			[]string{"default", "opus"},
		},
		"codex": {
			`{"models":[{"slug":"gpt-6-sol","visibility":"list"},{"slug":"codex-auto-review","visibility":"hide"},{"slug":"gpt-5.5"}]}`,
			"debug models", false,
			[]string{"gpt-6-sol", "gpt-5.5"},
		},
		"opencode": {
			"Database migration complete.\nopencode/big-pickle\nanthropic/claude/opus\n/etc/passwd\n" + strings.Repeat("x", 101) + "/y\n", "models", false,
			[]string{"opencode/big-pickle", "anthropic/claude/opus"},
		},
		"crush":  {"openai/gpt-5.5\n", "models", false, []string{"openai/gpt-5.5"}},
		"gemini": {},
	} {
		p := known(t, name)
		args, stdin := p.ModelArgs()
		if !strings.HasPrefix(strings.Join(args, " "), c.args) || (args == nil) != (c.args == "") || (len(stdin) > 0) != c.stdin {
			t.Errorf("%s is asked with %q and %q", name, args, stdin)
		}
		if got := p.ParseModels([]byte(c.said)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := known(t, "opencode").ParseModels([]byte(many())); len(got) != 500 {
		t.Errorf("%d of too many", len(got))
	}
}

// many is more models than anybody has.
func many() string {
	var b strings.Builder
	for i := range 600 {
		b.WriteString("a/" + strings.Repeat("b", i%90) + strings.Repeat("c", i/90) + "\n")
	}
	return b.String()
}

func known(t *testing.T, name string) agentcli.CLIAgentProgram {
	t.Helper()
	i := slices.IndexFunc(agentcli.KnownPrograms(), func(p agentcli.CLIAgentProgram) bool { return p.Name == name })
	if i < 0 {
		t.Fatal(name)
	}
	return agentcli.KnownPrograms()[i]
}

// TestLacks reads the help of programs: whole words count.
func TestLacks(t *testing.T) {
	for _, c := range []struct {
		name, help string
		lacks      []string
		resumes    bool
	}{
		{"gemini", "-o, --output-format  [choices: \"text\"]\n--approval-mode=MODE, --skip-trust\n-r, --resume [string]", nil, true},
		{"gemini", "--output-formats, --approval-mode --resume-at", []string{"--output-format", "--skip-trust"}, false},
		{"codex", "Commands:\n  resume  Resume a previous session\nOptions:\n      --json\n", nil, true},
		{"crush", "usage: crush run [--quiet] -D, --data-dir -C, --continue", nil, true},
		{"crush", "usage: crush run [--quiet]", []string{"--data-dir"}, false},
	} {
		if lacks, resumes := known(t, c.name).MissingFlags(c.help); !slices.Equal(lacks, c.lacks) || resumes != c.resumes {
			t.Errorf("%s: %q, %t; want %q, %t", c.name, lacks, resumes, c.lacks, c.resumes)
		}
	}
	for _, p := range agentcli.KnownPrograms() {
		if asked := p.HelpArgs() != nil; asked == (p.Speaks == "acp") { // which says it by its protocol
			t.Errorf("%s: asked for help: %t", p.Name, asked)
		}
		if mine := (agentcli.CLIAgentProgram{Name: "mine", Speaks: "text"}); mine.HelpArgs() != nil {
			t.Error("a program that nobody knows is asked")
		}
	}
}
