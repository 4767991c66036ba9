// Package attempt makes one try at one task: a worktree of its own, agents
// that write, gates that judge, a reviewer that reads, and repair rounds in
// the same conversation until it is accepted or going on is no use.
//
// What comes next is decided by [repair.Next]; this package performs it. It
// can be stopped anywhere: what it did is in the journal and in snapshots of
// the tree, and the next process goes on from there.
package attempt

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy"
	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/decide/testfile"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/blob"
	"github.com/nexus-ai-builder/nexus/internal/sys/egress"
	"github.com/nexus-ai-builder/nexus/internal/sys/fetched"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/secret/leak"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/agent/cast"
	"github.com/nexus-ai-builder/nexus/internal/work/agent/chain"
	"github.com/nexus-ai-builder/nexus/internal/work/codemap"
	"github.com/nexus-ai-builder/nexus/internal/work/depend"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/goenv"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/foreign"
)

// Desk is where an attempt records what happened and asks for leave.
type Desk interface {
	Record(ctx context.Context, facts ...nexus.Fact) error
	Reserve(ctx context.Context, r nexus.BudgetReserved, done ...nexus.Fact) ([]state.Guidance, error)
	Ask(ctx context.Context, q nexus.QuestionAsked) (string, error)
	Known(ctx context.Context, tree, gate string) (nexus.Evidence, bool)
	Spare(ctx context.Context, paid bool) (context.Context, context.CancelFunc)
}

// Model is a model that was picked for a role, with what it costs.
type Model struct {
	llm.Model
	Name    string // provider/model
	Wire    string // as the provider itself names it
	Context int64  // most tokens that it holds; 0 where nobody knows
	Price   func(nexus.Usage, llm.Terms) nexus.Money
	Worst   func(llm.Request) nexus.Money
	Tokens  func(llm.Request) int64 // most tokens of a call, where the price is not known; nil where it is
	Else    []Model                 // what may be asked instead, best first
}

// Choices returns the model and its others as a session takes them.
func (m Model) Choices() []chain.Choice {
	all := []chain.Choice{{Model: m.Model, Context: m.Context, Name: m.Name, Price: m.Price, Worst: m.Worst, Tokens: m.Tokens}}
	for _, other := range m.Else {
		all = append(all, other.Choices()...)
	}
	return all
}

// Shop is what the attempts of a run work with. It is read only once the run
// has begun, and shared by all workers.
type Shop struct {
	Run   nexus.RunID
	Trees *worktree.Store
	Blobs *blob.Store
	Box   *sandbox.Box
	Net   *egress.Grant // who may go out of it, and where to; nil: nobody
	Roles map[nexus.Role]cast.Role
	Pick  func(role nexus.Role, tier nexus.Tier, pin string) (Model, error)
	// PickReader picks for a role that looks at what another model, the
	// author, made, and says why; nil picks as for every other role.
	PickReader func(role nexus.Role, tier nexus.Tier, author string) (m Model, why string, err error)
	Readers    *Readers                              // who reads whose work, as far as it was said; nil says it each time
	Gates      func(dir string) ([]gate.Gate, error) // of a tree, in order
	Rules      string                                // standing rules for agents, may be empty
	May        func(nexus.Role) policy.Rules         // what people add to the policy; nil adds nothing
	Maps       *codemap.Maps                         // of the repository, for the roles that are shown one; nil for none
	Alone      bool                                  // nobody answers questions: fall back at once
	Patience   time.Duration                         // how long a question waits for an answer; 0: for ever
	Exe        string                                // this program, which builds call for their cache; empty for none
	Now        func() time.Time
	Heard      func(nexus.SessionID, llm.Delta)
	Bases      *Bases
	Foreign    *foreign.Servers // whose tools agents may use; nil for none
	Leaks      *leak.Finder     // looks for secrets in changes; nil: nobody does
	Fetched    fetched.User     // whose tools have fetched something that gates and agents may read
	Kit        *depend.Kit      // gives trees their dependencies; nil: nobody does

	Mask     func([]byte) []byte // takes keys out of what agents and reports see; may be nil
	State    string              // directory of the repository's state
	Caches   []string            // build caches of the user's, which gates may read
	GateTime time.Duration       // of one gate; 0 for no limit of its own
	Versions *goenv.Versions     // of tools, remembered
	Retry    llm.Policy          // how failed calls are tried again

	// Draw returns the next of the numbers that belong to a name; nil draws
	// truly random ones. Names of calls and the jitter of retries come from it.
	Draw func(name string) uint64
}

// work is one attempt under way. One goroutine owns it.
type work struct {
	*Shop
	view state.View
	task *state.Task
	a    *state.Attempt // our own copy, kept in step with what we record
	desk Desk
	tree *worktree.Tree
}

