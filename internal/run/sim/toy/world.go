package toy

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

type tree = Tree

// commit is a commit of the toy repository. A commit of an attempt's own work has the commit it
// is compared with as its parent.
type commit struct {
	tree    tree
	parent  string
	attempt nexus.AttemptID // the attempt that landed it; empty for snapshots
}

// call is one turn of one conversation.
type call struct {
	session nexus.SessionID
	turn    int
}

// Environment is the part of the world that outlives every process: the repository, the
// worktrees, and the provider's charges.
type Environment struct {
	mu        sync.Mutex // guards the fields below
	dice      *rand.Rand
	scenario  Scenario
	ids       int
	commits   map[string]commit
	tip       string
	landed    []string      // commits on the branch, oldest first
	unjudged  map[tree]bool // some gate did not run on it
	published string
	target    string // the user's own branch
	trees     map[nexus.AttemptID]tree
	charged   nexus.Money
	calls     int
	paid      map[call]int
	lost      map[call]int // paid calls whose answer no process will receive
	flight    map[call]bill
	windows   map[string]time.Time // until when accounts have no quota
	used      map[string]nexus.AgentLimited

	Most    int                                         // calls that were in flight at once
	Lost    int                                         // the same, when a process died
	Charges func(r nexus.BudgetReserved, m nexus.Money) // receives the provider's charges; may be nil

	dies  func() bool // whether the process dies here
	wrong func(format string, args ...any)
}

// bill is the future cost of a call under way.
type bill struct {
	reserved nexus.BudgetReserved
	money    nexus.Money
}

// New returns the world of a scenario. It calls dies wherever a process may die, nil for
// nowhere, and wrong for each violation.
func New(s Scenario, dice *rand.Rand, dies func() bool, wrong func(format string, args ...any)) *Environment {
	if dies == nil {
		dies = func() bool { return false }
	}
	w := &Environment{
		dice: dice, scenario: s, commits: map[string]commit{}, trees: map[nexus.AttemptID]tree{},
		unjudged: map[tree]bool{}, paid: map[call]int{}, lost: map[call]int{}, flight: map[call]bill{},
		dies: dies, wrong: wrong,
	}
	w.tip = w.commit("", "", "")
	w.target = w.tip
	return w
}

// Books are the facts about a world that can be observed from outside.
type Books struct {
	Tip       string   // last commit on the branch
	Landed    []string // commits on the branch, oldest first
	Published string
	Target    string      // the user's own branch
	Charged   nexus.Money // by the provider
	Calls     int
	Repeated  int // calls without a response, so that they were made again
}

// Return resets the branch to an earlier state, with these commits on it.
func (w *Environment) Return(tip string, landed []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tip, w.landed = tip, landed
}

// Books returns the present state.
func (w *Environment) Books() Books {
	w.mu.Lock()
	defer w.mu.Unlock()
	b := Books{Tip: w.tip, Landed: w.landed, Published: w.published, Target: w.target, Charged: w.charged, Calls: w.calls}
	for _, n := range w.lost {
		b.Repeated += n
	}
	return b
}

// Tree returns the tree of a commit.
func (w *Environment) Tree(rev string) string { return string(w.at(rev)) }

// roll reports whether an event with a probability happens.
func (w *Environment) roll(p Chance) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return p > 0 && Chance(w.dice.Float64()) < p
}

func (w *Environment) pick(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.dice.IntN(n)
}

// id returns a new name.
func (w *Environment) id(prefix string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ids++
	return fmt.Sprintf("%s%d", prefix, w.ids)
}

// fault is a point at which the process may die or the machinery may fail.
func (w *Environment) fault() error {
	switch {
	case w.dies():
		return ErrDead
	case w.roll(w.scenario.broken):
		return errors.New("the machinery broke")
	}
	return nil
}

// commit makes a commit.
func (w *Environment) commit(t tree, parent string, attempt nexus.AttemptID) string {
	id := w.id("c")
	w.mu.Lock()
	defer w.mu.Unlock()
	w.commits[id] = commit{t, parent, attempt}
	return id
}

