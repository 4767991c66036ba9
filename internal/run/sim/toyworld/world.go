package toyworld

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// ErrDead is the error of every call of a worker whose process died.
var ErrDead = errors.New("the process is dead")

type toyTree = ToyTree

// toyCommit is a commit of the toy repository. A commit of an attempt's own work has the commit it
// is compared with as its parent.
type toyCommit struct {
	tree    toyTree
	parent  string
	attempt nexus.AttemptID // the attempt that landed it; empty for snapshots
}

// conversationTurnID is one turn of one conversation.
type conversationTurnID struct {
	session nexus.SessionID
	turn    int
}

// SimulatedWorld is the part of the world that outlives every process: the repository, the
// worktrees, and the provider's charges.
type SimulatedWorld struct {
	mu        sync.Mutex // guards the fields below
	dice      *rand.Rand
	scenario  RunScenario
	ids       int
	commits   map[string]toyCommit
	tip       string
	landed    []string         // commits on the branch, oldest first
	unjudged  map[toyTree]bool // some gate did not run on it
	published string
	target    string // the user's own branch
	trees     map[nexus.AttemptID]toyTree
	charged   nexus.Money
	calls     int
	paid      map[conversationTurnID]int
	lost      map[conversationTurnID]int // paid calls whose answer no process will receive
	flight    map[conversationTurnID]pendingCallCharge
	windows   map[string]time.Time // until when accounts have no quota
	used      map[string]nexus.AgentQuotaReported

	Most    int                                         // calls that were in flight at once
	Lost    int                                         // the same, when a process died
	Charges func(r nexus.BudgetReserved, m nexus.Money) // receives the provider's charges; may be nil

	dies  func() bool // whether the process dies here
	wrong func(format string, args ...any)
}

// pendingCallCharge is the future cost of a call under way.
type pendingCallCharge struct {
	reserved nexus.BudgetReserved
	money    nexus.Money
}

// NewWorld returns the world of a scenario. It calls dies wherever a process may die, nil for
// nowhere, and wrong for each violation.
func NewWorld(s RunScenario, dice *rand.Rand, dies func() bool, wrong func(format string, args ...any)) *SimulatedWorld {
	if dies == nil {
		dies = func() bool { return false }
	}
	w := &SimulatedWorld{
		dice: dice, scenario: s, commits: map[string]toyCommit{}, trees: map[nexus.AttemptID]toyTree{},
		unjudged: map[toyTree]bool{}, paid: map[conversationTurnID]int{}, lost: map[conversationTurnID]int{}, flight: map[conversationTurnID]pendingCallCharge{},
		dies: dies, wrong: wrong,
	}
	w.tip = w.makeCommit("", "", "")
	w.target = w.tip
	return w
}

// WorldSnapshot are the facts about a world that can be observed from outside.
type WorldSnapshot struct {
	Tip       string   // last commit on the branch
	Landed    []string // commits on the branch, oldest first
	Published string
	Target    string      // the user's own branch
	Charged   nexus.Money // by the provider
	Calls     int
	Repeated  int // calls without a response, so that they were made again
}

// ResetBranch resets the branch to an earlier state, with these commits on it.
func (w *SimulatedWorld) ResetBranch(tip string, landed []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tip, w.landed = tip, landed
}

// Snapshot returns the present state.
func (w *SimulatedWorld) Snapshot() WorldSnapshot {
	w.mu.Lock()
	defer w.mu.Unlock()
	b := WorldSnapshot{Tip: w.tip, Landed: w.landed, Published: w.published, Target: w.target, Charged: w.charged, Calls: w.calls}
	for _, n := range w.lost {
		b.Repeated += n
	}
	return b
}

// TreeOf returns the tree of a commit.
func (w *SimulatedWorld) TreeOf(rev string) string { return string(w.treeAt(rev)) }

// drawChance reports whether an event with a probability happens.
func (w *SimulatedWorld) drawChance(p Probability) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return p > 0 && Probability(w.dice.Float64()) < p
}

func (w *SimulatedWorld) drawIndex(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.dice.IntN(n)
}

// newID returns a new name.
func (w *SimulatedWorld) newID(prefix string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ids++
	return fmt.Sprintf("%s%d", prefix, w.ids)
}

// injectFault is a point at which the process may die or the machinery may fail.
func (w *SimulatedWorld) injectFault() error {
	switch {
	case w.dies():
		return ErrDead
	case w.drawChance(w.scenario.broken):
		return errors.New("the machinery broke")
	}
	return nil
}

// makeCommit makes a commit.
func (w *SimulatedWorld) makeCommit(t toyTree, parent string, attempt nexus.AttemptID) string {
	id := w.newID("c")
	w.mu.Lock()
	defer w.mu.Unlock()
	w.commits[id] = toyCommit{t, parent, attempt}
	return id
}

// treeAt returns the tree of a commit; a name that is no commit is a tree.
func (w *SimulatedWorld) treeAt(rev string) toyTree {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c, ok := w.commits[rev]; ok {
		return c.tree
	}
	return toyTree(rev)
}

