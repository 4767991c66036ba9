// Package worker provides what the attempts of a run work with: Sessions run
// the conversations of agents with models, the Judge runs gates on trees and
// on the trees that these were made from, and Trees are the worktrees. Other
// packages decide in which order they are used.
package worker

import (
	"context"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/egress"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/plugin"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/secret/leak"
	"github.com/nexus-ai-builder/nexus/internal/sys/usercache"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/codedoc"
	"github.com/nexus-ai-builder/nexus/internal/work/codemap"
	"github.com/nexus-ai-builder/nexus/internal/work/dependencies"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/mutate"
	"github.com/nexus-ai-builder/nexus/internal/work/measure"
	"github.com/nexus-ai-builder/nexus/internal/work/memory"
	"github.com/nexus-ai-builder/nexus/internal/work/review"
	"github.com/nexus-ai-builder/nexus/internal/work/rules"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/code"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/mcptools"
)

// Desk is where a worker records what happened and asks for permission.
type Desk interface {
	// Record appends facts, all or none, and returns when they are durable.
	Record(ctx context.Context, facts ...nexus.Fact) error
	// Reserve asks for one call of a model and sets its worst case
	// aside. It waits while the run is paused. It returns what people left
	// for the task's agent to know. What was done before is recorded first, in
	// one append with it where leave is given at once.
	Reserve(ctx context.Context, r nexus.BudgetReserved, done ...nexus.Fact) ([]state.Guidance, error)
	// Ask puts a question to a person and waits for the answer.
	Ask(ctx context.Context, q nexus.QuestionAsked) (string, error)
	// Known returns what a gate already said about exactly this tree.
	Known(ctx context.Context, tree, gate string) (nexus.Evidence, bool)
	// Spare bounds what costs nothing to do again, a gate or a wait: its
	// context ends with ctx, and once the run lets its workers go. Where paid
	// work hangs on it, only an interrupt and a person who stops the run end it.
	Spare(ctx context.Context, paid bool) (context.Context, context.CancelFunc)
}

// RunInterruptible does what [Desk.Spare] bounds. If that fails after its time was over,
// the error says why it was over.
func RunInterruptible(ctx context.Context, d Desk, paid bool, do func(context.Context) error) error {
	spare, stop := d.Spare(ctx, paid)
	defer stop()
	if err := do(spare); err == nil || spare.Err() == nil {
		return err
	}
	return context.Cause(spare)
}

// Model is a model that was picked for a role, with what it costs.
type Model struct {
	llm.Model
	Name    string // provider/model
	Wire    string // as the provider itself names it
	Context int64  // most tokens that it holds; 0 if unknown
	Price   func(nexus.Usage, llm.Terms) nexus.Money
	Worst   func(llm.Request) nexus.Money
	Tokens  func(llm.Request) int64 // most tokens of a call, where the price is not known; nil where it is
	Else    []Model                 // what may be asked instead, best first
}

// Choices returns the model and its others as a session takes them.
func (m Model) Choices() []agent.Choice {
	all := []agent.Choice{{Model: m.Model, Context: m.Context, Name: m.Name, Price: m.Price, Worst: m.Worst, Tokens: m.Tokens}}
	for _, other := range m.Else {
		all = append(all, other.Choices()...)
	}
	return all
}

// TestersWriteChecks reports whether testers write checks for criteria without one.
func (s *Sessions) TestersWriteChecks() bool { return s.Checks != "" && s.Checks != "off" }

// RelatedMode says when the tests that a change concerns run alone.
type RelatedMode string

// The ways.
const (
	RelatedOff      RelatedMode = "off"      // never; so is the zero value
	RelatedPerTask  RelatedMode = "task"     // taskPackage front of all tests
	RelatedDeferred RelatedMode = "deferred" // taskPackage their place, until the work lands
)

// RunEnvironment is what all parts of a worker share: the run, the clock, and where and
// within what walls its commands run.
type RunEnvironment struct {
	Run   nexus.RunID
	Now   func() time.Time
	Blobs *journal.BlobStore
	Box   *sandbox.Box
	Net   *egress.Grant                 // who may go out of it, and where to; nil: nobody
	May   func(nexus.Role) policy.Rules // what people add to the policy; nil adds nothing
	State string                        // directory of the repository's state
	Mask  func([]byte) []byte           // canAnswer keys out of what agents and reports see; may be nil
	Learn func(value string)            // makes Mask know another; may be nil

	Plugins *plugin.Host // that are asked; nil: none
}

