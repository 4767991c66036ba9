package specify

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
)

const (
	bad  = `{"title": "T", "problem": "p", "requirements": [{"text": "a", "priority": "must"}], "criteria": []}`
	good = `{"title": "T", "problem": "p", "requirements": [{"text": "a", "priority": "must"}], "criteria": [{"text": "c", "of": ["REQ-1"]}]}`
	weak = `{"title": "T", "problem": "p", "requirements": [{"text": "a", "priority": "must"}], "criteria": [{"text": "c", "of": ["REQ-1"]}], "critique": ["vague"]}`
)

func TestWrite(t *testing.T) {
	for _, c := range []struct {
		name  string
		depth spec.SpecDepth
		says  []string
		asked string // what is in the last question
		fails bool
	}{
		{"at once", spec.Standard, []string{good}, "Write a spec", false},
		{"corrected", spec.Standard, []string{bad, good}, "REQ-1 is a must, and no criterion shows it", false},
		{"never right", spec.Standard, []string{bad, bad, `{}`}, "", true},
		{"criticized", spec.Deep, []string{good, weak}, "Criticize", false},
		{"criticized at last", spec.Deep, []string{good, good, good, weak}, "critique says nothing", false},
		{"not criticized", spec.Deep, []string{good, good, good, good}, "critique says nothing", false},
		{"the critique is useless", spec.Deep, []string{good, bad, bad, `{}`}, "Correct", false},
		{"the critique fails", spec.Deep, []string{good, ""}, "Criticize", false},
		{"the spec fails", spec.Deep, []string{""}, "Write a spec", true},
		{"criticized once more", spec.Deep, []string{good, bad, weak}, "Correct", false},
	} {
		n, last := 0, SpecSessionRequest{}
		s, warning, err := WriteSpec(t.Context(), "Do a", c.depth, []ResearchReportText{{"domain", "words"}}, func(_ context.Context, q SpecSessionRequest) (json.RawMessage, error) {
			last = q
			n++
			if c.says[n-1] == "" {
				return nil, errors.New("no money")
			}
			return json.RawMessage(c.says[n-1]), nil
		})
		if (err != nil) != c.fails || n != len(c.says) || !strings.Contains(last.Text, c.asked) || !strings.Contains(last.Text, "words") {
			t.Errorf("%s: %v after %d\n%s", c.name, err, n, last.Text)
		}
		depth := c.depth
		if warning != "" {
			depth = spec.Standard
		}
		if err == nil && (s.Depth != depth || s.Title != "T" || (len(s.Critique) > 0) != (depth == spec.Deep) || (warning != "") != (c.says[n-1] != weak && c.depth == spec.Deep)) {
			t.Errorf("%s: %q, %+v", c.name, warning, s)
		}
	}
}

// A spec that was paid for is there, also if a person interrupts its critique.
func TestWriteInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s, warning, err := WriteSpec(ctx, "Do a", spec.Deep, nil, func(ctx context.Context, q SpecSessionRequest) (json.RawMessage, error) {
		if strings.HasSuffix(string(q.Session), ".2") {
			cancel()
		}
		return json.RawMessage(good), ctx.Err()
	})
	if err == nil || warning != "" || s.Title != "T" || s.Depth != spec.Standard {
		t.Errorf("%v, %q, %+v", err, warning, s)
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		`{"title": "T", "problem": "p", "requirements": [{"text": "a"}], "criteria": [{"text": "c", "of": ["REQ-2"]}]}`: "AC-1 names REQ-2, which is not a requirement; there are REQ-1",
		`{"title": "T", "problem": "p", "requirements": [{"text": "a"}], "criteria": [{"text": "c", "check": "a\nb"}]}`: "AC-1 has a check of several lines; give one command in one line",
		`{"title": "", "problem": "p", "requirements": [{"text": "a"}], "criteria": []}`:                                "the title is empty",
		`{"title": "T", "problem": "p", "requirements": [{"text": "a\u202eb"}], "criteria": []}`:                        "it has an invisible character, U+202E; delete it",
	} {
		if _, wrong := ParseSpec([]byte(text)); !cmp.Equal(wrong, []string{want}) {
			t.Errorf("%s: %q", text, wrong)
		}
	}
}

// What Parse takes is a spec that people can edit.
func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(weak))
	f.Add([]byte(`{"title": "# x", "problem": "## Later\n` + "```" + `", "requirements": [{"text": "- REQ-1: a\n- check: b", "quote": "\"", "later": true}], "criteria": [{"text": "(check: ` + "`x`" + `)", "of": []}], "notes": ["[ ] a", " "]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, wrong := ParseSpec(data)
		if len(wrong) > 0 {
			return
		}
		again, problems := spec.ReadSpec(spec.FormatMarkdown(s))
		if diff := cmp.Diff(s, again); diff != "" || len(problems) > 0 {
			t.Errorf("%v\n%s", problems, diff)
		}
	})
}
