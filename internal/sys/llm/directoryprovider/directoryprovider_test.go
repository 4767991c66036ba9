package directoryprovider_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/directoryprovider"
)

func request() llm.Request {
	return llm.Request{
		Model: directoryprovider.ModelName, System: "You are a coder.", MaxTokens: 100, Force: llm.AnyTool,
		Tools: []llm.ToolDescription{{Name: "read_file", Description: "Reads a file.", Schema: json.RawMessage(`{"type":"object"}`)}},
		Messages: []llm.Message{
			llm.UserMessage("First."),
			{From: llm.Assistant, Parts: []llm.MessagePart{{Text: "I look."}, {Call: &llm.ToolCall{ID: "c1", Tool: "read_file", Input: json.RawMessage(`{"path":"a"}`)}}}},
			{From: llm.User, Parts: []llm.MessagePart{{Result: &llm.ToolResult{ID: "c1", Text: "```\nno such file\n```", Failed: true}}}},
		},
	}
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func text(t *testing.T, path ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestAnswerComesFromAFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "made")
		var resp llm.Response
		var err error
		var heard []llm.AnswerDelta
		var wait sync.WaitGroup
		wait.Go(func() {
			resp, err = directoryprovider.DirectoryProvider{Dir: dir}.Stream(t.Context(), request(), func(d llm.AnswerDelta) { heard = append(heard, d) })
		})
		time.Sleep(time.Hour) // of the bubble: nobody answers for long
		var asked directoryprovider.Request
		if err := json.Unmarshal([]byte(text(t, dir, "0001", "request.json")), &asked); err != nil {
			t.Fatal(err)
		}
		if r := request(); asked.System != r.System || asked.Force != "*" || cmp.Diff(asked.Messages, r.Messages) != "" || len(asked.Tools) != 1 {
			t.Errorf("asked %+v", asked)
		}
		put(t, filepath.Join(dir, "0001"), "answer.json", `{"text": "Done`)
		time.Sleep(1050 * time.Millisecond) // between two looks
		if got := text(t, dir, "0001", "error.txt"); !strings.HasPrefix(got, "answer.json: write {") {
			t.Errorf("a broken answer leads to %q", got)
		}
		put(t, filepath.Join(dir, "0001"), "answer.json", `{"text": "Done.", "calls": [{"tool": "read_file", "input": {"path": "b"}}, {"tool": "finish"}]}`)
		wait.Wait()
		if err != nil {
			t.Fatal(err)
		}
		want := []llm.MessagePart{
			{Text: "Done."},
			{Call: &llm.ToolCall{ID: "call_0001_1", Tool: "read_file", Input: json.RawMessage(`{"path": "b"}`)}},
			{Call: &llm.ToolCall{ID: "call_0001_2", Tool: "finish", Input: json.RawMessage(`{}`)}},
		}
		if diff := cmp.Diff(resp.Message.Parts, want); diff != "" || resp.Stop != llm.StopTools || !resp.Estimated || resp.Usage.Input == 0 || resp.Usage.Output == 0 {
			t.Errorf("answer: %s%+v", diff, resp)
		}
		if diff := cmp.Diff(heard, []llm.AnswerDelta{{Text: "Done."}}); diff != "" {
			t.Error(diff)
		}
		if _, err := os.Stat(filepath.Join(dir, "0001", "error.txt")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("what was wrong is still said: %v", err)
		}
	})
}

func TestTextAloneIsAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		put(t, mkdir(t, dir, "0007"), "request.json", "of an earlier process")
		var resp llm.Response
		var err error
		var wait sync.WaitGroup
		wait.Go(func() { resp, err = directoryprovider.DirectoryProvider{Dir: dir}.Stream(t.Context(), request(), nil) })
		time.Sleep(time.Second)
		put(t, filepath.Join(dir, "0008"), "answer.md", "A flag `-x`.\n")
		wait.Wait()
		if err != nil || resp.Stop != llm.StopDone || resp.Message.Text() != "A flag `-x`.\n" {
			t.Errorf("%+v, %v", resp, err)
		}
	})
}

