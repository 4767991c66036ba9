// Package worker provides the services for the attempts of a run: Sessions run the
// conversations of agents with models, the Judge runs gates on trees and on their bases, and
// Trees are the worktrees. Other packages decide in which order they are used.
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
	"github.com/nexus-ai-builder/nexus/internal/sys/userpackagecache"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/changemetrics"
	"github.com/nexus-ai-builder/nexus/internal/work/codedoc"
	"github.com/nexus-ai-builder/nexus/internal/work/codemap"
	"github.com/nexus-ai-builder/nexus/internal/work/dependencies"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/mutate"
	"github.com/nexus-ai-builder/nexus/internal/work/memory"
	"github.com/nexus-ai-builder/nexus/internal/work/review"
	"github.com/nexus-ai-builder/nexus/internal/work/rules"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/codenavigation"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/mcptools"
)

// AttemptFactRecorder records a worker's facts and handles its requests for permission.
type AttemptFactRecorder interface {
	// Record appends facts, all or none, and returns when they are durable.
	Record(ctx context.Context, facts ...nexus.Fact) error
	// Reserve requests permission for one call of a model and reserves its maximum cost. It waits
	// while the run is paused. It returns people's guidance for the task's agent. Earlier facts
	// are recorded first, in one append with it if permission is given at once.
	Reserve(ctx context.Context, r nexus.BudgetReserved, done ...nexus.Fact) ([]state.Guidance, error)
	// Ask asks a person a question and waits for the answer.
	Ask(ctx context.Context, q nexus.QuestionAsked) (string, error)
	// Known returns a gate's known result on exactly this tree.
	Known(ctx context.Context, tree, gate string) (nexus.GateEvidence, bool)
	// Spare limits work that can be repeated for free, a gate or a wait: its context ends with
	// ctx, and when the run releases its workers. If paid work depends on it, only an interrupt
	// and a person who stops the run end it.
	Spare(ctx context.Context, paid bool) (context.Context, context.CancelFunc)
}

// RunInterruptible runs do with the limit of [AttemptFactRecorder.Spare]. If do fails after that limit ended
// it, the error is the reason of the end.
func RunInterruptible(ctx context.Context, d AttemptFactRecorder, paid bool, do func(context.Context) error) error {
	spare, stop := d.Spare(ctx, paid)
	defer stop()
	if err := do(spare); err == nil || spare.Err() == nil {
		return err
	}
	return context.Cause(spare)
}

// PricedModel is a model that was picked for a role, with its price.
type PricedModel struct {
	llm.Model
	Name    string // provider/model
	Wire    string // the provider's own name for it
	Context int64  // context window in tokens; 0 if unknown
	Price   func(nexus.Usage, llm.BillingTerms) nexus.Money
	Worst   func(llm.Request) nexus.Money
	Tokens  func(llm.Request) int64 // most tokens of a call, if the price is unknown; otherwise nil
	Else    []PricedModel           // replacements, best first
}

// SessionChoices returns the model and its replacements in a session's form.
func (m PricedModel) SessionChoices() []agent.SessionModel {
	all := []agent.SessionModel{{Model: m.Model, Context: m.Context, Name: m.Name, Price: m.Price, Worst: m.Worst, Tokens: m.Tokens}}
	for _, other := range m.Else {
		all = append(all, other.SessionChoices()...)
	}
	return all
}

// TestersWriteChecks reports whether testers write checks for criteria without one.
func (s *AgentSessions) TestersWriteChecks() bool { return s.Checks != "" && s.Checks != "off" }

// RelatedTestsMode is when the tests that a change affects run alone.
type RelatedTestsMode string

// The modes.
const (
	RelatedOff      RelatedTestsMode = "off"      // never; so is the zero value
	RelatedPerTask  RelatedTestsMode = "task"     // before all tests
	RelatedDeferred RelatedTestsMode = "deferred" // instead of all tests, until the work lands
)

// RunEnvironment is shared by all parts of a worker: the run, the clock, and the location and
// restrictions of its commands.
type RunEnvironment struct {
	Run   nexus.RunID
	Now   func() time.Time
	Blobs *journal.BlobStore
	Box   *sandbox.Box
	// which roles have network access, and to which hosts; nil: none
	Net   *egress.EgressGrant
	May   func(nexus.Role) policy.CommandPolicyContext // people's additions to the policy; nil: none
	State string                                       // directory of the repository's state
	Mask  func([]byte) []byte                          // masks keys in texts for agents and reports; may be nil
	Learn func(value string)                           // adds a value to Mask; may be nil

	Plugins *plugin.PluginHost // plugins; nil: none
}