// at returns the tree of a commit; a name that is no commit is a tree.
func (w *Environment) at(rev string) tree {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c, ok := w.commits[rev]; ok {
		return c.tree
	}
	return tree(rev)
}

// move lands a commit on the branch, by compare and swap.
func (w *Environment) move(to, from string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.commits[to]
	switch {
	case w.tip != from:
		return fmt.Errorf("the branch is at %s, not at %s", w.tip, from)
	case c.parent != from:
		w.wrong("%s landed on %s, its parent is %s", to, from, c.parent)
	case !w.green(c.tree) && !w.unjudged[c.tree]:
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

// begin begins a call. A call whose answer may have been received is not made again.
func (w *Environment) begin(c call, b bill) {
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

// charge charges a call. A call that breaks off costs no more than its reservation: the
// provider does not write on without a client.
func (w *Environment) charge(b bill, whole bool) {
	if !whole {
		b.money = min(b.money, b.reserved.Money)
	}
	w.charged += b.money
	if w.Charges != nil {
		w.Charges(b.reserved, b.money)
	}
}

// broke charges a call that fails in the middle of its answer.
func (w *Environment) broke(r nexus.BudgetReserved) nexus.Money {
	w.mu.Lock()
	defer w.mu.Unlock()
	cost := r.Money / 100 * nexus.Money(w.dice.IntN(101))
	w.charge(bill{r, cost}, false)
	return cost
}

// heard records that a call's answer is in the journal.
func (w *Environment) heard(c call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.charge(w.flight[c], true)
	delete(w.flight, c)
}

// lose records that no process will receive the answer of a call under way.
func (w *Environment) lose(c call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if b, ok := w.flight[c]; ok {
		w.charge(b, false)
		w.lost[c]++
		delete(w.flight, c)
	}
}

// Die loses all data that only the process had.
func (w *Environment) Die() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Lost = max(w.Lost, len(w.flight))
	for c, b := range w.flight {
		w.charge(b, false)
		w.lost[c]++
	}
	clear(w.flight)
}

// judge runs a gate. Its result for a tree is always the same, except when it has none.
func (w *Environment) judge(t tree, gate string) nexus.Evidence {
	e := nexus.Evidence{Gate: gate, Tree: string(t), Command: gate, Duration: time.Minute, State: nexus.Pass}
	if w.roll(w.scenario.odd) {
		states := []nexus.GateState{nexus.Environmental, nexus.Timeout, nexus.Unverifiable, nexus.NotRun}
		e.State, e.Why = states[w.pick(len(states))], "it could not tell"
		w.mu.Lock()
		defer w.mu.Unlock()
		w.unjudged[t] = w.unjudged[t] || e.State == nexus.NotRun
		return e
	}
	if k := w.scenario.know; k != nil {
		return k.lacks(w.scenario.Tasks, t, e)
	}
	if task, ok := strings.CutPrefix(gate, nexus.AcceptGate+"./"); ok {
		if t.Broken(task) {
			e.State, e.Why, e.Findings = nexus.Fail, "it is unmet", []nexus.Finding{{Gate: gate, Message: fmt.Sprintf("lacks %c", 'a'+t.Hash()%3)}}
		}
		return e
	}
	if t.Green() || gate != t.Culprit() {
		return e
	}
	e.State, e.Why = nexus.Fail, "it is red"
	for i := range 1 + t.Hash()%4 {
		e.Findings = append(e.Findings, nexus.Finding{Gate: gate, File: "f", Message: fmt.Sprintf("wrong %c", 'a'+i+t.Hash()%3)})
	}
	return e
}

// green is the truth about a tree.
func (w *Environment) green(t tree) bool {
	if k := w.scenario.know; k != nil {
		return k.fine(w.scenario.Tasks, t)
	}
	return t.Green()
}

// Forget begins a conversation again.
func (w *Environment) Forget(id nexus.SessionID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.paid {
		if c.session == id {
			delete(w.paid, c)
			delete(w.lost, c)
		}
	}
}
