package nexus

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Fingerprint stands for texts, whatever their blanks.
func Fingerprint(texts ...string) string {
	for i, text := range texts {
		texts[i] = strings.Join(strings.Fields(text), " ")
	}
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(sum[:6])
}

// CriterionCheck is the test that somebody wrote for a criterion which came without
// one, or why there is none.
type CriterionCheck struct {
	Number  int    `json:"number"`           // of the criterion in its task, from 1
	Of      string `json:"of"`               // fingerprint of what the criterion and its task said then
	Test    string `json:"test,omitzero"`    // its name
	File    string `json:"file,omitzero"`    // that it is in
	Command string `json:"command,omitzero"` // that runs it alone
	Proved  bool   `json:"proved,omitzero"`  // it was red without the work, for the right reason, and green with it
	Red     bool   `json:"red,omitzero"`     // it fails with the work, and not for a fault of its own
	Why     string `json:"why,omitzero"`     // why it counts for nothing, or why no machine can check it
}

// CriterionKind is what a criterion asks for. It is a fact of the criterion, and decides
// which evidence can show it (docs/acceptance.md). The zero kind is behavior that changes.
type CriterionKind string

// The kinds. A planner or a person sets the first three; the others follow from the task.
const (
	StaysCriterion  CriterionKind = "stays"  // what it names works before the work, and still does
	TestsCriterion  CriterionKind = "tests"  // there are tests
	GateCriterion   CriterionKind = "gate"   // its check passes, and nothing else is asked for
	RenameCriterion CriterionKind = "rename" // something has another name
	DocsCriterion   CriterionKind = "docs"   // a text says something
)

// Settable reports whether a plan may give a criterion this kind.
func (k CriterionKind) Settable() bool {
	return k == "" || k == StaysCriterion || k == TestsCriterion || k == GateCriterion
}

// Bearing says why what a gate ran bears on a criterion. The zero Bearing is
// none: a gate that passes only because nothing got worse shows nothing.
type Bearing string

// The bearings.
const (
	NamedBearing   Bearing = "named"   // what the criterion names failed before, and passes now
	TurnedBearing  Bearing = "turned"  // failed before, and passes now
	NewBearing     Bearing = "new"     // came with the change, fails without the rest of it, and passes with it
	AskedBearing   Bearing = "asked"   // tests that were asked for: they run, check something, and pass
	CoversBearing  Bearing = "covers"  // runs the lines that the change made, of which nothing should be seen
	LiteralBearing Bearing = "literal" // the criterion asks for nothing but that the gate passes
	KeptBearing    Bearing = "kept"    // what passed before passes now, which is all that the criterion asks for
	ReadBearing    Bearing = "read"    // of comments and documents: a verifier reads the change
	BlindBearing   Bearing = "blind"   // a check by a session that saw the goal and the base, and not the change: red on the base, green now
)

// KeptText is the criterion that what exists keeps working. What gates said about the
// base and say about the work shows it, and no model is asked.
const KeptText = "Every test that passed before the work passes with it"

// Kept reports whether a criterion asks that what exists keeps working, and nothing else.
func (c Criterion) Kept() bool {
	return c.Check != "" && strings.EqualFold(strings.TrimRight(strings.Join(strings.Fields(c.Text), " "), "."), KeptText)
}

// CriterionShown says what shows a criterion whose check is a gate, or why nothing does.
type CriterionShown struct {
	Number int      `json:"number"`          // of the criterion in its task, from 1
	Of     string   `json:"of"`              // fingerprint of what the criterion and its task said then
	Gate   string   `json:"gate"`            // its check
	By     Bearing  `json:"by,omitzero"`     // empty: nothing shows it
	Tests  []string `json:"tests,omitempty"` // that bear on it, or what else does
	Seen   []string `json:"seen,omitempty"`  // of Tests, those that the gate's runner named as passed
	Own    bool     `json:"own,omitzero"`    // nothing but tests that came with the change shows it: who reads them judges whether they ask for the right thing
	Tried  string   `json:"tried,omitzero"`  // what came of an independent check, where Own and one was tried
	Left   bool     `json:"left,omitzero"`   // no machine can show it, for the reason in Why
	Why    string   `json:"why"`             // in words, either way
}

// FaultKind says where the fault lies when a check is red.
type FaultKind string

// The kinds. The zero Kind counts as [FaultInSource]: the check stays as it is.
const (
	FaultInSource FaultKind = "source" // the work is wrong
	FaultInTest   FaultKind = "test"   // the check is wrong
	FaultInBoth   FaultKind = "both"
	FaultStale    FaultKind = "stale" // the check is of what the criterion said before, and nothing shows it now
)

// CriterionFault is a criterion that is not met on what landed, and the task that
// mends it.
type CriterionFault struct {
	Criterion string    `json:"criterion"` // T1/AC-2
	Task      string    `json:"task"`      // that fixes it
	Signature string    `json:"signature"` // of its failure: the same one again is no progress
	Kind      FaultKind `json:"kind,omitzero"`
	By        string    `json:"by,omitzero"` // evidence, or the session that said so; empty where nobody could
	Why       string    `json:"why,omitzero"`
	Commit    string    `json:"commit,omitzero"`  // the first on the branch on which the check is red, where that is known
	Of        string    `json:"of,omitzero"`      // the task that landed it
	Judges    []string  `json:"judges,omitempty"` // files that the check consists of
}
