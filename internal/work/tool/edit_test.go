package tool

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

const program = "package a\n\nfunc One() int {\n\treturn 1\n}\n\nfunc Two() int {\n\treturn 1\n}\n"

func TestApply(t *testing.T) {
	for _, c := range []struct {
		name  string
		text  string
		edits []edit
		want  string
		err   string // what the error says; empty for none
	}{
		{"one", program, []edit{{Old: "One", New: "Uno"}}, strings.Replace(program, "One", "Uno", 1), ""},
		{"several in order", "a b", []edit{{Old: "a", New: "x"}, {Old: "x b", New: "y"}}, "y", ""},
		{"all", program, []edit{{Old: "return 1", New: "return 2", All: true}}, strings.ReplaceAll(program, "return 1", "return 2"), ""},
		{"deletes", "a b", []edit{{Old: " b"}}, "a", ""},
		{"ambiguous", program, []edit{{Old: "return 1", New: "x"}}, "", "2 times, on lines 4, 8"},
		{"white space", program, []edit{{Old: "func Two() int {\n    return 1\n}", New: "x"}}, "", "lines 7-9 differ from it in white space only. They are:\nfunc Two() int {\n\treturn 1\n}"},
		{"nearest", program, []edit{{Old: "func Two(n int) int {\n\treturn n + 1\n}", New: "x"}}, "", "Nearest are lines 7-9:\nfunc Two() int {"},
		{"nothing like it", program, []edit{{Old: "SELECT * FROM t", New: "x"}}, "", "nor anything like it"},
		{"made before", program, []edit{{Old: "func Uno", New: "func One"}}, "", "made before"},
		{"same", program, []edit{{Old: "One", New: "One"}}, "", "the same"},
		{"empty", program, []edit{{New: "x"}}, "", "empty"},
		{"second fails", "a b", []edit{{Old: "a", New: "x"}, {Old: "q", New: "y"}}, "", "edit 2 of 2"},
		{"keeps CRLF", "a\r\nb\r\nc\r\n", []edit{{Old: "a\nb\n", New: "x\ny\nz\n"}}, "x\r\ny\r\nz\r\nc\r\n", ""},
		{"CRLF given", "a\r\nb\r\n", []edit{{Old: "a\r\nb", New: "x\r\ny"}}, "x\r\ny\r\n", ""},
		{"mixed line ends stay", "a\r\nb\nc", []edit{{Old: "b\nc", New: "x\ny"}}, "a\r\nx\ny", ""},
		{"no regular expressions", "a.b $1", []edit{{Old: ".", New: "$1"}}, "a$1b $1", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, did, err := apply(c.text, c.edits)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("got %v", err)
				}
				return
			}
			if err != nil || got != c.want || len(did) != len(c.edits) {
				t.Errorf("got %q, %q, %v", got, did, err)
			}
		})
	}
}

func TestEditFile(t *testing.T) {
	b := newBench(t, nil)
	b.write(t, "a.go", program)
	a := b.call(t, "edit_file", m{"path": "a.go", "edits": []m{{"old": "func One", "new": "func Uno"}, {"old": "return 1", "new": "return 2", "all": true}}})
	if a.Result.Failed || !a.Changed || a.Result.Text != "edited a.go: 1 replaced at line 3; 2 replaced at line 4, 8" {
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

func FuzzApply(f *testing.F) {
	f.Add(program, "return 1", "return 2", true)
	f.Add("a\r\nb\r\n", "a\nb", "x", false)
	f.Add("aaa", "aa", "a", true)
	f.Fuzz(func(t *testing.T, text, before, after string, all bool) {
		got, did, err := apply(text, []edit{{Old: before, New: after, All: all}})
		if err != nil {
			if got != "" || did != nil {
				t.Errorf("an error with %q", got)
			}
			return
		}
		n := strings.Count(text, before)
		if n == 0 && !strings.Contains(text, "\r\n") {
			t.Errorf("%q became %q", text, got)
		}
		if n == 1 && !strings.Contains(text, "\r\n") && got != strings.Replace(text, before, after, 1) {
			t.Errorf("%q became %q", text, got)
		}
		if strings.Contains(text, "\r\n") && strings.Count(text, "\r\n") == strings.Count(text, "\n") &&
			!strings.Contains(text, "\r\r") && !strings.Contains(before+after, "\r") && strings.Count(got, "\r\n") != strings.Count(got, "\n") {
			t.Errorf("line ends are mixed: %q", got)
		}
	})
}

func FuzzInput(f *testing.F) {
	for _, s := range []string{`{"path":"a"}`, `{"path":"a","offset":3,"limit":1}`, `{"path":"a","path":"b"}`, `{"Path":"a"}`, `{"path":"\ud800"}`, `[[[`, `{"path":1e999}`} {
		f.Add(s)
	}
	schema, err := resolve(readFile(Env{}).Schema)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, input string) {
		if check(schema, json.RawMessage(input)) != nil {
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

func FuzzPath(f *testing.F) {
	for _, s := range []string{"a", "../a", "/tmp/tree/a", "/tmp/tree-evil/a", "a/../../b", "/tmp/tree/../x", ".git", "a/.GIT/b", "//a", "a\x00b", "\xff", "."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got, err := Env{Dir: "/tmp/tree"}.clean(name, true)
		if err != nil {
			return
		}
		if got == "" || got[0] == '/' || got == ".." || strings.HasPrefix(got, "../") || strings.Contains(got, "/../") || strings.ContainsRune(got, 0) {
			t.Errorf("%q became %q", name, got)
		}
		for part := range strings.SplitSeq(got, "/") {
			if strings.EqualFold(part, ".git") {
				t.Errorf("%q became %q", name, got)
			}
		}
	})
}
