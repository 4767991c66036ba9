package verify_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/verify"
)

// good is a verdict that lets the work through.
const good = `{"version":1,"approved":true,"tests":{"allPassing":true,"passCount":3,"failCount":0},
"testModifications":{"detected":false,"files":[],"legitimate":false,"reasoning":""},
"acceptanceCriteria":{"allMet":true,"criteria":[{"criterion":"it adds","met":true,"note":"TestAdd"}]},
"quality":{"rating":"good","issues":[]},"fixes":[],"reasoning":"fine"}`

func TestParse(t *testing.T) {
	edits := `"detected":true,"files":["a_test.go"],"legitimate":false,"reasoning":"it expects less"`
	for name, c := range map[string]struct {
		replace  []string
		category nexus.Category
		why      string
		findings string
	}{
		"approved": {why: "fine"},
		"legitimate edits": {
			replace: []string{`"detected":false,"files":[],"legitimate":false`, `"detected":true,"files":["a_test.go"],"legitimate":true`}, why: "fine",
		},
		"edits weigh most": {
			replace:  []string{`"detected":false,"files":[],"legitimate":false,"reasoning":""`, edits, `"rating":"good"`, `"rating":"poor"`, `"allMet":true`, `"allMet":false`},
			category: nexus.VerifierRejected, why: "tests that judge the work were changed", findings: "put this test back as it was: it expects less",
		},
		"failing tests are for the gates to say": {replace: []string{`"allPassing":true`, `"allPassing":false`}, why: "fine"},
		"a criterion is not met": {
			replace:  []string{`"met":true,"note":"TestAdd"`, `"met":false,"note":"no test"`, `"rating":"good"`, `"rating":"poor"`},
			category: nexus.VerifierRejected, why: "a criterion is not met: fine", findings: "not met: it adds: no test",
		},
		"it says that not all are met": {replace: []string{`"allMet":true`, `"allMet":false`}, category: nexus.VerifierRejected, why: "a criterion is not met"},
		"poor": {
			replace:  []string{`"rating":"good","issues":[]`, `"rating":"poor","issues":["it copies"]`, `"approved":true`, `"approved":false`},
			category: nexus.VerifierRejected, why: "its quality is poor", findings: "it copies",
		},
		"acceptable": {replace: []string{`"rating":"good"`, `"rating":"acceptable"`}, why: "fine"},
		"not approved": {
			replace:  []string{`"approved":true`, `"approved":false`, `"fixes":[]`, `"fixes":["name it"]`},
			category: nexus.VerifierRejected, why: "it is not approved", findings: "name it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := verify.Parse([]byte(strings.NewReplacer(c.replace...).Replace(good)))
			if err != nil || !f.Read {
				t.Fatal(f, err)
			}
			var said []string
			for _, x := range f.Findings {
				said = append(said, x.Message)
			}
			if f.Category != c.category || !strings.HasPrefix(f.Why, c.why) || strings.Join(said, "; ") != c.findings {
				t.Errorf("%q, %q, %q", f.Category, f.Why, said)
			}
		})
	}
}

func TestNoVerdict(t *testing.T) {
	for name, data := range map[string]string{
		"nothing":            "",
		"prose":              "looks good to me",
		"another version":    strings.Replace(good, `"version":1`, `"version":2`, 1),
		"no approval":        strings.Replace(good, `"approved":true,`, "", 1),
		"no tests":           strings.Replace(good, `"tests":{"allPassing":true,"passCount":3,"failCount":0},`, "", 1),
		"approved twice":     strings.Replace(good, `"approved":true`, `"approved":false,"approved":true`, 1),
		"a key nobody knows": strings.Replace(good, `"approved":true`, `"approved":true,"Approved":true`, 1),
		"no such rating":     strings.Replace(good, `"good"`, `"great"`, 1),
		"two":                good + good,
	} {
		f, err := verify.Parse([]byte(data))
		if err == nil || f.Read || f.Category != "" || f.Why == "" {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}

func TestSchema(t *testing.T) {
	var v any
	if err := json.Unmarshal(verify.Schema(), &v); err != nil {
		t.Fatal(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(`{"version":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := verify.Parse(data)
		if (err == nil) != v.Read || v.Why == "" && err != nil {
			t.Errorf("%+v, %v", v, err)
		}
		if v.Category != "" && !v.Read {
			t.Error("a verdict that was not read rejects")
		}
	})
}
