package runexplanation

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOnlyWhatIsShownIsKept(t *testing.T) {
	c := ExplanationSubject{About: "why task T1 is parked", Events: []EventDescription{{3, "T1.1 started"}, {7, "T1.1 gave up"}}}
	kept, dropped, err := c.ReadExplanation([]byte(`{"statements": [
		{"text": "It gave up.", "events": [7, 3, 7]}, {"text": "Half true.", "events": [7, 4]}, {"text": "Not true.",
			"events": [4]}, {"text": "Perhaps.", "events": []}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]SourcedStatement{{"It gave up.", []int64{3, 7}}, {"Half true.", []int64{7}}}, kept); d != "" {
		t.Error(d)
	}
	want := []string{
		"events that have nothing to do with this (4) of: Half true.",
		"it names events that have nothing to do with this (4): Not true.", "it names no event: Perhaps.",
	}
	if d := cmp.Diff(want, dropped); d != "" {
		t.Error(d)
	}
	for _, bad := range []string{
		``, `{}`, `{"statements": []}`, `{"statements": [{"text": "x", "events": ["3"]}]}`,
		`{"statements": [{"text": "x", "events": [3], "more": 1}]}`,
	} {
		if _, _, err := c.ReadExplanation([]byte(bad)); err == nil {
			t.Errorf("%s is taken for an explanation", bad)
		}
	}
	if !json.Valid(SubmissionSchema()) {
		t.Error("the schema is no JSON")
	}
}

func TestManyEvents(t *testing.T) {
	c := ExplanationSubject{About: "why the run is failed"}
	for n := range int64(20_000) {
		c.Events = append(c.Events, EventDescription{n + 1, fmt.Sprintf("event of the run\nnumber %d", n+1)})
	}
	text := c.ExplainerMessage()
	if c.EstimateInputTokens() > maxTokens*3/2 || !strings.Contains(text, "events are left out") || !strings.Contains(text,
		"\n1 event of the run") || !strings.Contains(text, "\n20000 event of the run") {
		t.Errorf("%d tokens: %.200s", c.EstimateInputTokens(), text)
	}
	if strings.Contains(ExplanationSubject{About: "x", Events: c.Events[:10]}.ExplainerMessage(), "left out") {
		t.Error("ten events do not fit")
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"statements": [{"text": "It gave up.", "events": [7, 8]}]}`))
	f.Add([]byte(`{"statements": null}`))
	c := ExplanationSubject{Events: []EventDescription{{7, "x"}}}
	f.Fuzz(func(t *testing.T, data []byte) {
		kept, _, err := c.ReadExplanation(data)
		for _, s := range kept {
			if err != nil || len(s.Events) != 1 || s.Events[0] != 7 {
				t.Errorf("%+v, %v", s, err)
			}
		}
	})
}
