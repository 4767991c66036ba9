package measure

import (
	"cmp"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/bounds"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/done"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/parse/report"
)

// coverGate is the gate that measures coverage. It is none that judges: what it
// measured is held to the bounds.
const coverGate = "coverage"

// Gates returns what runs beside the gates to measure a tree; it comes last.
func (m *Meter) Gates() []gate.Gate {
	if m == nil || m.Rules.Command == "" || m.Rules.Modes[done.Coverage] == "" || m.Rules.Modes[done.Coverage] == done.Off {
		return nil
	}
	return []gate.Gate{{Name: coverGate, Args: []string{"sh", "-c", m.Rules.Command}, Format: m.Rules.Format}}
}

// Last puts what measures behind the gates that judge.
func (m *Meter) Last(gates []gate.Gate) []gate.Gate {
	own := m.Gates()
	if len(own) == 0 {
		return gates
	}
	return append(slices.DeleteFunc(slices.Clone(gates), func(g gate.Gate) bool { return g.Name == coverGate }), own...)
}

// Take takes what was measured out of what gates said.
func (m *Meter) Take(all []nexus.Evidence, base func(string) (nexus.Evidence, bool)) ([]nexus.Evidence, *bounds.Cover) {
	if len(m.Gates()) == 0 {
		return all, nil
	}
	i := slices.IndexFunc(all, func(e nexus.Evidence) bool { return e.Gate == coverGate })
	if i < 0 {
		return all, nil
	}
	e := all[i]
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
	return slices.Delete(slices.Clone(all), i, i+1), c
}
