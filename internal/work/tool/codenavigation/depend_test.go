package codenavigation

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

// TestDefinitionInADependency asks a real server for what a dependency declares,
// in a role that only reads, and reads the file that it names.
func TestDefinitionInADependency(t *testing.T) {
	testenv.NeedTool(t, "gopls")
	box, err := sandbox.FindSandbox(t.Context(), sandbox.ModeAuto)
	if errors.Is(err, &nexus.Error{Code: nexus.CodeSandbox}) {
		testenv.NeedMachine(t, "a sandbox", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/x\n\ngo 1.24\n",
		"x.go":   "package x\n\nimport \"strings\"\n\nfunc first(s string) string {\n\ta, _, _ := strings.Cut(s, \",\")\n\treturn a\n}\n\nvar _ = first\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(e tool.AgentToolEnvironment, input, name string) string {
		t.Helper()
		set, err := tool.NewToolSet(e, "read_file")
		if err != nil {
			t.Fatal(err)
		}
		defer set.Close()
		kit := &AgentLanguageServers{}
		defer kit.AddTool(t.Context(), set, e)()
		return set.Answer(t.Context(), llm.ToolCall{ID: "c", Tool: name, Input: json.RawMessage(input)}).Result.Text
	}
	e := tool.AgentToolEnvironment{Dir: dir, Box: box}
	for _, input := range []string{`{"op":"definition","path":"x.go","line":6,"name":"Cut"}`, `{"op":"definition","name":"strings.Cut"}`} {
		got := ask(e, input, toolName)
		at, _, ok := strings.Cut(got, ":")
		if !ok || !strings.HasSuffix(at, "/src/strings/strings.go") || !strings.Contains(got, ": func Cut(s, sep string)") {
			t.Errorf("%s: %q", input, got)
			continue
		}
		if text := ask(e, `{"path":"`+at+`"}`, "read_file"); !strings.HasPrefix(text, "// Copyright") {
			t.Errorf("%s: %.200q", at, text)
		}
	}
	e.Caches = []string{}
	if got := ask(e, `{"op":"definition","path":"x.go","line":6,"name":"Cut"}`, toolName); !strings.Contains(got, "[outside the worktree]") {
		t.Errorf("without caches: %q", got)
	}
}
