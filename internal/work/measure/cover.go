package measure

import (
	"cmp"
	_ "embed"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/bounds"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/done"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/parse"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/parse/report"
)

//go:embed audit.sh
var audit string

// The gates that measure. They are none that judge: what they measured is held
// to the bounds.
const (
	coverGate = "coverage"
	auditGate = "audit"
	faulty    = 3 // exit code of the audit where it found something
)

// Gates returns what runs beside the gates to measure a tree; it comes last.
func (m *Meter) Gates() []gate.Gate {
	if m == nil {
		return nil
	}
	var all []gate.Gate
	if on(m.Rules, done.Audit) {
		all = append(all, gate.Gate{Name: auditGate, Args: []string{"sh", "-c", audit}, Format: parse.Exit})
	}
	if on(m.Rules, done.Coverage) && m.Rules.Command != "" {
		all = append(all, gate.Gate{Name: coverGate, Args: []string{"sh", "-c", m.Rules.Command}, Format: m.Rules.Format})
	}
	return all
}

func on(r done.Rules, bound string) bool {
	mode := r.Modes[bound]
	return mode == done.Warn || mode == done.Block
}

// Last puts what measures behind the gates that judge.
func (m *Meter) Last(gates []gate.Gate) []gate.Gate {
	own := m.Gates()
	if len(own) == 0 {
		return gates
	}
	return append(slices.DeleteFunc(slices.Clone(gates), func(g gate.Gate) bool {
		return slices.ContainsFunc(own, func(o gate.Gate) bool { return o.Name == g.Name })
	}), own...)
}

// Taken is what gates measured.
type Taken struct {
	Cover *bounds.Cover // nil: nobody did
	Audit *bounds.Audit

	Get func(hash string) ([]byte, error) // finds what gates printed; nil: the meter's own

	report, before string // blobs with the reports of coverage, now and on the base; empty: there is none
}

// Take takes what was measured out of what gates said.
func (m *Meter) Take(all []nexus.Evidence, base func(string) (nexus.Evidence, bool)) ([]nexus.Evidence, Taken) {
	var t Taken
	own := m.Gates()
	if len(own) == 0 {
		return all, t
	}
	rest := slices.DeleteFunc(slices.Clone(all), func(e nexus.Evidence) bool {
		mine := slices.ContainsFunc(own, func(g gate.Gate) bool { return g.Name == e.Gate })
		switch {
		case mine && e.Gate == coverGate:
			t.Cover = covered(e, base)
			t.report = e.Output
			if base != nil {
				was, _ := base(coverGate)
				t.before = was.Output
			}
		case mine:
			t.Audit = &bounds.Audit{}
			switch {
			case e.State == nexus.Pass && (e.Exit == 0 || e.Exit == faulty): // what the base has is nobody's fault
			case e.Exit == faulty:
				t.Audit.Found = append(t.Audit.Found, e.Findings...)
			default: // though nobody could tell of the base either
				t.Audit.Why = because(e)
			}
		}
		return mine
	})
	return rest, t
}

// because says why a measurement came to nothing.
func because(e nexus.Evidence) string {
	why := string(e.State) + ": " + e.Why
	for _, f := range e.Findings[:min(1, len(e.Findings))] {
		why += f.Message
	}
	return why
}

// covered reads how much was covered, now and on the base.
func covered(e nexus.Evidence, base func(string) (nexus.Evidence, bool)) *bounds.Cover {
	c := &bounds.Cover{}
	percent, ok := report.Percent(e.Why)
	if c.Now = percent; e.State != nexus.Pass || !ok {
		c.Why = "the command for coverage: " + string(e.State) + ": " + cmp.Or(e.Why, "it printed no report")
	}
	if base != nil {
		if was, known := base(coverGate); known && was.State == nexus.Pass {
			c.Before, c.Had = report.Percent(was.Why)
		}
	}
	return c
}
