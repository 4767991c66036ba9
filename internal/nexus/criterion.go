package nexus

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// TextFingerprint returns a hash of texts that ignores differences in white space.
func TextFingerprint(texts ...string) string {
	for i, text := range texts {
		texts[i] = strings.Join(strings.Fields(text), " ")
	}
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(sum[:6])
}

// CriterionTest is the test that was written for a criterion without a check, or the reason
// why there is none.
type CriterionTest struct {
	Number  int    `json:"number"`           // of the criterion in its task, from 1
	Of      string `json:"of"`               // fingerprint of the texts of the criterion and its task at that time
	Test    string `json:"test,omitzero"`    // its name
	File    string `json:"file,omitzero"`    // file of the test
	Command string `json:"command,omitzero"` // command that runs only this test
	Proved  bool   `json:"proved,omitzero"`  // it failed without the work, for the right reason, and passes with it
	Red     bool   `json:"red,omitzero"`     // it fails with the work, and the test itself is not at fault
	Why     string `json:"why,omitzero"`     // why it does not count, or why no machine can check it
}

// CriterionKind is the kind of statement that a criterion makes. It decides which evidence
// can show that the criterion is met (docs/acceptance.md). The zero kind is changed behavior.
type CriterionKind string

// A planner or a person sets the first three kinds; the others are derived from the task.
const (
	StaysCriterion  CriterionKind = "stays"  // existing behavior works before and after the work
	TestsCriterion  CriterionKind = "tests"  // tests exist
	GateCriterion   CriterionKind = "gate"   // its check passes; nothing else is required
	RenameCriterion CriterionKind = "rename" // something is renamed
	DocsCriterion   CriterionKind = "docs"   // a text contains a statement
)

// CanBePlanned reports whether a plan may give a criterion this kind.
func (k CriterionKind) CanBePlanned() bool {
	return k == "" || k == StaysCriterion || k == TestsCriterion || k == GateCriterion
}

// EvidenceReason is the reason why a gate's result is evidence for a criterion. The zero value is
// none: a gate that passes only because nothing got worse shows nothing.
type EvidenceReason string

// Values of Bearing.
const (
	NamedBearing  EvidenceReason = "named"  // the test that the criterion names failed before, and passes now
	TurnedBearing EvidenceReason = "turned" // it failed before, and passes now
	// it was added with the change, fails without the rest of it, and passes with it.
	NewBearing     EvidenceReason = "new"
	AskedBearing   EvidenceReason = "asked"   // tests that were asked for: they run, contain assertions, and pass
	CoversBearing  EvidenceReason = "covers"  // it runs the changed lines, of a change that should have no visible effect
	LiteralBearing EvidenceReason = "literal" // the criterion requires only that the gate passes
	// everything that passed before passes now, and the criterion requires only that.
	KeptBearing EvidenceReason = "kept"
	ReadBearing EvidenceReason = "read" // for comments and documents: a verifier reads the change
	// a check by a session that saw the goal and the base but not the change: it failed on
	// the base and passes now.
	BlindBearing EvidenceReason = "blind"
)

// KeptText is the criterion that existing behavior keeps working. The gates' results on the
// base and on the work show it; no model is called.
const KeptText = "Every test that passed before the work passes with it"

// IsRegressionOnly reports whether a criterion requires only that existing behavior keeps working.
func (c Criterion) IsRegressionOnly() bool {
	return c.Check != "" && strings.EqualFold(strings.TrimRight(strings.Join(strings.Fields(c.Text), " "), "."), KeptText)
}

// CriterionGateEvidence is the evidence for a criterion whose check is a gate, or the reason why
// there is none.
type CriterionGateEvidence struct {
	Number int            `json:"number"`          // of the criterion in its task, from 1
	Of     string         `json:"of"`              // fingerprint of the texts of the criterion and its task at that time
	Gate   string         `json:"gate"`            // its check
	By     EvidenceReason `json:"by,omitzero"`     // empty: no evidence
	Tests  []string       `json:"tests,omitempty"` // tests, or other results, that are evidence for it
	Seen   []string       `json:"seen,omitempty"`  // those of Tests that the gate's runner reported as passed
	// only tests that came with the change are evidence: a reviewer judges whether they test
	// the right thing
	Own   bool   `json:"own,omitzero"`
	Tried string `json:"tried,omitzero"` // result of an independent check, if Own is set and one was made
	Left  bool   `json:"left,omitzero"`  // no machine can show it, for the reason in Why
	Why   string `json:"why"`            // explanation, with or without evidence
}

// CriterionFaultLocation is the location of the fault when a check fails.
type CriterionFaultLocation string

// The zero kind counts as [FaultInSource]: the check is not changed.
const (
	FaultInSource CriterionFaultLocation = "source" // the work is wrong
	FaultInTest   CriterionFaultLocation = "test"   // the check is wrong
	FaultInBoth   CriterionFaultLocation = "both"
	// the check tests an earlier text of the criterion, and nothing shows the present one.
	FaultStale CriterionFaultLocation = "stale"
)

// CriterionFault is a criterion that the landed tree does not meet, and the task that fixes
// it.
type CriterionFault struct {
	Criterion string                 `json:"criterion"` // T1/AC-2
	Task      string                 `json:"task"`      // that fixes it
	Signature string                 `json:"signature"` // of its failure: the same signature again means no progress
	Kind      CriterionFaultLocation `json:"kind,omitzero"`
	By        string                 `json:"by,omitzero"` // source of the judgement: evidence or a session; empty: undecided
	Why       string                 `json:"why,omitzero"`
	Commit    string                 `json:"commit,omitzero"`  // first commit on the branch on which the check fails, if known
	Of        string                 `json:"of,omitzero"`      // the task that landed it
	Judges    []string               `json:"judges,omitempty"` // files that the check consists of
}
