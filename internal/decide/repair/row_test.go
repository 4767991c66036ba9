package repair_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// stand is where an attempt stands, with all that its next step depends on.
type stand struct {
	task   nexus.Task
	a      *state.AttemptState
	limits nexus.Limits
	facts  repair.AttemptTreeFacts
}

func (s stand) next() repair.RepairStep {
	return repair.NextRepairStep(&state.TaskState{Task: s.task}, s.a, s.limits, s.facts)
}

// row returns the row of the table that a stand is in.
func (s stand) row() string {
	step, whose := s.next(), string(s.a.Strategy)
	switch s.task.Kind {
	case nexus.DocsTask:
		whose += " of words"
	case nexus.TestTask:
		whose += " of tests"
	default:
	}
	words := []string{string(step.Move), string(step.Role), string(step.Outcome), string(step.Category)}
	if step.Cause != "" {
		words = append(words, "because of "+step.Cause)
	}
	if step.Resume {
		words = append(words, "going on")
	}
	return whose + ", " + s.where() + ": " + strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}

// where names the stand.
func (s stand) where() string {
	free := s
	free.limits.Rounds = 0
	if step := free.next(); step.Move == repair.Write && !step.Resume && s.limits.Rounds > 0 && len(s.a.Rounds) >= s.limits.Rounds {
		return "no round is left"
	}
	r := s.a.LastRound()
	switch {
	case s.a.HandedWhy != "":
		return "the train hands it back"
	case r == nil && s.a.Strategy.UsesSeparateSessions() && s.facts.Tested && s.a.Proof == nil:
		return "tests of an earlier attempt are there"
	case r == nil && s.a.Strategy.UsesSeparateSessions() && s.facts.Tested:
		return "tests of an earlier attempt are " + string(s.a.Proof.Proof)
	case r == nil:
		return "nothing was written"
	}
	session := s.a.SessionByID(r.Session)
	switch {
	case session == nil || !session.Over:
		return "the " + string(r.Role) + " was cut off" + verdictReason(r.Cause)
	case r.Cause == repair.CriteriaGate:
		return s.checked(r, session)
	case session.Outcome != nexus.Accepted:
		return s.unfinished(r, session)
	case s.a.Strategy.UsesSeparateSessions() && s.a.LastSession(nexus.Coder) == nil:
		return s.before(r)
	case r.Verdict == nil && s.judgedBefore():
		return "the work was written, as it was refused"
	case r.Verdict == nil:
		return "the work was written"
	case len(r.Reviews) > 0:
		return s.reviewed(r)
	}
	return s.judged(r)
}

// judgedBefore reports whether the tree as it is was judged in an earlier round.
func (s stand) judgedBefore() bool {
	return s.a.Snapshot.Tree != "" && slices.ContainsFunc(s.a.Rounds, func(r *state.AttemptRound) bool { return r.Verdict != nil && r.Verdict.Tree == s.a.Snapshot.Tree })
}

// unfinished names a stand after a session that did not submit.
func (s stand) unfinished(r *state.AttemptRound, session *state.AgentSessionState) string {
	name := "the " + string(r.Role) + " ended as " + string(session.Outcome)
	if coded := s.a.Strategy == nexus.TDDStrict && s.a.LastSession(nexus.Coder) != nil; coded && session.Outcome == nexus.GaveUp && (r.Cause == repair.ReviewCause || r.Cause == repair.VerifyGate) {
		name += verdictReason(r.Cause)
	}
	if first := s.task.Kind == nexus.TestTask || r.Role == nexus.Coder; r.Verdict == nil && (first && !s.facts.Untouched || !first && strings.Contains(name, "mending")) {
		name += ", leaving work"
	}
	return name
}

func verdictReason(cause string) string {
	if cause == "" {
		return ""
	}
	return ", mending what " + cause + " said"
}

// before names a stand before there is any work but tests.
func (s stand) before(r *state.AttemptRound) string {
	switch {
	case r.Proof == nil && len(r.Broken) > 0:
		return "the tester touched code"
	case r.Proof == nil:
		return "the tests were written"
	}
	return "tests are " + s.proof(r)
}

