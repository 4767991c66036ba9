package review_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/review"
)

// good is a verdict that lets the work through.
const good = `{"approved":true,"criteria":[{"criterion":1,"met":true,"note":"TestAdd"}],
"testModifications":{"files":[],"legitimate":false,"reasoning":""},
"quality":{"rating":"good","issues":[]},"fixes":[],"reasoning":"fine"}`

// task is what the verdicts are about.
var task = review.VerifierQuestion{Criteria: []nexus.Criterion{{Text: "it adds"}}}

func TestParseVerdict(t *testing.T) {
	edits := `"files":["./a_test.go"],"legitimate":false,"reasoning":"it expects less"`
	for name, c := range map[string]struct {
		replace  []string
		explain  bool
		category nexus.AttemptFailureCategory
		why      string
		findings string
	}{
		"approved": {why: "fine"},
		"no lists": {replace: []string{`"testModifications":{"files":[],"legitimate":false,"reasoning":""},`, "", `"fixes":[],`, "", `,"issues":[]`, ""}, why: "fine"},
		"legitimate edits": {
			replace: []string{`"files":[],"legitimate":false`, `"files":["a_test.go"],"legitimate":true`}, explain: true, why: "fine",
		},
		"edits weigh most": {
			replace:  []string{`"files":[],"legitimate":false,"reasoning":""`, edits, `"rating":"good"`, `"rating":"poor"`, `"met":true`, `"met":false`},
			category: nexus.VerifierRejected, why: "tests that judge the work were changed",
			findings: "a_test.go: restore this test as it was: it expects less; not met: it adds: TestAdd",
		},
		"edits that it does not mention": {
			replace: []string{`"testModifications":{"files":[],"legitimate":false,"reasoning":""},`, ""}, explain: true,
			category: nexus.VerifierRejected, why: "tests that judge the work were changed",
		},
		"edits without files": {explain: true, category: nexus.VerifierRejected, why: "tests that judge the work were changed"},
		"a criterion is not met": {
			replace:  []string{`"met":true,"note":"TestAdd"`, `"met":false,"note":"no test"`, `"rating":"good"`, `"rating":"poor"`},
			category: nexus.VerifierRejected, why: "a criterion is not met: fine", findings: "not met: it adds: no test",
		},
		"a fix is about it": {
			replace:  []string{`"met":true,"note":"TestAdd"`, `"met":false`, `"fixes":[]`, `"fixes":[{"file":"add.go","line":4,"criterion":1,"message":"add them"}]`},
			category: nexus.VerifierRejected, why: "a criterion is not met", findings: "add.go:4: add them",
		},
		"a criterion is left out": {
			replace:  []string{`{"criterion":1,"met":true,"note":"TestAdd"}`, ""},
			category: nexus.VerifierRejected, why: "a criterion is not met", findings: "not met: it adds: the verdict does not mention it",
		},
		"poor": {
			replace:  []string{`"rating":"good","issues":[]`, `"rating":"poor","issues":["it copies"]`, `"approved":true`, `"approved":false`},
			category: nexus.VerifierRejected, why: "its quality is poor", findings: "it copies",
		},
		"acceptable": {replace: []string{`"rating":"good"`, `"rating":"acceptable"`}, why: "fine"},
		"not approved": {
			replace:  []string{`"approved":true`, `"approved":false`, `"fixes":[]`, `"fixes":[{"message":"name it"}]`},
			category: nexus.VerifierRejected, why: "it is not approved", findings: "name it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := review.ParseVerdict([]byte(strings.NewReplacer(c.replace...).Replace(good)), review.VerifierQuestion{Criteria: task.Criteria, Explain: c.explain})
			if err != nil || !f.Read {
				t.Fatal(f, err)
			}
			var said []string
			for _, x := range f.Findings {
				place := x.File
				if x.Line > 0 {
					place += fmt.Sprintf(":%d", x.Line)
				}
				said = append(said, strings.TrimPrefix(place+": "+x.Message, ": "))
			}
			if f.Category != c.category || !strings.HasPrefix(f.Why, c.why) || strings.Join(said, "; ") != c.findings {
				t.Errorf("%q, %q, %q", f.Category, f.Why, said)
			}
			if len(f.Criteria) != 1 || f.Criteria[0].Criterion != "it adds" {
				t.Errorf("criteria %+v", f.Criteria)
			}
		})
	}
}

func TestNoVerdict(t *testing.T) {
	for name, data := range map[string]string{
		"nothing":            "",
		"prose":              "looks good to me",
		"no approval":        strings.Replace(good, `"approved":true,`, "", 1),
		"approved twice":     strings.Replace(good, `"approved":true`, `"approved":false,"approved":true`, 1),
		"a key nobody knows": strings.Replace(good, `"approved":true`, `"approved":true,"Approved":true`, 1),
		"no such rating":     strings.Replace(good, `"good"`, `"great"`, 1),
		"no such criterion":  strings.Replace(good, `"criterion":1`, `"criterion":2`, 1),
		"a criterion twice":  strings.Replace(good, `[{"criterion":1`, `[{"criterion":1,"met":true},{"criterion":1`, 1),
		"a text":             strings.Replace(good, `"criterion":1`, `"criterion":"it adds"`, 1),
		"two":                good + good,
	} {
		f, err := review.ParseVerdict([]byte(data), task)
		if err == nil || f.Read || f.Category != "" || f.Why == "" {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}

func TestSchema(t *testing.T) {
	var v any
	if err := json.Unmarshal(review.VerdictSchema(), &v); err != nil {
		t.Fatal(err)
	}
}

func FuzzParseVerdict(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(`{"approved":true}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := review.ParseVerdict(data, task)
		if (err == nil) != v.Read || v.Why == "" && err != nil {
			t.Errorf("%+v, %v", v, err)
		}
		if v.Category != "" && !v.Read {
			t.Error("a verdict that was not read rejects")
		}
	})
}
