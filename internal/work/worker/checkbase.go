package worker

import (
	"context"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// CheckRunBase runs the gates on the base of a run, before a model is paid. If one cannot judge
// in the run's environment, for a reason that is not in the tree, a person is asked; unless
// the person agrees to work without it, the run ends here.
func (b *BaseCommitJudge) CheckRunBase(ctx context.Context, s *TreeJudge, of JudgedBaseCommit, dir string, d AttemptFactRecorder) error {
	var faults []gate.GateObstacle
	err := RunInterruptible(ctx, d, false, func(ctx context.Context) (err error) {
		faults, err = b.findBaseFaults(ctx, s, of, dir, d)
		return err
	})
	if err != nil {
		return fmt.Errorf("judge the base: %w", err)
	}
	return s.confirmWithoutGates(ctx, faults, d)
}

// findBaseFaults judges a base with the gates of a tree, and returns those that cannot judge
// there.
func (b *BaseCommitJudge) findBaseFaults(ctx context.Context, s *TreeJudge, of JudgedBaseCommit, dir string, d AttemptFactRecorder) ([]gate.GateObstacle, error) {
	gates, err := s.Gates(dir)
	if err != nil {
		return nil, err
	}
	later := func(g gate.QualityGate) string {
		if g.Optional || len(g.Only) > 0 {
			return "it judges only some changes"
		}
		return ""
	}
	gates, base, err := b.JudgeOnBase(ctx, s, of, gates, later, d)
	if err != nil {
		return nil, err
	}
	var faults []gate.GateObstacle
	for _, g := range gates {
		e, ok := base[g.Name]
		if ok && e.State == nexus.Fail && s.Yours != nil {
			if e, err = b.compareWithCheckout(ctx, s, of, e, d); err != nil {
				return nil, err
			}
		}
		if f, at := gate.EnvironmentObstacleOf(e); ok && at {
			faults = append(faults, f)
		}
	}
	return faults, nil
}

// compareWithCheckout runs a gate that is red on the base in the user's checkout, once, if that has the
// base. A green result means that the run's environment is at fault: the base's evidence is
// marked accordingly from then on.
func (b *BaseCommitJudge) compareWithCheckout(ctx context.Context, s *TreeJudge, of JudgedBaseCommit, e nexus.GateEvidence, d AttemptFactRecorder) (nexus.GateEvidence, error) {
	done, err := b.waitForTurn(ctx)
	if err != nil {
		return e, err
	}
	defer done()
	if b.compared[of.Commit+e.Gate] {
		return b.known[of.Commit][e.Gate], nil
	}
	yours, ok, err := s.Yours(ctx, of.Commit, e.Gate)
	if err != nil {
		return e, err
	}
	if b.compared == nil {
		b.compared = map[string]bool{}
	}
	b.compared[of.Commit+e.Gate] = true
	if !ok || !yours.Passed() {
		return e, nil
	}
	e = gate.MarkEnvironmentFault(e)
	b.known[of.Commit][e.Gate] = e
	return e, d.Record(ctx, nexus.GateJudged{Base: true, Evidence: e})
}

// confirmWithoutGates asks a person whether the run may start without the gates that cannot
// judgeCall.
func (j *TreeJudge) confirmWithoutGates(ctx context.Context, faults []gate.GateObstacle, d AttemptFactRecorder) error {
	if len(faults) == 0 {
		return nil
	}
	var names, causes, cures, off []string
	for _, f := range faults {
		names, off = append(names, f.Gate), append(off, "gates."+f.Gate+" = false")
		causes, cures = append(causes, fmt.Sprintf("%s: %s", f.Gate, f.Cause)), append(cures, fmt.Sprintf("%s: %s", f.Gate, f.Cure))
	}
	why := fmt.Sprintf("where runs work, %s cannot judge. %s", nexus.JoinWords(names), strings.Join(causes, "; "))
	q := nexus.QuestionAsked{
		ID:   "ground-" + strings.Join(names, "-"),
		Text: why + ". " + strings.Join(cures, " ") + " Start without it, and miss its findings?", Fallback: nexus.Unapproved, Deadline: j.until(), Trigger: humaninput.GroundTrigger,
	}
	answer, err := d.Ask(ctx, q)
	if err != nil || nexus.IsYes(answer) {
		return err
	}
	return &nexus.Error{
		Code: nexus.CodeEnvironment, Message: why,
		Hint: strings.Join(cures, " ") + " Or work without: " + strings.Join(off, ", ") + " in nexus.toml, or agree to the question (nexus approve). Then nexus resume continues the run.",
	}
}