// Judge lets gates judge trees, and the trees that these were made from.
type Judge struct {
	Site  *RunEnvironment
	Trees *worktree.Store

	Gates      func(dir string) ([]gate.Gate, error) // of a tree, in order
	Steps      []config.NamedStep                    // what is done with work once it is written
	Related    RelatedMode                           // when the tests that a change concerns run alone
	Packages   map[string]config.Package             // what the settings say about packages of the repository
	Everywhere bool                                  // gates judge all packages, also those that do not need what changed
	Autofix    bool                                  // formatters and linters put changes right before the gates judge
	Bases      *Bases
	Faults     mutate.Check              // asks whether tests notice faults
	Meter      *measure.Meter            // holds changes to the definition of done; nil: nobody does
	Leaks      *leak.Finder              // looks for secrets in changes; nil: nobody does
	Kit        *dependencies.Provisioner // gives trees their dependencies; nil: nobody does
	Checkout   string                    // the user's, in which packages may be installed; only read
	Fetched    usercache.User            // whose tools have fetched something that gates and agents may read
	Caches     []string                  // build caches of the user's, which gates may read
	Exe        string                    // this program, which builds call for their cache; empty for none
	GateTime   time.Duration             // of one gate; 0 for no limit of its own
	CI         bool                      // gates run with the variable CI; see [gate.Runner]
	Versions   *gate.ToolVersions        // of tools, remembered

	// Yours lets a gate judge the user's own checkout; false where that does not have the commit as it is. Nil: no gate does.
	Yours func(ctx context.Context, commit, gate string) (nexus.Evidence, bool, error)

	until func() time.Time // when a question that is asked now answers itself
}

// Sessions has the conversations of agents with models.
type Sessions struct {
	Site  *RunEnvironment
	Trees *worktree.Store
	Judge *Judge // what will judge the work, which agents are told

	Roles map[nexus.Role]agent.Role
	Pick  func(role nexus.Role, tier nexus.Tier, pin string) (Model, error)
	// PickReader picks for a role that looks at what another model, the
	// author, made, and says why; nil picks as for every other role. One that
	// failed at it is only picked where there is no other but the author.
	PickReader func(role nexus.Role, tier, least nexus.Tier, author, failed string) (m Model, why string, err error)
	// External returns the agent programs of other makers that do the sessions of
	// a role at a tier, best first, and the models that do while none of them
	// can; pin is the model that the task names. Nil: none does any.
	External    func(role nexus.Role, tier nexus.Tier, pin string) (agents []*ExternalAgent, models []string)
	Windows     *LimitWindows         // what those told of the limits of their accounts; nil says it each time
	Readers     *ReaderAssignments    // who reads whose work, as far as it was said; nil says it each time
	Personas    []review.Persona      // who reads a change; none: one for everything
	Independent string                // when somebody who sees nothing of a change writes checks of it: auto, always, off; empty is off
	Checks      string                // when testers write checks for criteria without one: auto, always, off; empty is off
	Rules       *rules.Set            // what the repository and its user say to agents; nil: nothing
	Pace        *GateForecast         // how long gates take and which cannot run; nil: unknown
	Maps        *codemap.Maps         // of the repository, for the roles that are shown one; nil for none
	Memory      *memory.Retriever     // of the repository; nil for none
	Docs        codedoc.DocStore      // documents about the code
	Foreign     *mcptools.Servers     // whose tools agents may use; nil for none
	Code        *code.LanguageServers // whom agents may ask what code means; nil for nobody

	Alone    bool          // nobody answers questions: fall back at once
	Deputy   *AutoAnswer   // answers in the place of people; nil: nobody does
	Patience time.Duration // how long a question waits for an answer; 0: for ever

	Hurry func(end func(cause error)) (stop func() bool) // see [agent.Brief]; nil: nobody is told to end soon
	Heard func(nexus.SessionID, llm.Delta)
	Retry llm.Policy // how failed calls are tried again

	// Draw returns the next of the numbers that belong to a name; nil draws
	// truly random ones. Names of calls and the jitter of retries come from it.
	Draw func(name string) uint64
}

// Worker is what the attempts of a run work with. It is read only once the run
// has started, and shared by all of them.
type Worker struct {
	Site     *RunEnvironment
	Trees    *worktree.Store
	Judge    *Judge
	Sessions *Sessions
}

// New makes a worker of its parts.
func New(site RunEnvironment, trees *worktree.Store, judge Judge, sessions Sessions) *Worker {
	judge.Site, judge.Trees = &site, trees
	sessions.Site, sessions.Trees, sessions.Judge = &site, trees, &judge
	judge.until = sessions.questionDeadline
	return &Worker{Site: &site, Trees: trees, Judge: &judge, Sessions: &sessions}
}