// landCommit lands a commit on the branch, by compare and swap.
func (w *SimulatedWorld) landCommit(to, from string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.commits[to]
	switch {
	case w.tip != from:
		return fmt.Errorf("the branch is at %s, not at %s", w.tip, from)
	case c.parent != from:
		w.wrong("%s landed on %s, its parent is %s", to, from, c.parent)
	case !w.isGreen(c.tree) && !w.unjudged[c.tree]:
		w.wrong("%s landed red: %s", to, c.tree)
	}
	task := taskOf(c.attempt)
	for _, id := range w.landed {
		if taskOf(w.commits[id].attempt) == task {
			w.wrong("%s landed twice: %s and %s", task, id, to)
		}
	}
	w.tip = to
	w.landed = append(w.landed, to)
	return nil
}

// beginCall begins a call. A call whose answer may have been received is not made again.
func (w *SimulatedWorld) beginCall(c conversationTurnID, b pendingCallCharge) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.paid[c] > w.lost[c] {
		w.wrong("turn %d of %s is paid again", c.turn, c.session)
	}
	w.paid[c]++
	w.flight[c] = b
	w.calls++
	w.Most = max(w.Most, len(w.flight))
}

// chargeCall charges a call. A call that breaks off costs no more than its reservation: the
// provider does not write on without a client.
func (w *SimulatedWorld) chargeCall(b pendingCallCharge, whole bool) {
	if !whole {
		b.money = min(b.money, b.reserved.Money)
	}
	w.charged += b.money
	if w.Charges != nil {
		w.Charges(b.reserved, b.money)
	}
}

// chargeBrokenCall charges a call that fails in the middle of its answer.
func (w *SimulatedWorld) chargeBrokenCall(r nexus.BudgetReserved) nexus.Money {
	w.mu.Lock()
	defer w.mu.Unlock()
	cost := r.Money / 100 * nexus.Money(w.dice.IntN(101))
	w.chargeCall(pendingCallCharge{r, cost}, false)
	return cost
}

// recordAnswer records that a call's answer is in the journal.
func (w *SimulatedWorld) recordAnswer(c conversationTurnID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.chargeCall(w.flight[c], true)
	delete(w.flight, c)
}

// abandonCall records that no process will receive the answer of a call under way.
func (w *SimulatedWorld) abandonCall(c conversationTurnID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if b, ok := w.flight[c]; ok {
		w.chargeCall(b, false)
		w.lost[c]++
		delete(w.flight, c)
	}
}

// LoseProcess loses all data that only the process had.
func (w *SimulatedWorld) LoseProcess() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Lost = max(w.Lost, len(w.flight))
	for c, b := range w.flight {
		w.chargeCall(b, false)
		w.lost[c]++
	}
	clear(w.flight)
}

// judgeGate runs a gate. Its result for a tree is always the same, except when it has none.
func (w *SimulatedWorld) judgeGate(t toyTree, gate string) nexus.GateEvidence {
	e := nexus.GateEvidence{Gate: gate, Tree: string(t), Command: gate, Duration: time.Minute, State: nexus.Pass}
	if w.drawChance(w.scenario.odd) {
		states := []nexus.GateState{nexus.Environmental, nexus.Timeout, nexus.Unverifiable, nexus.NotRun}
		e.State, e.Why = states[w.drawIndex(len(states))], "it could not tell"
		w.mu.Lock()
		defer w.mu.Unlock()
		w.unjudged[t] = w.unjudged[t] || e.State == nexus.NotRun
		return e
	}
	if k := w.scenario.know; k != nil {
		return k.firstMissingFact(w.scenario.Tasks, t, e)
	}
	if task, ok := strings.CutPrefix(gate, nexus.AcceptGate+"./"); ok {
		if t.IsBroken(task) {
			e.State, e.Why, e.Findings = nexus.Fail, "it is unmet", []nexus.Finding{{Gate: gate, Message: fmt.Sprintf("lacks %c", 'a'+t.Hash()%3)}}
		}
		return e
	}
	if t.IsGreen() || gate != t.FailingGate() {
		return e
	}
	e.State, e.Why = nexus.Fail, "it is red"
	for i := range 1 + t.Hash()%4 {
		e.Findings = append(e.Findings, nexus.Finding{Gate: gate, File: "f", Message: fmt.Sprintf("wrong %c", 'a'+i+t.Hash()%3)})
	}
	return e
}

// isGreen is the truth about a tree.
func (w *SimulatedWorld) isGreen(t toyTree) bool {
	if k := w.scenario.know; k != nil {
		return k.hasAllFacts(w.scenario.Tasks, t)
	}
	return t.IsGreen()
}

// ForgetConversation begins a conversation again.
func (w *SimulatedWorld) ForgetConversation(id nexus.SessionID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.paid {
		if c.session == id {
			delete(w.paid, c)
			delete(w.lost, c)
		}
	}
}
