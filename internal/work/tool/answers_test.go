package tool_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

// TestAnswersForgive holds that what a model writes of findings is read as it is
// meant, and that what is odd is lost and never an error.
func TestAnswersForgive(t *testing.T) {
	cases := map[string][]nexus.FindingAnswer{
		`{"answers":[{"finding":2,"status":"fixed"}]}`:                        {{Finding: 2, Status: nexus.Fixed}},
		`{"answers":[{"finding":"#2","status":"Not mine","why":" a test "}]}`: {{Finding: 2, Status: nexus.NotMine, Why: "a test"}},
		`{"answers":[{"status":"disagree","why":"no"}]}`:                      {{Status: nexus.Contested, Why: "no"}},
		`{"answers":[{"finding":-1,"status":"later"},{"finding":"x"}]}`:       {{Status: "later"}, {}},
		`{"answers":[{"finding":1.0,"status":"done","severity":"major"}]}`:    {{Finding: 1, Status: nexus.Fixed}},
		`{"answers":"all fixed"}`:                                             nil,
		`{"summary":"s"}`:                                                     nil,
		`not JSON`:                                                            nil,
	}
	for in, want := range cases {
		if diff := cmp.Diff(want, tool.ParseFindingAnswers([]byte(in))); diff != "" {
			t.Errorf("%s: -want +got\n%s", in, diff)
		}
	}
}
