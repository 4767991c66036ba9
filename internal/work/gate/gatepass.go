package gate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/report"
)

// RunAll runs the gates on a tree in their order and stops at the first red one. Known
// evidence for this very tree, command and toolchain is reused. The verdict has passed when
// every gate has; a gate that did not run is red too, unless it did not run on the base
// either. A gate that runs some of another's tests ends the pass when they are red; with any
// other result, the other judges too, unless it may wait. A gate that does not end and did not
// on the base does not end the pass, which fails unless some of its tests, or a criterion,
// judged in its place; nor is such a gate repeated to measure it. With Each a red criterion
// does not stop other gates.
func (r GateRunner) RunAll(ctx context.Context, t JudgedTreeDir, gates []QualityGate, known func(tree, gate string) (nexus.GateEvidence, bool)) (nexus.GatesVerdict, error) {
	v := nexus.GatesVerdict{Tree: t.Hash}
	green := 0
	r.skipped = &[]QualityGate{}
	waits := map[string]bool{}
	for _, g := range gates {
		if waits[g.Name] || g.RepeatsHangingTests(nexus.EvidenceOfGate(v.Evidence, g.Again)) {
			continue
		}
		e, base, cached, err := r.judgeAgainstBase(ctx, t, g, r.withSameCommandEvidence(ctx, t, gates, v.Evidence, g, known))
		e.Optional = g.Optional
		if err == nil {
			e, err = r.shortenFindings(e)
		}
		if err == nil && r.Judged != nil {
			err = r.Judged(e, cached)
		}
		if err != nil {
			return nexus.GatesVerdict{Tree: t.Hash}, err
		}
		v.Evidence = append(v.Evidence, e)
		switch {
		case g.Optional:
		case e.Passed() && g.Of != "":
			waits[g.Of] = r.Later
			if r.Later {
				green++
			}
		case e.Passed():
			green++
		case g.IsPartWithoutResult(e):
		case e.Hangs, e.Apart:
		case e.State == nexus.NotRun && (base.State == nexus.NotRun || isToolMissing(base) || changedCheckedFiles(base)) && base.Tree != "":
		case r.Each && isCriterionGate(g):
			v.Why = cmp.Or(v.Why, shortRedReason(e))
		default:
			v.Why = shortRedReason(e)
			return v, nil
		}
	}
	return finishVerdict(v, gates, green > 0), nil
}

// finishVerdict sets whether a verdict has passed, if no red gate ended it.
func finishVerdict(v nexus.GatesVerdict, gates []QualityGate, green bool) nexus.GatesVerdict {
	if v.Why != "" {
		return v
	}
	why := "no gate could judge the tree"
	if hung, passed := findHungGate(v.Evidence, gates); hung != nil {
		green, why = passed, shortRedReason(*hung)
	}
	if v.Passed = green && v.Tree != ""; !v.Passed {
		v.Why = why
	}
	return v
}

// JudgeAgainstBase judges a tree with one gate, against the base if there is one.
func (r GateRunner) JudgeAgainstBase(ctx context.Context, t JudgedTreeDir, g QualityGate) (nexus.GateEvidence, error) {
	e, _, _, err := r.judgeAgainstBase(ctx, t, g, nil)
	if err != nil {
		return e, err
	}
	return r.shortenFindings(e)
}

// judgeAgainstBase judges a tree with a gate, against the gate's result on the base.
func (r GateRunner) judgeAgainstBase(ctx context.Context, t JudgedTreeDir, g QualityGate, known func(tree, gate string) (nexus.GateEvidence, bool)) (e, base nexus.GateEvidence, cached bool, err error) {
	if r.Base != nil {
		base = r.baseEvidence(g)
	}
	if why := r.reasonToRunSeparately(g); why != "" {
		e = r.emptyEvidence(ctx, t, g)
		e.Apart, e.Why = true, why
		return e, base, false, nil
	}
	raw, cached, err := r.knownOrRun(ctx, t, g, base.Tree, known)
	if err == nil {
		base, err = r.moveBaseFindings(ctx, base, raw)
	}
	if err != nil {
		return e, base, false, err
	}
	if hangs, err := r.hangsOnBaseToo(ctx, g, base, raw); hangs || err != nil {
		raw.State, raw.Why = nexus.NotRun, "timeout, also on the base: "+raw.Why
		raw.Findings = nil
		return raw, base, cached, err
	}
	if raw = relatedResult(g, base, raw); g.IsPartWithoutResult(raw) {
		return raw, base, cached, nil
	}
	if f, ok := stack.OutputFormats().FindFormat(g.Format); ok && f.Warns && base.State == nexus.Fail {
		raw.Findings = blockingFindings(raw)
	}
	e = r.applyQuarantine(g, raw, r.rawEvidenceIfWorkCausedHang(g, raw, CompareWithBase(base, raw, r.Wanted)))
	if !cached && e.State == nexus.Fail {
		if raw, err = r.findFlakyTests(ctx, t, g, base, raw); err != nil {
			return e, base, false, err
		}
		e = r.applyQuarantine(g, raw, CompareWithBase(base, raw, r.Wanted))
	}
	if !cached && e.Passed() && g.Of == "" {
		lies, err := r.detectHiddenFailures(ctx, t, g, raw)
		if err != nil {
			return e, base, false, err
		}
		if len(lies) > 0 {
			raw.State, raw.Findings = nexus.Fail, append(slices.Clone(raw.Findings), lies...)
			e = r.applyQuarantine(g, raw, CompareWithBase(base, raw, r.Wanted))
		}
	}
	if e.State == raw.State && e.Why == raw.Why && len(e.Findings) == len(raw.Findings) {
		return e, base, cached, nil
	}
	e.Base = base.Tree
	e.Raw, err = r.storeRawEvidence(raw)
	return e, base, cached, err
}

