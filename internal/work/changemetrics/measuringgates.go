package changemetrics

import (
	"cmp"
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/definitionofdone"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/report"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

//go:embed audit.sh
var audit string

// The gates that measure. They do not judge: their measurements are compared with the limits.
const (
	coverGate = "coverage"
	auditGate = "audit"
	faulty    = 3 // the audit's exit code if it found something
)

// ofTests begins the names of the gates that measure test coverage by the row of their stack.
// No gate of a project has such a name.
const ofTests = coverGate + ": "

// short limits a measurement that was not requested.
const short = 2 * time.Minute

// measuringGates returns the gates that measure a tree beside the given gates; run is set
// if the tree is the result of a run.
func (m *ChangeMeasurer) measuringGates(rows []gate.QualityGate, run bool) []gate.QualityGate {
	if m == nil {
		return nil
	}
	var all []gate.QualityGate
	if mode := m.Rules.Modes[nexus.AuditBound]; mode == nexus.BoundWarn || mode == nexus.BoundBlock {
		all = append(all, gate.QualityGate{Name: auditGate, Args: []string{"sh", "-c", audit}, Format: outputparser.Exit})
	}
	mode := m.Rules.Modes[nexus.CoverageBound]
	switch {
	case mode == "" || mode == nexus.BoundOff || mode == nexus.BoundAuto && !run:
		return all
	case m.Rules.Command != "":
		return append(all, gate.QualityGate{Name: coverGate, Args: []string{"sh", "-c", m.Rules.Command}, Format: m.Rules.Format})
	}
	for _, g := range rows {
		if !g.Tests || g.Of != "" || len(g.Goes.Args) == 0 {
			continue
		}
		own := gate.QualityGate{Name: ofTests + g.Name, Dir: g.Dir, Args: g.Goes.Args, Format: g.Goes.Format, Timeout: g.Timeout, Goes: stack.CoverageCommand{Name: g.Goes.Name}, Again: g.Name}
		if mode == nexus.BoundAuto && (own.Timeout == 0 || own.Timeout > short) {
			own.Timeout = short
		}
		all = append(all, own)
	}
	return all
}

// AppendMeasuringGates appends the measuring gates to the gates that judge a tree. Rows are
// the gates of the tree, including its tests. Existing measuring gates stay.
func (m *ChangeMeasurer) AppendMeasuringGates(gates, rows []gate.QualityGate, run bool) []gate.QualityGate {
	own := m.measuringGates(rows, run)
	if len(own) == 0 {
		return gates
	}
	rest := slices.Clone(gates)
	for i, o := range own {
		at := slices.IndexFunc(rest, func(g gate.QualityGate) bool { return g.Name == o.Name })
		if at < 0 {
			continue
		}
		if strings.HasPrefix(o.Name, ofTests) {
			own[i] = rest[at]
		}
		rest = slices.Delete(rest, at, at+1)
	}
	return append(rest, own...)
}

// GateMeasurements are the measurements of gates.
type GateMeasurements struct {
	Cover *definitionofdone.CoveragePercentage // nil: not measured
	Audit *definitionofdone.DependencyAuditResult

	Get func(hash string) ([]byte, error) // returns the output of gates; nil: the meter's own

	parts []gateReportBlobs
}

// gateReportBlobs is the report of one gate.
type gateReportBlobs struct {
	dir, format string
	now, before string // blobs, now and on the base; empty: none
}

// ExtractMeasurements separates the measurements from the gates' results.
func (m *ChangeMeasurer) ExtractMeasurements(gates []gate.QualityGate, all []nexus.GateEvidence, base func(string) (nexus.GateEvidence, bool)) ([]nexus.GateEvidence, GateMeasurements) {
	var t GateMeasurements
	if m == nil {
		return all, t
	}
	rest := slices.Clone(all)
	for _, g := range gates {
		at := slices.IndexFunc(rest, func(e nexus.GateEvidence) bool { return e.Gate == g.Name })
		switch {
		case g.Name == auditGate && slices.Equal(g.Args, []string{"sh", "-c", audit}):
			if at >= 0 {
				t.Audit = readAudit(rest[at])
			}
		case g.Name == coverGate && m.Rules.Command != "" && slices.Equal(g.Args, []string{"sh", "-c", m.Rules.Command}), strings.HasPrefix(g.Name, ofTests):
			e := nexus.GateEvidence{Gate: g.Name, State: nexus.NotRun, Why: "an earlier gate failed"}
			if at >= 0 && rest[at].Apart { // the gate's package cannot be broken by the change
				rest = slices.Delete(rest, at, at+1)
				continue
			}
			switch {
			case at >= 0:
				e = rest[at]
			case g.RepeatsHangingTests(nexus.EvidenceOfGate(all, g.Again)):
				e.Why = "the tests do not end"
			}
			t.addCoverage(g, e, base)
		default:
			continue
		}
		if at >= 0 {
			rest = slices.Delete(rest, at, at+1)
		}
	}
	return rest, t
}

func readAudit(e nexus.GateEvidence) *definitionofdone.DependencyAuditResult {
	a := &definitionofdone.DependencyAuditResult{}
	switch {
	// problems of the base do not count
	case e.State == nexus.Pass && (e.Exit == 0 || e.Exit == faulty):
	case e.Exit == faulty:
		a.Found = append(a.Found, e.Findings...)
	default: // though the base was inconclusive, too
		a.Why = failureReason(e)
	}
	return a
}

// failureReason returns why a measurement failed.
func failureReason(e nexus.GateEvidence) string {
	why := string(e.State) + ": " + e.Why
	for _, f := range e.Findings[:min(1, len(e.Findings))] {
		why += f.Message
	}
	return why
}

// addCoverage adds the coverage that a gate reports, now and on the base.
func (t *GateMeasurements) addCoverage(g gate.QualityGate, e nexus.GateEvidence, base func(string) (nexus.GateEvidence, bool)) {
	if t.Cover == nil {
		t.Cover = &definitionofdone.CoveragePercentage{}
	}
	c := t.Cover
	how := cmp.Or(g.Goes.Name, g.Command())
	percent, ok := report.ParsePercent(e.Why)
	if e.State != nexus.Pass || !ok {
		why := unmeasuredReason(g, e, how)
		if c.Lacks = append(c.Lacks, why); len(t.parts) == 0 {
			c.Why = strings.Join(c.Lacks, "; ")
		}
		return
	}
	p := gateReportBlobs{dir: g.Dir, format: g.Format, now: e.Output}
	if base != nil {
		if was, there := base(g.Name); there && was.State == nexus.Pass {
			p.before = was.Output
		}
	}
	switch {
	case g.Name == coverGate:
		c.Command = how
	case !slices.Contains(c.How, how):
		c.How = append(c.How, how)
	}
	c.Now, c.Why = percent, "" // a sum of several, until their reports are read
	t.parts = append(t.parts, p)
}

// unmeasuredReason returns why a gate measured nothing, and a hint.
func unmeasuredReason(g gate.QualityGate, e nexus.GateEvidence, how string) string {
	if g.Name == coverGate {
		return "the command for coverage: " + string(e.State) + ": " + cmp.Or(e.Why, "it printed no report")
	}
	test := strings.TrimPrefix(g.Name, ofTests)
	if missing, ok := strings.CutPrefix(e.Why, "sh: "); ok && e.State == nexus.Environmental {
		return fmt.Sprintf("the coverage of gate %s is unknown: %s", test, missing)
	}
	why := e.Why
	if why == "" && len(e.Findings) > 0 {
		why = e.Findings[0].Message
	}
	return fmt.Sprintf("the coverage of gate %s is unknown: %s: %s: %s", test, how, e.State, why)
}

// LimitToMeasured restricts the change to the gates whose tests were measured, among those of
// the tree. New lines beside the tests of others are not reported.
func (c *MeasureRequest) LimitToMeasured(rows []gate.QualityGate, measured func(gate.QualityGate) bool) {
	if c.Taken.Cover == nil {
		c.Taken.Cover = &definitionofdone.CoveragePercentage{Why: "not measured: none of these gates has tests that Nexus can measure; set done.coverage_command"}
	}
	c.about = func(file string) bool {
		deepest, ours := -1, false
		for _, g := range rows {
			dir := strings.TrimSuffix(path.Clean(g.Dir)+"/", "./")
			if !g.Tests || g.Of != "" || !strings.HasPrefix(file, dir) || len(dir) < deepest {
				continue
			}
			ours = measured(g) || ours && len(dir) == deepest
			deepest = len(dir)
		}
		return ours
	}
}