// proof names what was seen of tests, and whether for the last time.
func (s stand) proof(r *state.AttemptRound) string {
	n, last := 0, s.limits.Same
	for _, o := range s.a.Rounds {
		if o.Proof != nil && o.Proof.Proof == r.Proof.Proof {
			n++
		}
	}
	switch p := r.Proof.Proof; {
	case p == nexus.ProofRed || p == nexus.ProofUnsure:
		return string(p)
	case p == nexus.ProofNone && n >= 2, n >= last:
		return string(p) + " again and again"
	default:
		return string(p)
	}
}

func (s stand) reviewed(r *state.AttemptRound) string {
	v, said := r.Reviews[len(r.Reviews)-1], 0
	for _, o := range s.a.Rounds {
		for _, v := range o.Reviews {
			if v.Reviewed && repair.IsBlocking(v, s.limits.MajorsBlock) {
				said++
			}
		}
	}
	switch {
	case !v.Reviewed && len(r.Reviews) > 1:
		return "the review cannot be read again"
	case !v.Reviewed:
		return "the review cannot be read"
	case v.Approved:
		return "the review approves"
	case !repair.IsBlocking(v, s.limits.MajorsBlock):
		return "the review names what does not block"
	case said >= s.limits.ReviewRounds:
		return "the review rejects again and again"
	default:
		return "the review rejects"
	}
}

// judged names a stand by what the gates said, and who read it after them.
func (s stand) judged(r *state.AttemptRound) string {
	v := r.Verdict
	name := "gates say " + string(v.State)
	if v.State == nexus.Pass {
		name = "gates pass"
	}
	if strings.HasPrefix(v.Gate, nexus.AcceptGate) {
		name = "criteria say " + string(v.State)
	}
	told := slices.ContainsFunc(s.a.Rounds, func(o *state.AttemptRound) bool { return o.Cause == v.Gate })
	if e := nexus.EvidenceOfGate(r.Evidence, v.Gate); e.Gate != "" && !v.State.IsRed() && v.State != nexus.Pass && !told {
		name += ", which its author was not told"
	}
	untested := ""
	switch needs := s.task.Kind != nexus.DocsTask && s.a.Strategy != nexus.NoTest; {
	case needs && !s.facts.Tested && s.a.LastSession(nexus.Tester) == nil:
		untested = ", without a test"
	case needs && !s.facts.Tested:
		untested = ", and nobody wrote a test"
	}
	switch v.State {
	case nexus.Fail, nexus.Timeout, nexus.Exceeded:
		return name + s.stuck()
	case nexus.NotRun:
		if strings.HasPrefix(v.Gate, nexus.AcceptGate) {
			return name + untested + s.stuck()
		}
	case nexus.Pass:
		if r.Proof != nil && s.a.Strategy == nexus.TDDSimple && r.Proof.Proof != nexus.ProofRed {
			return "its tests are " + s.proof(r)
		}
		if s.facts.Untouched {
			name += ", and nothing was changed"
		}
	case nexus.Environmental, nexus.MissingAsset, nexus.Flaky, nexus.Unverifiable:
		return name
	default:
		return "the gates gave no result"
	}
	if s.a.Strategy == nexus.TDDSimple && r.Proof == nil && s.a.Proof != nil && s.a.Proof.Proof == nexus.ProofRed {
		name += ", and its tests were seen red"
	} else if r.Proof != nil {
		name = "its tests are " + string(r.Proof.Proof)
	}
	switch {
	case s.facts.Revised && s.a.LastSession(nexus.Tester) == nil:
		return name + ", and the check of what was revised is missing"
	case s.facts.Claimed:
		return name + ", and checks of criteria were named"
	case s.facts.Unchecked && s.a.LastSession(nexus.Tester) == nil:
		return name + ", and criteria have no check"
	case len(s.facts.Independent) > 0 && (s.a.Reproduced == nil || s.a.Reproduced.Round != len(s.a.Rounds) || s.a.Reproduced.Tree != v.Tree):
		return name + ", and only its own tests show it"
	case len(s.facts.Independent) > 0 && len(repair.RefutedFindings(*s.a.Reproduced)) > 0 && r.Cause != repair.IndependentGate:
		return name + ", and an independent check fails"
	}
	return name + untested + s.read(r)
}