// baseEvidence returns a gate's result on the base. A gate that runs some of another's tests is
// compared with the other's result.
func (r GateRunner) baseEvidence(g QualityGate) nexus.GateEvidence {
	if g.Of == "" {
		e, _ := r.Base(g.Name)
		e, _ = WithAllFindings(e, r.Get) // if the blob is lost, the remaining findings are used
		return e
	}
	e, ok := r.Base(g.Of)
	if !ok {
		return nexus.GateEvidence{}
	}
	e, _ = WithAllFindings(e, r.Get)
	e.Gate, e.Findings = g.Name, slices.Clone(e.Findings)
	e.Counts = nexus.TestCounts{} // counts of all tests: a selection always has fewer
	for i := range e.Findings {
		e.Findings[i].Gate = g.Name
	}
	return e
}

// blockingFindings returns the findings that are more than warnings, for a gate that is red for more
// than warnings: if a tool lets warnings pass, new ones do not count against a tree that has
// old errors.
func blockingFindings(e nexus.GateEvidence) []nexus.Finding {
	if e.State != nexus.Fail || !slices.ContainsFunc(e.Findings, parserbase.IsBlocking) {
		return e.Findings
	}
	return slices.DeleteFunc(slices.Clone(e.Findings), func(f nexus.Finding) bool { return !parserbase.IsBlocking(f) })
}

// storeRawEvidence stores evidence before its comparison, and returns the blob's name, or "" if it is
// of no use later.
func (r GateRunner) storeRawEvidence(raw nexus.GateEvidence) (string, error) {
	if r.Put == nil || !isReproducible(raw) {
		return "", nil
	}
	data, _ := json.Marshal(raw) // it is plain data, which never fails
	return r.Put(data)
}

// isReproducible reports whether evidence is valid for its tree at any time and against any
// base: other states may differ next time.
func isReproducible(e nexus.GateEvidence) bool {
	_, measured := report.ParsePercent(e.Why) // the result of a measurement
	said := e.Why == "" || measured && e.State == nexus.Pass
	return (e.State == nexus.Pass || e.State == nexus.Fail) && said && e.Raw == "" && e.Base == ""
}

// knownOrRun returns the known result of a gate on a tree, or runs it. Evidence that was
// compared with a base is reused in its form before that.
func (r GateRunner) knownOrRun(ctx context.Context, t JudgedTreeDir, g QualityGate, base string, known func(tree, gate string) (nexus.GateEvidence, bool)) (e nexus.GateEvidence, cached bool, err error) {
	if known != nil {
		old, ok := known(t.Hash, g.Name)
		if raw, usable := RawEvidence(old, r.Get); ok && usable && r.IsReusable(ctx, t, g, raw) {
			if old.Base != base {
				raw.Unsure = nil // these tests were unsure against another base
			}
			r.rememberSkippedGate(g)
			return raw, true, nil
		}
	}
	builds := func(s QualityGate) bool { return !s.Tests && s.Again == "" }
	if err := r.rerunSkippedGates(ctx, t, g, builds); err != nil {
		return e, false, err
	}
	e, err = r.judgeWithAllFindings(ctx, t, g)
	if err != nil || e.Passed() || r.skipped == nil || seesOnlyTrackedFiles(g) || !slices.ContainsFunc(*r.skipped, func(s QualityGate) bool { return s.Again == "" }) {
		return e, false, err
	}
	// g may need the files that tests create
	if err := r.rerunSkippedGates(ctx, t, g, func(s QualityGate) bool { return s.Again == "" }); err != nil {
		return e, false, err
	}
	e, err = r.judgeWithAllFindings(ctx, t, g)
	return e, false, err
}

// isCriterionGate reports whether a gate is the command of a criterion, whose files no other gate
// needs.
func isCriterionGate(g QualityGate) bool { return strings.HasPrefix(g.Name, nexus.AcceptGate) }

