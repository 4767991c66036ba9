package tool

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

const program = "package a\n\nfunc One() int {\n\treturn 1\n}\n\nfunc Two() int {\n\treturn 1\n}\n"

func TestEditFile(t *testing.T) {
	b := newBench(t, nil)
	b.write(t, "a.go", program)
	a := b.call(t, "edit_file", m{"path": "a.go", "edits": []m{{"old": "func One", "new": "func Uno"}, {"old": "return 1", "new": "return 2", "all": true}}})
	if a.Result.Failed || !a.Changed || a.Result.Text != "edited a.go: lines 3-4 changed (before: 3-4); line 8 changed (before: 8)" {
		t.Errorf("got %+v", a)
	}
	before := b.read(t, "a.go")
	b.bad(t, "edit_file", m{"path": "a.go", "edits": []m{{"old": "Uno", "new": "x"}, {"old": "nowhere", "new": "y"}}}, "edit 2 of 2")
	if b.read(t, "a.go") != before {
		t.Error("half of it was written")
	}
	b.bad(t, "edit_file", m{"path": "none.go", "edits": []m{{"old": "a", "new": "b"}}}, "does not exist")
	b.bad(t, "edit_file", m{"path": "a.go", "edits": []m{{"old": "", "new": "b"}}}, "old")
}

func FuzzInput(f *testing.F) {
	for _, s := range []string{`{"path":"a"}`, `{"path":"a","offset":3,"limit":1}`, `{"path":"a","path":"b"}`, `{"Path":"a"}`, `{"path":"\ud800"}`, `[[[`, `{"path":1e999}`} {
		f.Add(s)
	}
	schema, err := resolveSchema(readFileTool(AgentToolEnvironment{}).Schema)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, input string) {
		if _, _, err := checkInput("no tool of ours", schema, json.RawMessage(input)); err != nil {
			return
		}
		// What passed means the same when it is read loosely and exactly.
		var loose struct {
			Path          string
			Offset, Limit int
		}
		var exact map[string]any
		if err := json.Unmarshal([]byte(input), &exact); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(input), &loose); err != nil {
			t.Skip(err) // an integer such as 1.0 or 1e30 is refused by its type later
		}
		if loose.Path != exact["path"] || fmt.Sprint(exact["offset"]) != "<nil>" && loose.Offset == 0 {
			t.Errorf("%s is read as %+v and %v", input, loose, exact)
		}
	})
}

// FuzzEdit makes edits from whatever a model sends: what is refused changes
// nothing, and what is done is what the edits say.
func FuzzEdit(f *testing.F) {
	for _, s := range []string{
		`{"path":"a","edits":[{"old":"b","new":"c"}]}`, `{"path":"a","edits":[{"old":"b","new":"c","all":true},{"old":"c","new":""}]}`,
		`{"path":"a","edits":[{"old":"b","OLD":"x","new":"c"}]}`, `{"path":"a","edits":[]}`, `{"path":"a","edits":[{"old":"\ud800","new":"\u0000"}]}`,
	} {
		f.Add(s, "a\nb\r\nc\n")
	}
	dir := f.TempDir()
	set, err := NewToolSet(AgentToolEnvironment{Dir: dir, Writes: true}, "edit_file")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, input, text string) {
		file := filepath.Join(dir, "a")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		a := set.Answer(t.Context(), llm.ToolCall{ID: "c", Tool: "edit_file", Input: json.RawMessage(input)})
		now, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if a.Result.Failed && string(now) != text || a.Changed == a.Result.Failed {
			t.Errorf("%s on %q: %+v, and it holds %q", input, text, a, now)
		}
		if left, _ := os.ReadDir(dir); a.Result.Failed && len(left) != 1 {
			t.Errorf("%s left %v", input, left)
		}
	})
}