func mkdir(t *testing.T, path ...string) string {
	t.Helper()
	dir := filepath.Join(path...)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestNobodyWaitsAnyMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		stop := errors.New("the run was stopped")
		ctx, cancel := context.WithCancelCause(t.Context())
		var err error
		var wait sync.WaitGroup
		wait.Go(func() { _, err = directoryprovider.DirectoryProvider{Dir: dir}.Stream(ctx, request(), nil) })
		time.Sleep(time.Minute)
		cancel(stop)
		wait.Wait()
		if !errors.Is(err, stop) {
			t.Errorf("error %v", err)
		}
		if got := text(t, dir, "0001", "cancelled"); got != "the run was stopped\n" {
			t.Errorf("cancelled says %q", got)
		}
	})
}

func TestRequestsAtOnceTakeNumbersOfTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() {
				resp, err := directoryprovider.DirectoryProvider{Dir: dir}.Stream(t.Context(), request(), nil)
				if err != nil || resp.Message.Text() != "of "+resp.ID {
					t.Errorf("%+v, %v", resp, err)
				}
			})
		}
		time.Sleep(time.Second)
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 8 {
			t.Fatalf("%d directories, %v", len(entries), err)
		}
		for _, e := range entries {
			put(t, filepath.Join(dir, e.Name()), "answer.md", "of "+e.Name())
		}
		wait.Wait()
	})
}

func TestDirectoryThatCannotBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	put(t, filepath.Dir(file), "file", "")
	_, err := directoryprovider.DirectoryProvider{Dir: file}.Stream(t.Context(), request(), nil)
	if e, ok := errors.AsType[*llm.ModelCallError](err); !ok || e.Class != llm.Fatal || !strings.Contains(err.Error(), "write a request below "+file) {
		t.Errorf("error %v", err)
	}
}

func TestRequestCanBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		ctx, cancel := context.WithCancelCause(t.Context())
		var wait sync.WaitGroup
		wait.Go(func() { _, _ = directoryprovider.DirectoryProvider{Dir: dir}.Stream(ctx, request(), nil) })
		time.Sleep(time.Second)
		cancel(errors.New("read"))
		wait.Wait()
		got := text(t, dir, "0001", "request.md")
		order := []string{
			"At least one tool must be called.", "## Result of c1, failed", "````\n```\nno such file\n```\n````",
			"# System prompt", "You are a coder.", "## read_file", "Reads a file.", "# Before", "## Message to the model", "First.", "## The model says", "## The model calls read_file (c1)",
		}
		for _, want := range order {
			at := strings.Index(got, want)
			if at < 0 {
				t.Fatalf("%q is not there, or not in its place:\n%s", want, got)
			}
			got = got[at:]
		}
	})
}

func TestParse(t *testing.T) {
	for in, want := range map[string]string{
		`{"text": "x"}`:              "",
		`{"stop": "refuse"}`:         "",
		`{"text": " "}`:              "it is empty",
		`{}`:                         "it is empty",
		``:                           "write {",
		`[]`:                         "write {",
		`{"text": "x"} {}`:           "text after the answer",
		`{"txt": "x"}`:               `unknown field "txt"`,
		`{"calls": [{"input": {}}]}`: "call 1: it names no tool",
		`{"calls": [{"tool": "a"}, {"tool": "b", "input": []}]}`: "call 2: input of b is not an object",
		`{"text": "x", "stop": "tools"}`:                         `stop is "tools"`,
	} {
		_, err := directoryprovider.ParseAnswer([]byte(in))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"text": "x", "calls": [{"tool": "a", "input": {"b": 1}}], "stop": "length"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := directoryprovider.ParseAnswer(data)
		if err != nil {
			return
		}
		for _, c := range a.Calls {
			var in map[string]any
			if c.Tool == "" || json.Unmarshal(c.Input, &in) != nil {
				t.Errorf("a call that no tool can take: %q", data)
			}
		}
	})
}
