package nexus_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func TestReadStep(t *testing.T) {
	skip, stop, unclear := nexus.NextTaskDecision{Skip: true}, nexus.NextTaskDecision{Stop: true}, nexus.NextTaskDecision{Unclear: true}
	tell := func(text string) nexus.NextTaskDecision { return nexus.NextTaskDecision{Tell: text} }
	for answer, want := range map[string]nexus.NextTaskDecision{
		"":          skip,
		"skip":      skip,
		" No. ":     skip,
		"no: later": skip,
		"stop!":     stop,
		"Abort":     stop,

		"yes":                      {},
		"continue":                 {},
		"yes, with tabs":           tell("with tabs"),
		"tell: skip the slow test": tell("skip the slow test"),
		"tell it to use tabs":      tell("it to use tabs"),
		"Use tabs.":                tell("Use tabs."),
		"do it with tabs":          tell("do it with tabs"),
		"note the tabs":            tell("note the tabs"),

		"skip it":                unclear,
		"skip - not needed":      unclear,
		"no thanks":              unclear,
		"Nope":                   unclear,
		"don't":                  unclear,
		"Don\u2019t begin":       unclear,
		"do not begin":           unclear,
		"stop the run":           unclear,
		"'stop' the run":         unclear,
		"(no) thanks":            unclear,
		"abort everything":       unclear,
		"never use tabs in this": unclear,
	} {
		if got := nexus.ParseNextTaskDecision(answer); got != want {
			t.Errorf("%q: %+v, want %+v", answer, got, want)
		}
	}
}
