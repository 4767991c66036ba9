// Package verify reads the verdict of a verifier, version 1, and says what it
// comes to.
//
// A verdict that cannot be read is none. Then the gates' own run decides, as it
// decides in any case whether tests pass: a verdict can refuse a tree that is
// green, and never make one pass that is not.
package verify

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/strict"
)

// Gate is the name that a verifier's findings carry.
const Gate = "verify"

const (
	version = 1
	maxText = 4_000   // bytes of a message
	maxSize = 1 << 20 // bytes of a verdict
)

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema of a verdict.
func Schema() json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, schema) != nil { // a test reads it
		return schema
	}
	return b.Bytes()
}

// verdict is what a verifier hands in.
type verdict struct {
	Version  int   `json:"version"`
	Approved *bool `json:"approved"`
	Tests    *struct {
		AllPassing bool `json:"allPassing"`
		Passed     int  `json:"passCount"`
		Failed     int  `json:"failCount"`
	} `json:"tests"`
	TestModifications struct {
		Detected   bool     `json:"detected"`
		Files      []string `json:"files"`
		Legitimate bool     `json:"legitimate"`
		Reasoning  string   `json:"reasoning"`
	} `json:"testModifications"`
	AcceptanceCriteria struct {
		AllMet   bool                 `json:"allMet"`
		Criteria []nexus.CriterionMet `json:"criteria"`
	} `json:"acceptanceCriteria"`
	Quality struct {
		Rating string   `json:"rating"`
		Issues []string `json:"issues"`
	} `json:"quality"`
	Fixes     []string `json:"fixes"`
	Reasoning string   `json:"reasoning"`
}

// Parse reads a verdict on a tree that passed its gates. With an error it does
// not count: Read is false, and Why says what is wrong.
func Parse(data []byte) (nexus.WorkVerified, error) {
	v, err := parse(data)
	if err != nil {
		return nexus.WorkVerified{Why: "no verdict: " + err.Error()}, fmt.Errorf("read verdict: %w", err)
	}
	return v.judge(), nil
}

func parse(data []byte) (verdict, error) {
	var v verdict
	if len(data) > maxSize {
		return v, fmt.Errorf("it has %d bytes, the most is %d", len(data), maxSize)
	}
	if problems := strict.Read(data, schema, &v); len(problems) > 0 {
		return v, errors.New(strings.Join(problems, "; "))
	}
	switch {
	case v.Version != version:
		return v, fmt.Errorf("its version is %d, and not %d", v.Version, version)
	case v.Approved == nil:
		return v, errors.New("approved is missing")
	case v.Tests == nil:
		return v, errors.New("tests is missing")
	}
	switch v.Quality.Rating {
	case "good", "acceptable", "poor":
	default:
		return v, fmt.Errorf("the rating %q is none of good, acceptable, poor", v.Quality.Rating)
	}
	return v, nil
}

// judge says what a verdict comes to. The order is that of what weighs most:
// test edits without a good reason, a criterion that is not met, poor quality,
// and last that it does not approve. What it says of the tests is not asked:
// gates ran them.
func (v verdict) judge() nexus.WorkVerified {
	f := nexus.WorkVerified{Read: true, Criteria: v.AcceptanceCriteria.Criteria, Why: cut(v.Reasoning)}
	unmet := !v.AcceptanceCriteria.AllMet
	for _, c := range f.Criteria {
		unmet = unmet || !c.Met
	}
	reason := ""
	switch {
	case v.TestModifications.Detected && !v.TestModifications.Legitimate:
		reason = "tests that judge the work were changed without a good reason"
	case unmet:
		reason = "a criterion is not met"
	case v.Quality.Rating == "poor":
		reason = "its quality is poor"
	case !*v.Approved:
		reason = "it is not approved"
	default:
		return f
	}
	f.Category = nexus.VerifierRejected
	f.Why = reason
	if r := cut(v.Reasoning); r != "" {
		f.Why += ": " + r
	}
	f.Findings = v.findings()
	return f
}

// findings are what is to be mended.
func (v verdict) findings() []nexus.Finding {
	var all []nexus.Finding
	add := func(file, message string) {
		if message = cut(message); message != "" {
			all = append(all, nexus.Finding{Gate: Gate, File: file, Severity: nexus.Major, Message: message})
		}
	}
	if m := v.TestModifications; m.Detected && !m.Legitimate {
		for _, file := range m.Files {
			add(strings.TrimSpace(file), "put this test back as it was: "+cmp.Or(m.Reasoning, "it judges the work"))
		}
	}
	for _, c := range v.AcceptanceCriteria.Criteria {
		if !c.Met {
			add("", strings.TrimSuffix("not met: "+c.Criterion+": "+c.Note, ": "))
		}
	}
	for _, fix := range v.Fixes {
		add("", fix)
	}
	if v.Quality.Rating == "poor" {
		for _, issue := range v.Quality.Issues {
			add("", issue)
		}
	}
	return all
}

func cut(text string) string {
	text = strings.TrimSpace(strings.ToValidUTF8(text, "?"))
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + " ..."
}
