package externalagent_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
	"github.com/nexus-ai-builder/nexus/internal/work/externalagent"
)

// approved takes objects that say whether they approve.
func approved(data json.RawMessage) (json.RawMessage, error) {
	var in struct {
		Approved *bool `json:"approved"`
	}
	if json.Unmarshal(data, &in) != nil || in.Approved == nil {
		return nil, errors.New("approved is missing")
	}
	return data, nil
}

func TestObject(t *testing.T) {
	const cut = "its last JSON object is cut or has an error"
	for name, c := range map[string]struct{ text, want, err string }{
		"alone":                     {`{"approved":true}`, `{"approved":true}`, ""},
		"in a block after words":    {"I read it.\n```json\n{\"approved\": false}\n```\nDone.", `{"approved": false}`, ""},
		"the last of two":           {`{"approved":true} no, {"approved":false}`, `{"approved":false}`, ""},
		"after code with braces":    {"func f() { return }\n{\"approved\":true}", `{"approved":true}`, ""},
		"one that fits, then not":   {`{"approved":true} as in {"a":1}`, "", "approved is missing"},
		"braces within":             {`{"approved":true,"why":{"a":"}{"}}`, `{"approved":true,"why":{"a":"}{"}}`, ""},
		"none that fits":            {`{"a":1}`, "", "approved is missing"},
		"none":                      {"Looks good to me.", "", "there is no JSON object in it"},
		"cut":                       {`{"approved":tr`, "", cut},
		"cut after another":         {`{"approved":true} But no: {"approved": false, "why": "because`, "", cut},
		"cut around another":        {`{"approved":false,"was":{"approved":true},"why":"becau`, "", cut},
		"a quote in it":             {`{"approved":false,"why":"a "word" of it","was":{"approved":true}}`, "", cut},
		"one after a broken one":    {`{"approved":fals} I mean {"approved":true}.`, `{"approved":true}`, ""},
		"after code with quotes":    {"x := map[string]any{\"a\": b}\n```json\n{\"approved\":true}\n```", `{"approved":true}`, ""},
		"after a brace and a quote": {"A `{\"` begins one: {\"approved\":true}", `{"approved":true}`, ""},
		"made to take long":         {`{"approved":true}` + strings.Repeat(`{"a":`, 1000) + strings.Repeat(" ", 1<<19), "", cut},
		"nothing":                   {"", "", "there is no JSON object in it"},
		"too long":                  {strings.Repeat(" ", 1<<20) + `{"approved":true}`, "", "it is longer than a megabyte"},
		"the outer one, which fits": {`{"approved":true,"x":{"approved":false}}`, `{"approved":true,"x":{"approved":false}}`, ""},
	} {
		got, err := externalagent.ParseLastObject(c.text, approved)
		if string(got) != c.want || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}

// FuzzObject holds that what is found is JSON that fits, and that no text takes
// long.
func FuzzObject(f *testing.F) {
	f.Add(`{"approved":true}`)
	f.Add("```json\n{\"approved\": false}\n```")
	f.Add(strings.Repeat(`{"a":`, 1000))
	f.Add(strings.Repeat(`{`, 1000) + `"approved":true}`)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := externalagent.ParseLastObject(text, approved)
		if err == nil && !json.Valid(got) {
			t.Errorf("%q is no JSON", got)
		}
	})
}

// TestSubmissionIsAskedForAgain holds that a message without what a role has to
// submit is answered with what is wrong with it, and that this ends.
func TestSubmissionIsAskedForAgain(t *testing.T) {
	set := func(b *externalagent.ExternalSessionBrief) {
		b.Submit = func(text string) (json.RawMessage, error) { return externalagent.ParseLastObject(text, approved) }
	}
	a := &scripted{ends: []agentcli.PromptResult{done("Fine."), done(`{"approved":true}`)}}
	o, _, _, err := run(t, a, set)
	if err != nil || o.Outcome != nexus.Accepted || string(o.Handin) != `{"approved":true}` || len(a.prompts) != 2 {
		t.Errorf("%+v, %v, %d prompts", o, err, len(a.prompts))
	}
	if p := a.prompts[1]; !p.Resume || !strings.Contains(p.Text, "there is no JSON object in it") {
		t.Errorf("asked again with %+v", p)
	}
	a = &scripted{ends: []agentcli.PromptResult{done("A new version is there.")}, says: []string{`{"approved":false}`, `{"approved":true}`, "A new version is there."}}
	if o, _, _, err = run(t, a, set); err != nil || string(o.Handin) != `{"approved":true}` || len(a.prompts) != 1 {
		t.Errorf("before a notice: %+v, %v, %d prompts", o, err, len(a.prompts))
	}
	a.edits = true
	if o, _, _, err = run(t, a, set); err != nil || o.Outcome != nexus.NoProgress {
		t.Errorf("before a call: %+v, %v", o, err)
	}
	a = &scripted{ends: []agentcli.PromptResult{done(`{"no":1}`)}, says: []string{`{"approved":true}`, `{"no":1}`}}
	if o, _, _, err = run(t, a, set); err != nil || o.Outcome != nexus.NoProgress {
		t.Errorf("before one that does not fit: %+v, %v", o, err)
	}
	a = &scripted{ends: []agentcli.PromptResult{done("A notice.")}, says: []string{`{"approved":true}`, strings.Repeat(" ", 1<<20) + `{"no":1}`}}
	if o, _, _, err = run(t, a, set); err != nil || o.Outcome != nexus.NoProgress {
		t.Errorf("before one that is too long: %+v, %v", o, err)
	}
	a = &scripted{ends: []agentcli.PromptResult{done(`{"approved":false,`)}, says: []string{`{"approved":true}`, `{"approved":false,`}}
	if o, _, _, err = run(t, a, set); err != nil || o.Outcome != nexus.NoProgress {
		t.Errorf("before one that is cut: %+v, %v", o, err)
	}
	many := append(slices.Repeat([]string{"I look."}, 40), `{"approved":true}`)
	a = &scripted{ends: []agentcli.PromptResult{done("A notice.")}, says: many}
	if o, _, _, err = run(t, a, set); err != nil || o.Outcome != nexus.Accepted {
		t.Errorf("after many: %+v, %v", o, err)
	}
	a = &scripted{ends: []agentcli.PromptResult{done("Fine.")}}
	o, d, took, err := run(t, a, set)
	if err != nil || o.Outcome != nexus.NoProgress || len(a.prompts) != 3 || len(o.Handin) > 0 || took > time.Second {
		t.Errorf("%+v, %v, %d prompts", o, err, len(a.prompts))
	}
	if ended := only[nexus.SessionEnded](d); len(ended) != 1 || ended[0].Result != "" {
		t.Errorf("ends of the session: %+v", ended)
	}
}
