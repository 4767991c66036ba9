package codedoc

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nexus-ai-builder/nexus/internal/decide/memoryentry"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/work/codemap"
)

const id = "0123456789012345678901234567890123456789"

func document() CodeDocument {
	return CodeDocument{
		Name: "api", Made: "2026-11-26", Commit: id, Text: "# API\n\n## One\n\na.go has One.\n\n```\n## none\n```\n\n## Two\n\nb.go has Two.",
		From: []DocumentSourceFile{{"a.go", id}, {"b.go", id}},
	}
}

// TestParse reads what was written back, and names what is wrong with a head.
func TestParse(t *testing.T) {
	d := document()
	got, err := ParseDocument(Dir+"/api.md", []byte(d.String()))
	if diff := cmp.Diff(d, got, cmpopts.IgnoreUnexported(CodeDocument{})); diff != "" || err != nil || got.IsEdited() {
		t.Errorf("%v %v\n%s", err, got.IsEdited(), diff)
	}
	edited, err := ParseDocument("api.md", []byte(strings.Replace(d.String(), "has Two", "had Two", 1)))
	if err != nil || !edited.IsEdited() {
		t.Errorf("%v %+v", err, edited)
	}
	own, err := ParseDocument("api.md", []byte("\ufeffMine.\r\nAll.\n"))
	if err != nil || !own.IsEdited() || own.Text != "Mine.\nAll." || own.From != nil {
		t.Errorf("%v %+v", err, own)
	}
	for change, want := range map[string]string{
		"commit: " + id + "=commit: HEAD":                `api.md:3: "HEAD" is not the name of a commit`,
		"commit: " + id + "\n=":                          "api.md:6: the head lacks a commit",
		"text: =text: 1":                                 "is not the hash of a text",
		"from: " + id + " a.go=from: a.go":               `api.md:5: "a.go" is not the hash and the path of a file`,
		"from: " + id + " a.go=from: " + id + " ../a.go": "is not the hash and the path of a file",
		"made: =maid: ":                                  `api.md:2: unknown field "maid"`,
		"---\n\n# API=# API":                             "api.md:7: unknown field",
		"has Two=has\x1b[2J":                             "characters that are not text",
	} {
		was, is, _ := strings.Cut(change, "=")
		text := strings.Replace(d.String(), was, is, 1)
		if _, err := ParseDocument("api.md", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", change, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(document().String())
	f.Add("---\nfrom: x\n---")
	f.Add("## A\n```\n## B")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ParseDocument("x.md", []byte(text))
		if err != nil {
			return
		}
		d.SplitSections()
		if len(d.From) == 0 {
			return
		}
		again, err := ParseDocument("x.md", []byte(d.String()))
		if err != nil || again.Text != d.Text || again.IsEdited() || !cmp.Equal(again.From, d.From) {
			t.Fatalf("%v\n%q\n%q", err, d.String(), again.String())
		}
	})
}

// TestSections: what is in a fence has no heading, and a title alone is no section.
func TestSections(t *testing.T) {
	want := []DocumentSection{{"One", "## One\n\na.go has One.\n\n```\n## none\n```"}, {"Two", "## Two\n\nb.go has Two."}}
	if diff := cmp.Diff(want, document().SplitSections()); diff != "" {
		t.Error(diff)
	}
}

