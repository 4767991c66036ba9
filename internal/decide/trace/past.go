package trace

import (
	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Past is a run with what is known of its criteria.
type Past struct {
	State    *state.State
	Criteria []accept.Row
	Lands    bool // what it landed is where it is to be
}

// Shown is a statement that a run shows to be met.
type Shown struct {
	Row

	Check string // that shows it, for a criterion of a spec
}

// Verified returns what a run verified of its own goal.
func (p Past) Verified() (all []Shown) {
	said := statements(p.State.Goal.Goal.Text)
	for _, row := range Of(p.State.Goal.Goal.Text, p.State, p.Criteria).Rows {
		if row.Gap == "" && row.Asks && !row.Later && row.Stage == Verified {
			row.Run = p.State.Run
			all = append(all, Shown{row, said[row.ID].check})
		}
	}
	return all
}

// Elsewhere says of a goal's statement that a run landed it where it is not yet.
const Elsewhere = "it landed, but not on "

// Stay makes gaps of what a run verified on a branch of its own.
func (t *Trace) Stay(branch string) {
	for i := range t.Rows {
		if r := &t.Rows[i]; r.Gap == "" && r.Stage == Verified && len(r.Commits) > 0 {
			r.Stage, r.Gap = Implemented, Elsewhere+branch
			t.Gaps++
		}
	}
}

// Fill closes gaps with what other runs verified in the same words, and under the same check: a run whose goal was
// only what was missing. The first that is given counts.
func (t *Trace) Fill(goal string, others []Past) {
	said := statements(goal)
	for _, p := range others {
		if t.Gaps == 0 || t.Why != "" {
			return
		}
		if !p.Lands || p.State.Run == t.Run {
			continue
		}
		for _, is := range p.Verified() {
			t.fill(is, said)
		}
	}
}

func (t *Trace) fill(is Shown, said map[string]statement) {
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.Gap == "" || r.Later || spec.Line(is.Text) != spec.Line(r.Text) || said[r.ID].check != is.Check {
			continue
		}
		row := is.Row
		row.Statement, row.Priority = r.Statement, r.Priority
		*r = row
		t.Gaps--
	}
}

// RunOf returns whose state a row is.
func (t Trace) RunOf(r Row) nexus.RunID {
	if r.Run != "" {
		return r.Run
	}
	return t.Run
}

// Follow traces a spec through the newest run that has a plan for it, and through those whose goal was what that
// one lacked. Runs come with the newest first. What a run landed elsewhere than on the branch is a gap; without a
// branch it is none.
func Follow(goal, branch string, past []Past) Trace {
	of, _ := spec.Read([]byte(goal))
	var newest Past
	for _, p := range past {
		said := p.State.Goal.Goal.Text
		if !spec.Is(said) || len(p.State.Tasks) == 0 {
			continue
		}
		if was, _ := spec.Read([]byte(said)); was.Title == of.Title {
			newest = p
			break
		}
	}
	t := Of(goal, newest.State, newest.Criteria)
	if newest.State != nil && branch != "" && !newest.Lands {
		t.Stay(branch)
	}
	t.Fill(goal, past)
	return t
}
