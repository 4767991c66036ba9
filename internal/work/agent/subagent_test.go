package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

var _ tool.SubagentManager = (*SubagentGroup)(nil)

// after returns scouts that report after as many minutes as the question says.
func after(ctx context.Context, n int, question string, again bool) (json.RawMessage, string, error) {
	var minutes int
	var report string
	if _, err := fmt.Sscanf(question, "%d %s", &minutes, &report); err != nil {
		return nil, "", err
	}
	select {
	case <-time.After(time.Duration(minutes) * time.Minute):
	case <-ctx.Done():
		return nil, "", context.Cause(ctx)
	}
	switch {
	case report == "fails":
		return nil, "20 turns are used up", nil
	case report == "breaks":
		return nil, "", errors.New("the provider is gone")
	case report == "blank" && !again:
		report = "Done."
	case report == "blank":
		report = fmt.Sprintf("said more by %d", n)
	}
	data, err := json.Marshal(SubagentReport{Report: report})
	return data, "", err
}

func send(t *testing.T, s *SubagentGroup, question string) string {
	t.Helper()
	text, err := s.Send(question)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestScoutsReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSubagentGroup(t.Context(), 0, after)
		defer s.Close(ErrParentDone)
		if text, _ := s.Show(t.Context(), "", 0); !strings.Contains(text, "no subagent") {
			t.Errorf("%q", text)
		}
		send(t, s, "1 first")
		send(t, s, "2 second")
		send(t, s, "3 blank")
		if text := send(t, s, " 2 second"); !strings.Contains(text, "subagent 2 is already looking into that") {
			t.Errorf("the same question: %q", text)
		}
		if _, err := s.Send("4 fourth"); err == nil || !strings.Contains(err.Error(), "3 subagents are running") {
			t.Errorf("a fourth at once: %v", err)
		}
		if text, err := s.Show(t.Context(), "1", 30*time.Second); err != nil || text != "subagent 1 is still looking into it" {
			t.Errorf("%q, %v", text, err)
		}
		if news := s.FinishedSubagents(); news != nil {
			t.Errorf("news of nothing: %q", news)
		}
		time.Sleep(2 * time.Minute)
		if news := fmt.Sprint(s.FinishedSubagents()); !strings.Contains(news, "Subagent 1 has reported") || !strings.Contains(news, "Subagent 2 has reported") || strings.Contains(news, "Subagent 3") {
			t.Errorf("%q", news)
		}
		if news := s.FinishedSubagents(); news != nil {
			t.Errorf("told twice: %q", news)
		}
		text, err := s.Show(t.Context(), "3", 10*time.Minute) // it is asked twice
		if err != nil || !strings.Contains(text, "said more by 3") || !strings.Contains(text, "not checked by anyone") {
			t.Errorf("%q, %v", text, err)
		}
		if news := s.FinishedSubagents(); news != nil {
			t.Errorf("told what it read already: %q", news)
		}
	})
}

func TestScoutsWithoutReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSubagentGroup(t.Context(), 0, after)
		defer s.Close(ErrParentDone)
		send(t, s, "1 fails")
		send(t, s, "1 breaks")
		send(t, s, "9 late")
		if text, err := s.Stop("scout 3"); err != nil || text != "subagent 3 is stopped" {
			t.Errorf("%q, %v", text, err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if news := strings.Join(s.FinishedSubagents(), "\n"); news != "Subagent 1 ended without a report: 20 turns are used up\nSubagent 2 ended without a report: the provider is gone" {
			t.Errorf("%q", news)
		}
		for id, want := range map[string]string{"1": "20 turns", "2": "the provider is gone", "3": "stopped", "4": "no subagent", "x": "no subagent"} {
			if _, err := s.Show(t.Context(), id, 0); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", id, err)
			}
		}
		for range 9 {
			send(t, s, "0 one")
			synctest.Wait()
		}
		if _, err := s.Send("0 more"); err == nil || !strings.Contains(err.Error(), "12 subagents were started") {
			t.Errorf("a thirteenth: %v", err)
		}
	})
}

func TestWaitForTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSubagentGroup(t.Context(), 0, after)
		defer s.Close(ErrParentDone)
		wait := func(want time.Duration) {
			t.Helper()
			start := time.Now()
			if _, err := s.Show(t.Context(), "", 5*time.Minute); err != nil || time.Since(start) != want {
				t.Errorf("%s, %v", time.Since(start), err)
			}
		}
		wait(0) // nobody is out
		send(t, s, "3 late")
		send(t, s, "1 first")
		send(t, s, "60 never")
		wait(time.Minute)
		wait(0) // it was not told yet
		if news := s.FinishedSubagents(); len(news) != 1 || !strings.HasPrefix(news[0], "Subagent 2 ") {
			t.Errorf("%q", news)
		}
		wait(2 * time.Minute)
		s.FinishedSubagents()
		wait(5 * time.Minute)
	})
}

// TestNobodyIsLeftOut ends a session while scouts are out.
func TestNobodyIsLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var whys []error
		s := NewSubagentGroup(t.Context(), 0, func(ctx context.Context, n int, question string, again bool) (json.RawMessage, string, error) {
			data, why, err := after(ctx, n, question, again)
			whys = append(whys, err)
			return data, why, err
		})
		send(t, s, "60 never")
		start := time.Now()
		s.Close(ErrParentDone)
		if len(whys) != 1 || !errors.Is(whys[0], ErrParentDone) || time.Since(start) > 0 {
			t.Errorf("%v after %s", whys, time.Since(start))
		}
	})
}

// TestTakenUp is a session that continues in another process.
func TestTakenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSubagentGroup(t.Context(), 3, after)
		defer s.Close(ErrParentDone)
		s.Known(1, "a", json.RawMessage(`{"report":"in a.go","places":["a.go:3"]}`), "")
		s.Known(2, "b", nil, "it was stopped")
		s.ResumeSubagent(3, "5 third")
		if text := send(t, s, "5 third"); !strings.Contains(text, "subagent 3 ") {
			t.Errorf("the call that was cut off: %q", text)
		}
		if text := send(t, s, "5 fourth"); !strings.Contains(text, "subagent 4 ") {
			t.Errorf("%q", text)
		}
		text, err := s.Show(t.Context(), "1", 0)
		if err != nil || !strings.Contains(text, "in a.go") || !strings.Contains(text, "Its evidence: a.go:3") {
			t.Errorf("%q, %v", text, err)
		}
		if _, err := s.Show(t.Context(), "2", 0); err == nil || !strings.Contains(err.Error(), "it was stopped") {
			t.Error(err)
		}
		if text, err := s.Show(t.Context(), "3", time.Hour); err != nil || !strings.Contains(text, "third") {
			t.Errorf("%q, %v", text, err)
		}
	})
}

func TestEmpty(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, " \n": true, "...": true, "---": true, "Done.": true, "**Done!**": true, "I have completed the task.": true, "(no answer)": true, "OK": true,
		"N/A": true, "See above": true, "42": false, "sum.go:3": false, "It is not there; I looked in sys/ and work/.": false, "Done by Parse in a.go": false, "nein": false,
	} {
		if got := isEmptyReport(SubagentReport{Report: text}); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if isEmptyReport(SubagentReport{Report: "Yes.", Places: []string{"a.go:1"}}) {
		t.Error("an answer that names a place is none")
	}
}

func TestSchema(t *testing.T) {
	var s jsonschema.Schema
	if err := json.Unmarshal(SubagentSchema(), &s); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Resolve(nil); err != nil {
		t.Fatal(err)
	}
}

func FuzzReport(f *testing.F) {
	f.Add([]byte(`{"report":"x","places":["a:1"]}`))
	f.Add([]byte(`{"report":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := NewSubagentGroup(t.Context(), 1, after)
		defer s.Close(ErrParentDone)
		s.Known(1, "q", data, "")
		text, err := s.Show(t.Context(), "1", 0)
		if (err == nil) == (text == "") {
			t.Errorf("%q: %q, %v", data, text, err)
		}
	})
}