// TestRecall tells the sections of a task, with what is to be said of them, and
// nothing of a document that was made from what is hidden.
func TestRecall(t *testing.T) {
	dir := t.TempDir()
	gittest.RunGit(t, dir, "init", "-q", "-b", "main", ".")
	gittest.WriteFiles(t, dir, map[string]string{"a.go": "package a\n", "b.go": "package b\n", "c.go": "package c\n", "hidden/x": "x\n"})
	gittest.RunGit(t, dir, "add", ".")
	gittest.RunGit(t, dir, "commit", "-qm", "one")
	head, repo := gittest.RunGit(t, dir, "rev-parse", "HEAD"), git.Repo{Dir: filepath.Join(dir, ".git")}
	blob := func(name string) string { return gittest.RunGit(t, dir, "rev-parse", "HEAD:"+name) }
	s := DocStore{Top: dir, Tokens: 1_000}
	cost := func(text string) int64 { return int64(len(text)) }
	recall := func() []RelevantDocumentSection {
		t.Helper()
		told, err := s.FindRelevantSections(t.Context(), repo, head, memoryentry.MemoryTaskQuery{Files: []string{"b.go"}, Text: "Change b.go"}, cost)
		if err != nil {
			t.Fatal(err)
		}
		return told
	}
	if told := recall(); told != nil {
		t.Errorf("%+v", told)
	}
	d := document()
	d.From = []DocumentSourceFile{{"a.go", blob("a.go")}, {"b.go", blob("b.go")}, {"c.go", blob("c.go")}}
	put := func() {
		t.Helper()
		if _, err := s.WriteDocument(d); err != nil {
			t.Fatal(err)
		}
	}
	put()
	want := RelevantDocumentSection{Doc: "api", Title: "Two", Text: "## Two\n\nb.go has Two.", Why: "file b.go", Tokens: 21}
	if diff := cmp.Diff([]RelevantDocumentSection{want}, recall()); diff != "" {
		t.Error(diff)
	}
	d.From[0].Blob = id
	put()
	if told := recall(); len(told) != 1 || told[0].Note != "out of date: of the 3 files that it was made from, 1 changed since: a.go" || told[0].Left != "" {
		t.Errorf("%+v", told)
	}
	d.From[1].Blob = id
	put()
	if told := recall(); len(told) != 1 || told[0].Left != "out of date: 2 of the 3 files that it was made from changed" {
		t.Errorf("%+v", told)
	}
	d.From = []DocumentSourceFile{{"b.go", blob("b.go")}, {"hidden/x", blob("hidden/x")}}
	put()
	gittest.WriteFiles(t, dir, map[string]string{".nexusignore": "hidden/\n"})
	if told := recall(); len(told) != 0 {
		t.Errorf("%+v", told)
	}
	d.From = d.From[:1]
	put()
	s.Tokens = 20
	if told := recall(); len(told) != 1 || !strings.HasPrefix(told[0].Left, "it needs about 21 tokens") {
		t.Errorf("%+v", told)
	}
	if err := os.Remove(filepath.Join(dir, Dir, "api.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../a.go", filepath.Join(dir, Dir, "api.md")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.WriteDocument(d); err == nil {
		t.Error("a link was followed or replaced")
	}
	if _, problems, err := s.LoadDocuments(); err != nil || len(problems) != 1 {
		t.Error(problems, err)
	}
}

// TestMake: what cannot be used goes back with the reason, three times at most.
func TestMake(t *testing.T) {
	dir := t.TempDir()
	gittest.RunGit(t, dir, "init", "-q", "-b", "main", ".")
	gittest.WriteFiles(t, dir, map[string]string{"a.go": "package a\n\n// TODO: more\nfunc A() {}\n", "b.txt": "b\n", "a_test.go": "package a\n"})
	gittest.RunGit(t, dir, "add", ".")
	gittest.RunGit(t, dir, "commit", "-qm", "one")
	head, repo := gittest.RunGit(t, dir, "rev-parse", "HEAD"), git.Repo{Dir: filepath.Join(dir, ".git")}
	survey, err := codemap.SurveyCommit(t.Context(), repo, head, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, topic := range DocumentTopics() {
		j, err := PrepareDocumentJob(t.Context(), survey, head, topic)
		want := map[bool]string{true: "a_test.go", false: "a.go"}[topic.Name == "tests"]
		if err != nil || len(j.Files) != 1 || j.Files[0].Path != want || j.Map == "" || j.EstimateInputTokens() == 0 {
			t.Errorf("%s: %v %+v", topic.Name, err, j)
		}
	}
	j, err := PrepareDocumentJob(t.Context(), survey, head, DocumentTopics()[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		says []string
		back string // what the last question says
		ok   bool
	}{
		{[]string{`{"document": "## A", "files": ["b.txt", "/a.go"]}`}, "", true},
		{[]string{`{"document": "A", "files": ["no.txt"]}`, `{"document": "## A", "files": ["b.txt"]}`}, `files names "no.txt"`, true},
		{[]string{`{"document": "A"}`, `{"document": "A", "files": []}`, `{"document": "## A\u001b", "files": []}`}, "no second-level heading", false},
	} {
		n, last := 0, ""
		d, err := MakeDocument(t.Context(), survey, j, func(_ context.Context, _ nexus.SessionID, text string) (json.RawMessage, error) {
			n, last = n+1, text
			return json.RawMessage(c.says[n-1]), nil
		})
		if (err == nil) != c.ok || n != len(c.says) || !strings.Contains(last, c.back) {
			t.Errorf("%q: %d questions, %v\n%s", c.says, n, err, last)
		}
		if c.ok && (len(d.From) != 2 || d.From[1].Path != "b.txt" || d.Commit != head) {
			t.Errorf("%+v", d)
		}
	}
}