// checked names a stand after a round that was for checks of criteria.
func (s stand) checked(r *state.AttemptRound, session *state.AgentSessionState) string {
	green := s.a.Rounds[len(s.a.Rounds)-2].Verdict.Tree
	back := s.a.Snapshot.Tree == green
	switch {
	case back && (r.Verdict == nil || r.Verdict.Tree != green):
		return "the tree is the one without checks of criteria"
	case !back && session.Outcome != nexus.Accepted:
		return "the tester of criteria ended as " + string(session.Outcome)
	case !back && s.facts.Meddled != "":
		return "the tester of criteria changed what was there"
	case r.Verdict == nil:
		return "checks of criteria were written"
	case len(r.Reviews) > 0:
		return s.reviewed(r)
	}
	return s.judged(r) + ", with checks of criteria"
}

func (s stand) stuck() string {
	switch why := repair.StuckReason(s.a, s.limits.Same); {
	case why == "":
		return ""
	case strings.Contains(why, "tree"):
		return ", of the same tree again and again"
	case strings.Contains(why, "grew"):
		return ", and more each time"
	default:
		return ", the same again and again"
	}
}

// read names what a verifier said.
func (s stand) read(r *state.AttemptRound) string {
	said, no := "", 0
	for _, o := range s.a.Rounds {
		if o.Verified != nil && o.Verified.Category != "" {
			no++
		}
	}
	switch {
	case r.Suspect != nil:
		said = ", it touches its judges"
	case s.refusedBefore() && (!s.a.Strategy.UsesSeparateSessions() || r.Verified != nil && !r.Verified.Read):
		said = ", a verifier refused it before"
	}
	switch v := r.Verified; {
	case v == nil && s.next().Move == repair.Review && s.approvedBefore(r) && (r.Suspect != nil || s.a.Strategy.UsesSeparateSessions()):
		return said + ", and the verifier said yes to the same tree"
	case v == nil:
		return said
	case !v.Read:
		return said + ", nobody says whether it is right"
	case v.Category == "":
		return said + ", and the verifier says yes"
	case no >= s.limits.ReviewRounds:
		return said + ", and the verifier says no again and again"
	default:
		return said + ", and the verifier says no"
	}
}

// approvedBefore reports whether the last verdict before this round was a yes to its
// tree.
func (s stand) approvedBefore(r *state.AttemptRound) bool {
	yes := false
	for _, o := range s.a.Rounds[:len(s.a.Rounds)-1] {
		if v := o.Verified; v != nil && v.Read {
			yes = v.Category == "" && v.Tree == r.Verdict.Tree
		}
	}
	return yes
}

// refusedBefore reports whether the last verdict before this round was a no.
func (s stand) refusedBefore() bool {
	no := false
	for _, o := range s.a.Rounds[:len(s.a.Rounds)-1] {
		if o.Verified != nil && o.Verified.Read {
			no = o.Verified.Category != ""
		}
	}
	return no
}