// withSameCommandEvidence extends known with the results of this pass for a criterion whose command equals that
// of a gate, or runs some of its tests.
func (r GateRunner) withSameCommandEvidence(ctx context.Context, t JudgedTreeDir, gates []QualityGate, said []nexus.GateEvidence, g QualityGate, known func(tree, gate string) (nexus.GateEvidence, bool)) func(tree, gate string) (nexus.GateEvidence, bool) {
	twin, ok := GateEvidenceForCriterion(gates, said, g, r.Get)
	if !ok {
		return known
	}
	// the toolchain that it was judged with just now
	twin.Toolchain = r.emptyEvidence(ctx, t, g).Toolchain
	return func(tree, gate string) (nexus.GateEvidence, bool) {
		if known != nil {
			if e, ok := known(tree, gate); ok {
				return e, true
			}
		}
		return twin, tree == twin.Tree && gate == twin.Gate
	}
}

// GateEvidenceForCriterion returns a gate's result on a tree for a criterion whose command equals
// that of the gate, or runs some of its tests: they need not run twice. Evidence that may
// differ next time is excluded, and so is red and flaky evidence.
func GateEvidenceForCriterion(gates []QualityGate, said []nexus.GateEvidence, g QualityGate, get func(hash string) ([]byte, error)) (nexus.GateEvidence, bool) {
	if !isCriterionGate(g) {
		return nexus.GateEvidence{}, false
	}
	for _, e := range said {
		i := slices.IndexFunc(gates, func(o QualityGate) bool { return o.Name == e.Gate })
		if i < 0 || !RunsSameCommand(gates[i], g) || len(e.Flaky) > 0 || len(e.Unsure) > 0 {
			continue
		}
		raw, ok := RawEvidence(e, get)
		if ok = ok && (raw.State == nexus.Pass) == (raw.Exit == 0); !ok {
			continue
		}
		raw.Gate, raw.Findings = g.Name, slices.Clone(raw.Findings)
		for n := range raw.Findings {
			raw.Findings[n].Gate = g.Name
		}
		return raw, true
	}
	for _, e := range said {
		i := slices.IndexFunc(gates, func(o QualityGate) bool { return o.Name == e.Gate })
		if i < 0 || len(e.Flaky) > 0 || len(e.Unsure) > 0 {
			continue
		}
		if some, ok := evidenceForSelection(gates[i], e, g, get); ok {
			return some, true
		}
	}
	return nexus.GateEvidence{}, false
}

// RunsSameCommand reports whether a gate of the root runs a criterion's command, and parses
// its output in the same way.
func RunsSameCommand(o, g QualityGate) bool {
	return !isCriterionGate(o) && (o.Dir == "" || o.Dir == ".") && slices.Equal(o.Args, g.Args) && o.Format == g.Format && len(o.Reports) == 0 && o.Of == "" && o.Again == "" &&
		(o.Tests || !g.Tests)
}

// rememberSkippedGate remembers a gate that did not have to run, for gates that need the files that it
// creates.
func (r GateRunner) rememberSkippedGate(g QualityGate) {
	if r.skipped != nil && !seesOnlyTrackedFiles(g) && !isCriterionGate(g) {
		*r.skipped = append(*r.skipped, g)
	}
}

// rerunSkippedGates runs the project's own earlier commands that were skipped in this pass, if picked
// selects them: a gate may need the files that they create.
func (r GateRunner) rerunSkippedGates(ctx context.Context, t JudgedTreeDir, g QualityGate, picked func(QualityGate) bool) error {
	if r.skipped == nil || seesOnlyTrackedFiles(g) {
		return nil
	}
	var left []QualityGate
	for _, s := range *r.skipped {
		if !picked(s) {
			left = append(left, s)
			continue
		}
		if _, _, err := r.runCommandAndRead(ctx, t, s, r.gateTimeLimit(s)); err != nil && !errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
			return err
		}
	}
	*r.skipped = left
	return nil
}

// RawEvidence returns evidence in its form before the comparison with a base, and false if
// that is unknown or may differ next time.
func RawEvidence(e nexus.GateEvidence, get func(hash string) ([]byte, error)) (nexus.GateEvidence, bool) {
	if e.Raw == "" || get == nil {
		whole, ok := WithAllFindings(e, get)
		return whole, ok && isReproducible(e)
	}
	data, err := get(e.Raw)
	var raw nexus.GateEvidence
	if err != nil || json.Unmarshal(data, &raw) != nil || raw.Tree != e.Tree || raw.Gate != e.Gate || raw.Command != e.Command || raw.Toolchain != e.Toolchain {
		return e, false
	}
	return raw, isReproducible(raw)
}

// IsReusable reports whether evidence is a gate's result with this command and these tools on
// this very tree.
func (r GateRunner) IsReusable(ctx context.Context, t JudgedTreeDir, g QualityGate, e nexus.GateEvidence) bool {
	now := r.emptyEvidence(ctx, t, g)
	return e.Tree == now.Tree && e.Tree != "" && e.Gate == now.Gate && e.Command == now.Command && e.Toolchain == now.Toolchain
}