// TreeJudge runs gates on trees, and on the bases of these.
type TreeJudge struct {
	Site  *RunEnvironment
	Trees *worktree.Store

	Gates    func(dir string) ([]gate.QualityGate, error) // returns the gates of a tree, in order
	Steps    []config.NamedPipelineStep                   // steps of the pipeline for written work
	Related  RelatedTestsMode                             // when the tests that a change affects run alone
	Packages map[string]config.RepositoryPackageSettings  // settings of packages of the repository
	// gates judge all packages, even those that do not depend on the changes
	Everywhere bool
	// formatters and linters fix changes before the gates judge
	Autofix bool
	Bases   *BaseCommitJudge
	Faults  mutate.MutationCheckSettings // configuration of mutation tests
	// checks changes against the definition of done; nil: no check
	Meter    *changemetrics.ChangeMeasurer
	Leaks    *leak.SecretLeakFinder            // finds secrets in changes; nil: no check
	Kit      *dependencies.WorktreeProvisioner // provides trees with their dependencies; nil: none
	Checkout string                            // the user's, in which packages may be installed; read-only
	Fetched  userpackagecache.CacheOwner       // caches of the user's tools that gates and agents may read
	Caches   []string                          // build caches of the user that gates may read
	// this program, which builds call for their cache; empty: none
	Exe      string
	GateTime time.Duration          // time limit of one gate; 0: none
	CI       bool                   // gates run with the variable CI; see [gate.GateRunner]
	Versions *gate.ToolVersionCache // cached versions of tools

	// Yours runs a gate on the user's own checkout; false if that does not have the commit
	// unchanged. Nil: not available.
	Yours func(ctx context.Context, commit, gate string) (nexus.GateEvidence, bool, error)

	until func() time.Time // deadline of a question that is asked now
}

// AgentSessions runs the conversations of agents with models.
type AgentSessions struct {
	Site  *RunEnvironment
	Trees *worktree.Store
	Judge *TreeJudge // the judge of the work, which agents are informed about

	Roles map[nexus.Role]agent.RoleDefinition
	Pick  func(role nexus.Role, tier nexus.Tier, pin string) (PricedModel, error)
	// PickReader picks a model for a role that reads the work of another model, the author, with
	// the reason; nil picks as for every other role. A model that failed is only picked if there
	// is no other but the author.
	PickReader func(role nexus.Role, tier, least nexus.Tier, author, failed string) (m PricedModel, why string, err error)
	// External returns the external agents for the sessions of a role at a tier, best first, and
	// the models that replace them while none is available; pin is the model that the task names.
	// Nil: none.
	External func(role nexus.Role, tier nexus.Tier, pin string) (agents []*ExternalAgent, models []string)
	// recorded limits of their accounts; nil: each report is recorded
	Windows  *AccountLimitReports
	Readers  *RecordedReviewerPairs // recorded reader assignments; nil: each is recorded
	Personas []review.ReviewPersona // readers of a change; none: one for everything
	// when an agent that does not see a change writes checks of it: auto, always, off; empty is
	// off
	Independent string
	Checks      string // when testers write checks for criteria without one: auto, always, off; empty is off
	// instructions of the repository and its user to agents; nil: none
	Rules   *rules.RuleSet
	Pace    *GateForecast                        // durations of gates and gates that cannot run; nil: unknown
	Maps    *codemap.RepositoryMapper            // of the repository, for the roles that receive one; nil: none
	Memory  *memory.MemoryEntryRetriever         // memory of the repository; nil: none
	Docs    codedoc.DocStore                     // documents about the code
	Foreign *mcptools.RunMCPServers              // MCP servers whose tools agents may use; nil: none
	Code    *codenavigation.AgentLanguageServers // language servers for agents; nil: none

	Alone    bool                  // no person answers questions: fall back at once
	Deputy   *QuestionAutoAnswerer // answers if people do not; nil: none
	Patience time.Duration         // how long a question waits for an answer; 0: unlimited

	// see [agent.SessionStretchOptions]; nil: calls are never cut short
	Hurry func(end func(cause error)) (stop func() bool)
	Heard func(nexus.SessionID, llm.AnswerDelta)
	Retry llm.CallRetryPolicy // how failed calls are retried

	// Draw returns the next of the numbers that belong to a name; nil draws truly random ones.
	// Names of calls and the jitter of retries use it.
	Draw func(name string) uint64
}

// AttemptWorker provides the services for the attempts of a run. It is read-only once the run has
// started, and shared by all of them.
type AttemptWorker struct {
	Site     *RunEnvironment
	Trees    *worktree.Store
	Judge    *TreeJudge
	Sessions *AgentSessions
}

// NewAttemptWorker makes a worker from its parts.
func NewAttemptWorker(site RunEnvironment, trees *worktree.Store, judge TreeJudge, sessions AgentSessions) *AttemptWorker {
	judge.Site, judge.Trees = &site, trees
	sessions.Site, sessions.Trees, sessions.Judge = &site, trees, &judge
	judge.until = sessions.questionDeadline
	return &AttemptWorker{Site: &site, Trees: trees, Judge: &judge, Sessions: &sessions}
}