// Work makes the attempt of the view, from its start or from where another
// process left it, and returns the fact that ends it.
func (s *Shop) Work(ctx context.Context, v state.View, d Desk) ([]nexus.Fact, error) {
	w := &work{Shop: s, view: v, task: &v.Task, a: v.Attempt, desk: d}
	if err := w.open(ctx, cmp.Or(w.a.Start, w.a.Base)); err != nil {
		return nil, err
	}
	for {
		facts, err := w.facts(ctx)
		if err != nil {
			return nil, err
		}
		step := repair.Next(w.task, w.a, v.Limits, facts)
		if over := w.late(); over != "" && step.Move != repair.End {
			step = repair.Step{Move: repair.End, Outcome: nexus.Exhausted, Why: over}
		}
		switch step.Move {
		case repair.Write:
			err = w.write(ctx, step)
		case repair.Judge:
			err = w.judge(ctx)
		case repair.Prove:
			err = w.prove(ctx)
		case repair.Verify:
			err = w.verify(ctx)
		case repair.Review:
			err = w.review(ctx)
		case repair.End:
			return w.end(ctx, step)
		default:
			err = fmt.Errorf("no step follows in attempt %s", w.a.ID)
		}
		if err != nil {
			return nil, err
		}
	}
}

// open makes or adopts the worktree and brings it to where the attempt
// stands: its last snapshot, or its start.
func (w *work) open(ctx context.Context, start string) error {
	tree, err := w.Trees.Add(ctx, w.Run, w.a.ID, start)
	if err != nil {
		return fmt.Errorf("make a worktree for %s: %w", w.a.ID, err)
	}
	w.tree = tree
	if err := tree.Restore(ctx, cmp.Or(w.a.Snapshot.Commit, start)); err != nil {
		return fmt.Errorf("restore the worktree of %s: %w", w.a.ID, err)
	}
	_, hash := tree.Last()
	return w.Kit.Equip(ctx, depend.Tree{Dir: tree.Dir, Hash: hash}, w.Gates, w.task.Criteria, w.a.Snapshot.Commit == "", w.record)
}

// record appends facts and keeps our copy of the attempt in step.
func (w *work) record(ctx context.Context, facts ...nexus.Fact) error {
	if err := w.desk.Record(ctx, facts...); err != nil {
		return err
	}
	for _, f := range facts {
		w.a.Apply(f, w.Now())
	}
	return nil
}

// ownDesk keeps our copy of the attempt in step with what is recorded for us.
type ownDesk struct {
	Desk
	w *work
}

// Record implements [Desk].
func (d ownDesk) Record(ctx context.Context, facts ...nexus.Fact) error {
	return d.w.record(ctx, facts...)
}

// snapshot pins the tree as it is, and records it when it changed.
func (w *work) snapshot(ctx context.Context) (nexus.TreeSnapshotted, error) {
	commit, tree, err := w.tree.Snapshot(ctx, fmt.Sprintf("snapshot of %s", w.a.ID))
	if err != nil {
		return nexus.TreeSnapshotted{}, fmt.Errorf("snapshot %s: %w", w.a.ID, err)
	}
	return nexus.TreeSnapshotted{Attempt: w.a.ID, Commit: commit, Tree: tree}, nil
}

// pin snapshots the tree and records it unless it is the last snapshot.
func (w *work) pin(ctx context.Context) (nexus.TreeSnapshotted, error) {
	snap, err := w.snapshot(ctx)
	if err != nil || snap == w.a.Snapshot {
		return snap, err
	}
	return snap, w.record(ctx, snap)
}

// late says why the task's time is over, empty while it is not.
func (w *work) late() string {
	limit := w.view.Limits.TaskTime
	if limit <= 0 || w.task.Spell()+w.Now().Sub(w.a.Resumed())-w.a.Rested < limit {
		return ""
	}
	return fmt.Sprintf("the task's %s are over; the work is kept", limit)
}

// facts says what the attempt changed so far.
func (w *work) facts(ctx context.Context) (repair.Facts, error) {
	at := cmp.Or(w.a.Snapshot.Commit, w.a.Start)
	if at == "" {
		return repair.Facts{}, nil
	}
	changed, err := w.tree.Changed(ctx, w.a.Base, at)
	tested := slices.ContainsFunc(changed, func(c worktree.Change) bool { return testfile.Is(c.Path) })
	return repair.Facts{Tested: tested, Untouched: err == nil && len(changed) == 0}, err
}

// end closes the attempt. Accepted work is pinned by its last snapshot, which
// is what the gates and the reviewer saw; a tree that changed since is not.
func (w *work) end(ctx context.Context, step repair.Step) ([]nexus.Fact, error) {
	snap, err := w.pin(ctx)
	if err != nil {
		return nil, err
	}
	f := nexus.AttemptEnded{Attempt: w.a.ID, Outcome: step.Outcome, Category: step.Category, Why: step.Why, Commit: snap.Commit, Tree: snap.Tree}
	if f.Outcome != nexus.Accepted {
		return []nexus.Fact{f}, w.tree.Remove(ctx)
	}
	if judged := w.a.Last().Verdict.Tree; judged != snap.Tree {
		return nil, fmt.Errorf("the tree of %s changed after it was judged: %.12s, then %.12s", w.a.ID, judged, snap.Tree)
	}
	return []nexus.Fact{f}, nil
}
