package state

import (
	"iter"
	"math"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// packedAttempt stores the rounds and sessions of an attempt at a task that landed, in a
// state that is only displayed. It needs a quarter of the memory. See [AttemptByID.UnpackedCopy].
type packedAttempt struct {
	rounds   []packedRound
	sessions []packedSession
}

// packedRound is a [RoundAt]. A round with unusual content is stored unpacked.
type packedRound struct {
	whole    *AttemptRound // replaces all following fields
	role     nexus.Role
	session  nexus.SessionID
	cause    string
	base     string
	from     string
	commit   string
	result   string
	evidence []packedEvidence
	verdict  *nexus.GatesVerdictGiven
	reviews  []nexus.ReviewerVerdictGiven
	proof    *nexus.TestsRunWithoutWork
	suspect  *nexus.TamperSuspected
	verified *nexus.VerifierVerdictGiven
	n        int32
	prompted bool
}

// packedEvidence is a [nexus.GateEvidence]: most of its fields are empty if a gate passed.
type packedEvidence struct {
	whole  *nexus.GateEvidence // replaces all following fields
	of     *sharedGateText
	tree   string
	output string
	took   time.Duration
	exit   int32
	counts [3]int32
}

// packedSession is a [SessionByID] that has ended.
type packedSession struct {
	whole   *AgentSessionState // replaces all following fields
	of      *sharedSessionText
	id      nexus.SessionID
	prompt  string
	result  string
	doing   string
	usage   nexus.Usage
	spent   nexus.Money
	elapsed time.Duration
	turns   int32
	over    bool
}

// sharedGateText and sharedSessionText are texts that many judgements and sessions of a run share.
type (
	sharedGateText struct {
		gate, command, toolchain string
		state                    nexus.GateState
	}
	sharedSessionText struct {
		role           nexus.Role
		model, purpose string
		outcome        nexus.Outcome
	}
)

// attemptPacker stores one copy of each text that many attempts contain.
type attemptPacker struct {
	gates map[sharedGateText]*sharedGateText
	talks map[sharedSessionText]*sharedSessionText
}

func newAttemptPacker() *attemptPacker {
	return &attemptPacker{gates: map[sharedGateText]*sharedGateText{}, talks: map[sharedSessionText]*sharedSessionText{}}
}

// internValue returns the stored copy of a value.
func internValue[T comparable](known map[T]*T, v T) *T {
	if p := known[v]; p != nil {
		return p
	}
	known[v] = &v
	return &v
}

// packAttempt packs an attempt whose task landed.
func (s *attemptPacker) packAttempt(a *AttemptState) {
	if a.small != nil || len(a.Rounds)+len(a.Sessions) == 0 {
		return
	}
	k := &packedAttempt{}
	if len(a.Rounds) > 0 {
		k.rounds = make([]packedRound, len(a.Rounds))
	}
	for i, r := range a.Rounds {
		k.rounds[i] = s.packRound(a, r)
	}
	if len(a.Sessions) > 0 {
		k.sessions = make([]packedSession, len(a.Sessions))
	}
	for i, c := range a.Sessions {
		k.sessions[i] = s.packSession(a, c)
	}
	a.small, a.Rounds, a.Sessions = k, nil, nil
}

func (s *attemptPacker) packRound(a *AttemptState, r *AttemptRound) packedRound {
	plain := r.Fixed.Fixed == "" && r.Fixed.Commit == "" && len(r.Broken)+len(r.Answers)+len(r.Handed) == 0 && r.HandedWhy == "" &&
		r.Attempt == a.ID && r.Round == int(int32(r.Round)) //nolint:gosec // that is what is compared
	if !plain {
		return packedRound{whole: r}
	}
	k := packedRound{
		role: r.Role, session: r.Session, cause: r.Cause, base: r.Base, from: r.From, commit: r.Commit, result: r.Result, verdict: r.Verdict,
		reviews: r.Reviews, proof: r.Proof, suspect: r.Suspect, verified: r.Verified, prompted: r.Prompted,
		n: int32(r.Round), //nolint:gosec // it was compared
	}
	if len(r.Evidence) > 0 {
		k.evidence = make([]packedEvidence, len(r.Evidence))
	}
	for i := range r.Evidence {
		k.evidence[i] = s.packEvidence(&r.Evidence[i], r.Verdict)
	}
	return k
}

// unpackRound returns the unpacked round.
func (k *packedRound) unpackRound(a *AttemptState) *AttemptRound {
	if k.whole != nil {
		return k.whole
	}
	r := &AttemptRound{
		RoundStarted: nexus.RoundStarted{Attempt: a.ID, Round: int(k.n), Role: k.role, Cause: k.cause, Session: k.session},
		Base:         k.base, From: k.from, Commit: k.commit, Prompted: k.prompted, Verdict: k.verdict, Reviews: k.reviews, Proof: k.proof,
		Suspect: k.suspect, Verified: k.verified, Result: k.result,
	}
	for i := range k.evidence {
		r.Evidence = append(r.Evidence, k.evidence[i].unpackEvidence())
	}
	return r
}

func (s *attemptPacker) packEvidence(e *nexus.GateEvidence, v *nexus.GatesVerdictGiven) packedEvidence {
	plain := e.Why == "" && len(e.Findings)+len(e.Flaky)+len(e.Unsure)+len(e.Old)+len(e.Missing) == 0 && e.All == "" && e.Named == "" &&
		e.Base == "" && e.Raw == "" && e.Over == "" && !e.Hangs && !e.Optional && !e.Apart && e.Coverage == nil &&
		max(e.Exit, e.Counts.Passed, e.Counts.Failed, e.Counts.Skipped) <= math.MaxInt32 &&
		min(e.Exit, e.Counts.Passed, e.Counts.Failed, e.Counts.Skipped) >= -1
	if !plain {
		whole := *e
		return packedEvidence{whole: &whole}
	}
	k := packedEvidence{
		of: internValue(s.gates, sharedGateText{e.Gate, e.Command, e.Toolchain, e.State}), tree: e.Tree, output: e.Output, took: e.Duration,
		exit:   int32(e.Exit),                                                                     //nolint:gosec // it was compared
		counts: [3]int32{int32(e.Counts.Passed), int32(e.Counts.Failed), int32(e.Counts.Skipped)}, //nolint:gosec // they were compared
	}
	if v != nil && v.Tree == k.tree {
		k.tree = v.Tree // shares one copy of the text
	}
	return k
}

// unpackEvidence returns the unpacked evidence.
func (k *packedEvidence) unpackEvidence() nexus.GateEvidence {
	if k.whole != nil {
		return *k.whole
	}
	return nexus.GateEvidence{
		Gate: k.of.gate, State: k.of.state, Command: k.of.command, Toolchain: k.of.toolchain, Tree: k.tree, Output: k.output, Duration: k.took,
		Exit: int(k.exit), Counts: nexus.TestCounts{Passed: int(k.counts[0]), Failed: int(k.counts[1]), Skipped: int(k.counts[2])},
	}
}

func (s *attemptPacker) packSession(a *AttemptState, c *AgentSessionState) packedSession {
	plain := c.Attempt == a.ID && c.About == "" && c.After == "" && !c.Pending && c.Why == "" && c.Needs == "" &&
		c.Opened == (nexus.AgentConversationOpened{}) &&
		c.Closed == (nexus.AgentProgramEnded{}) && c.Foreign == 0 && c.call == "" && c.since.IsZero() && len(c.asks) == 0 && c.asked == 0 &&
		c.Turns >= 0 && c.Turns <= math.MaxInt32
	if !plain {
		return packedSession{whole: c}
	}
	return packedSession{
		of: internValue(s.talks, sharedSessionText{c.Role, c.Model, c.Purpose, c.Outcome}), id: c.Session, prompt: c.Prompt, result: c.Result, doing: c.Doing,
		usage: c.Usage, spent: c.Spent, elapsed: c.Elapsed, turns: int32(c.Turns), over: c.Over, //nolint:gosec // it was compared
	}
}

// unpackSession returns the unpacked session.
func (k *packedSession) unpackSession(a *AttemptState) *AgentSessionState {
	if k.whole != nil {
		return k.whole
	}
	return &AgentSessionState{
		SessionStarted: nexus.SessionStarted{Session: k.id, Attempt: a.ID, Role: k.of.role, Model: k.of.model, Prompt: k.prompt},
		Turns:          int(k.turns), Over: k.over, Outcome: k.of.outcome, Result: k.result, Doing: k.doing, Purpose: k.of.purpose,
		Usage: k.usage, Spent: k.spent, Elapsed: k.elapsed,
	}
}

// UnpackedCopy returns the attempt with all its rounds and sessions: the attempt itself, unless
// the state has packed it. The result must not be changed.
func (a *AttemptState) UnpackedCopy() *AttemptState {
	if a == nil || a.small == nil {
		return a
	}
	w := *a
	w.unpackInPlace()
	return &w
}

// unpackInPlace unpacks an attempt in place, for a fact that arrived late.
func (a *AttemptState) unpackInPlace() {
	k := a.small
	if k == nil {
		return
	}
	a.small = nil
	for i := range k.rounds {
		a.Rounds = append(a.Rounds, k.rounds[i].unpackRound(a))
	}
	for i := range k.sessions {
		a.Sessions = append(a.Sessions, k.sessions[i].unpackSession(a))
	}
}

// GateEvidence returns the gates' evidence of the rounds, in order, or only of the last round if
// last is set. The result is the same for a packed attempt.
func (a *AttemptState) GateEvidence(last bool) iter.Seq[nexus.GateEvidence] {
	return func(yield func(nexus.GateEvidence) bool) {
		rounds := a.Rounds
		if last {
			rounds = rounds[max(0, len(rounds)-1):]
		}
		for _, r := range rounds {
			for _, e := range r.Evidence {
				if !yield(e) {
					return
				}
			}
		}
		if a.small != nil {
			a.small.eachEvidence(last, yield)
		}
	}
}

// eachEvidence yields the results of [AttemptByID.GateEvidence].
func (k *packedAttempt) eachEvidence(last bool, yield func(nexus.GateEvidence) bool) {
	rounds := k.rounds
	if last {
		rounds = rounds[max(0, len(rounds)-1):]
	}
	for i := range rounds {
		r := &rounds[i]
		if r.whole != nil {
			for _, e := range r.whole.Evidence {
				if !yield(e) {
					return
				}
			}
		}
		for j := range r.evidence {
			if !yield(r.evidence[j].unpackEvidence()) {
				return
			}
		}
	}
}

// SessionCost returns what the sessions of the attempt cost.
func (a *AttemptState) SessionCost() nexus.Money {
	var sum nexus.Money
	for _, c := range a.Sessions {
		sum += c.Spent
	}
	if a.small != nil {
		for _, k := range a.small.sessions {
			if sum += k.spent; k.whole != nil {
				sum += k.whole.Spent
			}
		}
	}
	return sum
}

// sessionByID returns the session with this ID, or nil if there is none. It unpacks the session's
// attempt.
func (s *State) sessionByID(id nexus.SessionID) *AgentSessionState {
	if c := s.sessions[id]; c != nil {
		return c
	}
	a := s.attempts[attemptOfSession(id)]
	if a == nil || s.shelf == nil {
		return nil
	}
	s.unpackAttempt(a)
	return s.sessions[id]
}

// unpackAttempt unpacks an attempt and registers its sessions, if needed.
func (s *State) unpackAttempt(a *AttemptState) {
	a.unpackInPlace()
	for _, c := range a.Sessions {
		s.sessions[c.Session] = c
	}
}