// does returns what may come of a step, each as facts: what the world says.
func (s stand) does(step repair.RepairStep, habit string) [][]nexus.Fact {
	id, n := nexus.SessionID(step.Role), len(s.a.Rounds)
	one := func(f nexus.Fact) []nexus.Fact { return []nexus.Fact{f} }
	switch step.Move {
	case repair.Apply:
		return nil // nobody suggests a change here
	case repair.Write:
		ends := func(o nexus.Outcome) []nexus.Fact {
			return one(nexus.SessionEnded{Session: id, Outcome: o, Why: "so"})
		}
		if step.Resume {
			return [][]nexus.Fact{ends(nexus.Accepted)}
		}
		all := [][]nexus.Fact{ends(nexus.Accepted), ends(nexus.GaveUp), ends(nexus.Exhausted), ends(nexus.Stopped)}
		if step.Role == nexus.Tester && s.a.Strategy.UsesSeparateSessions() {
			all = append(all, join(ends(nexus.Accepted), one(nexus.RoleIsolationViolated{Attempt: "T1.1", Role: nexus.Tester, Files: []string{"a.go"}})))
		}
		return all
	case repair.Judge:
		return s.judges(habit, n)
	case repair.Check, repair.Forgo, repair.Afresh, repair.Reproduce, repair.Regate: // nobody claims, reports or retries anything here
	case repair.Prove:
		var all [][]nexus.Fact
		for _, p := range []nexus.TestProofResult{nexus.ProofRed, nexus.ProofGreen, nexus.ProofBroken, nexus.ProofNone, nexus.ProofUnsure} {
			all = append(all, proved(p))
		}
		return all
	case repair.Verify:
		return [][]nexus.Fact{verified(""), verified(nexus.VerifierRejected), one(nexus.VerifierVerdictGiven{Attempt: "T1.1", Tree: "t", Why: "no verdict"})}
	case repair.Review:
		r := nexus.ReviewerVerdictGiven{Attempt: "T1.1", Tree: "t"}
		yes, no, nit := r, r, r
		yes.Reviewed, yes.Approved, yes.Summary = true, true, "good"
		no.Reviewed, no.Summary, no.Findings = true, "bad", []nexus.Finding{{Severity: nexus.Critical, Message: "bad"}}
		nit.Reviewed, nit.Summary, nit.Findings = true, "hm", []nexus.Finding{{Severity: nexus.Minor, Message: "a name"}}
		r.Summary = "unreadable"
		return [][]nexus.Fact{one(yes), one(no), one(nit), one(r)}
	case repair.End:
		if step.Outcome == nexus.Accepted && s.a.Refusals == 0 {
			return [][]nexus.Fact{{
				nexus.AttemptEnded{Attempt: "T1.1", Outcome: nexus.Accepted},
				nexus.LandingRejected{Task: "T1", Attempt: "T1.1", Why: "red once merged", Tree: "m"},
				nexus.AttemptResumed{Attempt: "T1.1", Tree: "m"},
			}}
		}
	}
	return nil
}

// judges returns what gates may say. By habit an attempt fails in the same
// way, leaves the same tree, or gets redder each time.
func (s stand) judges(habit string, n int) [][]nexus.Fact {
	var all [][]nexus.Fact
	tree := fmt.Sprintf("t%d", n)
	say := func(v nexus.GateState, gate string) []nexus.Fact {
		return []nexus.Fact{nexus.GatesVerdictGiven{Attempt: "T1.1", Tree: tree, State: v, Gate: gate, Why: "so"}}
	}
	messages := []string{"want 1, have 2"}
	switch habit {
	case "tree":
		tree, messages = "t", []string{strings.Repeat("x", n)}
	case "more":
		for i := range n {
			messages = append(messages, strings.Repeat("x", i+1))
		}
	}
	for _, v := range []nexus.GateState{nexus.Pass, nexus.Timeout, nexus.Environmental, nexus.MissingAsset, nexus.Flaky, nexus.Unverifiable, nexus.NotRun, ""} {
		all = append(all, say(v, "test"))
	}
	return append(all, isRed("test", tree, messages...), say(nexus.NotRun, nexus.AcceptGate+"it adds"), join(suspect(), say(nexus.Pass, "test")), join(suspect(), say(nexus.NotRun, "test")))
}

// begins returns the facts with which a step is taken.
func (s stand) begins(step repair.RepairStep) []nexus.Fact {
	if step.Move != repair.Write || step.Resume {
		return nil
	}
	id := nexus.SessionID(step.Role)
	fs := []nexus.Fact{nexus.RoundStarted{Attempt: "T1.1", Round: len(s.a.Rounds) + 1, Role: step.Role, Cause: step.Cause, Session: id}}
	if s.a.SessionByID(id) == nil {
		fs = append(fs, nexus.SessionStarted{Session: id, Attempt: "T1.1", Role: step.Role})
	}
	return append(fs, nexus.PromptSent{Session: id, Message: "m"})
}
