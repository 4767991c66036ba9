package worker

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/ignore"
	"github.com/nexus-ai-builder/nexus/internal/decide/schedule"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/portslot"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/changeeffects"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/files"
)

// ConversationStretchRequest describes one stretch of a conversation.
type ConversationStretchRequest struct {
	Attempt *state.AttemptState // owner of the session; updated by Record
	Session nexus.SessionID
	About   string // a subagent's question; empty for other sessions
	Task    nexus.Task
	Role    nexus.Role
	As      nexus.Role // the repository's own role that acts as Role; empty: Role itself
	Tier    nexus.Tier
	Least   nexus.Tier // least tier of the role; zero: its own tier
	// provider/model of the author whose work is reviewed; empty if there is none
	Author string
	// provider/model that failed before, and is avoided if there is another
	Failed   string
	Readers  []nexus.ReviewModelChosen // known assignments of readers, according to the journal
	Tree     *worktree.AttemptTree
	Base     string                     // commit at which the run began
	Goal     string                     // goal of the run
	Next     string                     // next message; empty: continue the session
	Parts    []prompt.SentPromptSection // the sections of Next; nil: it is one text
	Why      string                     // brief, repair
	Delivers agent.Guidance             // guidance that Next delivers; zero: none
	Handin   json.RawMessage
	Limits   nexus.Limits
	Left     func() time.Duration // time left of the task; nil: unlimited
	Record   func(ctx context.Context, facts ...nexus.Fact) error
	Snap     func(ctx context.Context) (nexus.TreeSnapshotted, error) // nil for roles that only read

	kept   *ignore.IgnoreSet // .nexusignore at the start of the work; nil: not read yet
	given  int               // bytes of context that it requested before
	scouts *sessionSubagents // its subagents; nil: none
}

// ContinueConversation runs a stretch of a conversation, new or begun by another process, and returns its
// result, which has been recorded.
func (s *AgentSessions) ContinueConversation(ctx context.Context, t ConversationStretchRequest, d AttemptFactRecorder) (agent.SessionStretchResult, error) {
	role, ok := s.Roles[cmp.Or(t.As, t.Role)]
	if !ok {
		return agent.SessionStretchResult{}, fmt.Errorf("there is no role %q", cmp.Or(t.As, t.Role))
	}
	tier := t.modelTier(role)
	var err error
	if t.kept, err = s.ignoreRules(ctx, t); err != nil {
		return agent.SessionStretchResult{}, err
	}
	if t.Next, err = t.redactHiddenFiles(t.Next); err != nil {
		return agent.SessionStretchResult{}, err
	}
	for h, others := s.externalAgentForSession(t, tier); h != nil; h, others = s.externalAgentForSession(t, tier) {
		o, err := s.runExternal(ctx, t, role, tier, *h, others, d)
		elsewhere, ok := errors.AsType[*schedule.SwitchModelError](err)
		if !ok {
			return o, err
		}
		if err := s.switchAgent(ctx, &t, tier, h, elsewhere); err != nil {
			return o, err
		}
	}
	return s.runOwnLoop(ctx, t, role, tier, d)
}

// redactHiddenFiles removes from a session's texts the quotes of files that are hidden from
// agents: changes of others and gates may quote anything.
func (t ConversationStretchRequest) redactHiddenFiles(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	root, err := os.OpenRoot(t.Tree.Dir)
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }()
	return files.HiddenPathRules{Kept: t.kept}.RedactHidden(root, text), nil
}

// ignoreRules returns the rules of .nexusignore in the commit at which the work of a session
// began. In the tree, the agent itself may have changed them.
func (s *AgentSessions) ignoreRules(ctx context.Context, t ConversationStretchRequest) (*ignore.IgnoreSet, error) {
	commit := cmp.Or(t.Attempt.Base, t.Base)
	if t.kept != nil || commit == "" { // a session without changes has no commit
		return t.kept, nil
	}
	set, err := changeeffects.HiddenFilesAt(ctx, s.Trees.PrivateRepo(), commit)
	return &set, err
}

// sessionMessages returns the messages of a session; nil if it has not begun.
func (s *AgentSessions) sessionMessages(id nexus.SessionID, old *state.AgentSessionState) ([]llm.Message, error) {
	if old == nil {
		return nil, nil
	}
	said, err := agent.LoadMessages(s.Site.Blobs, old.Messages)
	if err != nil {
		return nil, fmt.Errorf("read the transcript of %s: %w", id, err)
	}
	return said, nil
}

// deltaListener returns a function that receives a session's output as it arrives; nil if
// there is no listener.
func (s *AgentSessions) deltaListener(id nexus.SessionID) func(llm.AnswerDelta) {
	if s.Heard == nil {
		return nil
	}
	return func(delta llm.AnswerDelta) { s.Heard(id, delta) }
}

// runOwnLoop runs a stretch of a conversation in our own loop: it adds the system prompt and the
// map, and calls the model.
func (s *AgentSessions) runOwnLoop(ctx context.Context, t ConversationStretchRequest, role agent.RoleDefinition, tier nexus.Tier, d AttemptFactRecorder) (o agent.SessionStretchResult, err error) {
	model, err := s.pickModel(ctx, t, tier)
	if err != nil {
		return agent.SessionStretchResult{}, err
	}
	old := t.Attempt.SessionByID(t.Session)
	said, err := s.sessionMessages(t.Session, old)
	if err != nil {
		return agent.SessionStretchResult{}, err
	}
	t.given = tool.CountRequestedContextBytes(ownMessages(said, old))
	var begun conversationOpening
	items := t.promptItems()
	if len(said) == 0 {
		if begun, err = s.newSessionOpening(ctx, t, role, model, d); err != nil {
			return agent.SessionStretchResult{}, err
		}
		t.Next = begun.first
	}
	ctx, halt := context.WithCancelCause(ctx)
	defer halt(nil)
	role.Tools = s.offeredTools(role, tier)
	if t.scouts = s.newSubagents(ctx, t, role, tier, d); t.scouts != nil {
		defer func() { t.scouts.endRunningSubagents(o, err) }()
	}
	var undone tool.UndoneChangeCollector
	tools, done, err := s.newToolSet(ctx, t, role, d, s.approvalFunc(ctx, t, d, halt), &undone)
	if err != nil {
		return agent.SessionStretchResult{}, err
	}
	closed := sync.OnceFunc(done)
	defer closed()
	if len(said) == 0 {
		items = begun.sentPromptItems(items, tools.Specs())
	}
	b := agent.SessionStretchOptions{
		Session: t.Session, Attempt: t.Attempt.ID, Task: t.Task.ID, About: t.About, Role: role, Model: model.Name, Tier: tier,
		System: begun.system, Next: t.Next, Why: t.Why, Delivers: t.Delivers, Memory: begun.memory, Items: items, Limits: t.Limits,
		Price: model.Price, Worst: model.Worst, Tokens: model.Tokens, Snapshot: t.Snap, Schema: t.Handin, Left: t.Left,
		Retry: s.retryPolicy(t), Draw: s.Draw, Context: model.Context, Family: string(s.Site.Run) + "/" + string(t.Role),
		Now: s.Site.Now, Choices: model.SessionChoices(),
		Hurry: s.Hurry, Cut: t.Attempt.Cut,
		Spare: func(ctx context.Context) (context.Context, context.CancelFunc) { return d.Spare(ctx, false) },
	}
	if old != nil {
		b.Messages = said
		opened, err := agent.LoadSessionStart(s.Site.Blobs, old.Prompt)
		if err != nil {
			return agent.SessionStretchResult{}, fmt.Errorf("continue with %s: %w", t.Session, err)
		}
		// the system prompt stays the same after changes of the role's file or the rules: the
		// conversation stays cached
		b.System = opened.System
		if opened.Agent != "" { // the external agent's guide is its description of the work
			if begun, err = s.newSessionOpening(ctx, t, role, model, d); err != nil {
				return agent.SessionStretchResult{}, err
			}
			b.System = begun.system
		}
		b.Turn, b.Used, b.Elapsed, b.Compact, b.Tally = old.Turns, old.Usage, old.Elapsed, old.Compact, old.Tally
		b.Present, b.Foreign = old.Model, old.Foreign
	}
	if begun.warm != nil {
		b.Messages, b.After = begun.warm.said, t.Attempt.Warm.Session
	}
	if t.scouts != nil {
		b.News = t.scouts.FinishedSubagents
	}
	heard := s.deltaListener(t.Session)
	o, err = agent.RunSession(ctx, model.Model, tools, b, sessionRecorder{t, d, s.Site.Now}, s.Site.Blobs, heard)
	if closed(); err != nil || len(undone.SortedFiles()) == 0 {
		return o, err
	}
	return o, t.Record(ctx, nexus.RoleIsolationViolated{Attempt: t.Attempt.ID, Role: t.Role, Files: undone.SortedFiles()})
}

// modelTier returns the tier of the role's model: a writer's tier rises with the task; other roles
// have their own, but at least Least.
func (t ConversationStretchRequest) modelTier(role agent.RoleDefinition) nexus.Tier {
	if t.Role == nexus.Coder || t.Role == nexus.Tester {
		return t.Tier
	}
	own := cmp.Or(role.Tier, t.Tier)
	if own.IsBelow(t.Least) {
		return t.Least
	}
	return own
}

// offeredTools returns the names of a role's built-in tools.
func (s *AgentSessions) offeredTools(role agent.RoleDefinition, tier nexus.Tier) []string {
	if s.maySendSubagents(role, tier) {
		return role.Tools
	}
	return slices.DeleteFunc(slices.Clone(role.Tools), func(name string) bool { return name == tool.SubagentTool })
}

// retryPolicy returns the retry policy of a session's calls. With a seed its waits are its own,
// whatever other sessions draw.
func (s *AgentSessions) retryPolicy(t ConversationStretchRequest) llm.CallRetryPolicy {
	p := s.Retry
	if s.Draw != nil {
		p.Jitter = func() float64 { return float64(s.Draw(string(t.Session)+" waits")>>11) / (1 << 53) }
	}
	return p
}

// maskSecrets masks keys in a text.
func (s *RunEnvironment) maskSecrets(text string) string {
	if s.Mask == nil {
		return text
	}
	return string(s.Mask([]byte(text)))
}

// sessionRecorder is the recorder of one session: it passes facts to the worker's recorder.
type sessionRecorder struct {
	talk ConversationStretchRequest
	desk AttemptFactRecorder
	now  func() time.Time
}

// Record implements [agent.SessionRecorder].
func (d sessionRecorder) Record(ctx context.Context, facts ...nexus.Fact) error {
	return d.talk.Record(ctx, facts...)
}

// Reserve implements [agent.SessionRecorder]. The call's time starts here: the wait for permission
// does not count as time of the task.
func (d sessionRecorder) Reserve(ctx context.Context, r nexus.BudgetReserved, done ...nexus.Fact) ([]agent.Guidance, error) {
	began := d.now()
	told, err := d.desk.Reserve(ctx, r, done...)
	if _, elsewhere := errors.AsType[*schedule.SwitchModelError](err); err != nil && !elsewhere {
		return told, err
	}
	for _, f := range done {
		d.talk.Attempt.Apply(f, began)
	}
	d.talk.Attempt.ExcludeWait(began, d.now())
	if err == nil {
		d.talk.Attempt.Apply(r, d.now())
	}
	return told, err
}

// toolEnvironment returns a session's access to its tree and the machine, and a function that
// releases it. The sandbox alone limits writing; see [tool.CommandWriteGuard].
func (s *AgentSessions) toolEnvironment(t ConversationStretchRequest, role agent.RoleDefinition, d AttemptFactRecorder, agree func(context.Context, string, string) error) (tool.AgentToolEnvironment, func(), error) {
	root, err := os.OpenRoot(t.Tree.Dir)
	if err != nil {
		return tool.AgentToolEnvironment{}, nil, err
	}
	e := tool.AgentToolEnvironment{
		Root: root, Dir: t.Tree.Dir, Box: s.Site.Box, Blob: s.Site.Blobs, Now: s.Site.Now, Mask: s.Site.Mask,
		Agree: agree, Every: t.Limits.Approval.NeedsApproval(nexus.ApproveAll),
		Writes: t.Snap != nil && role.Writes != agent.WriteNothing,
		Rule:   tool.CombineWriteRules(roleWriteRule(t.Attempt.Strategy, role), unchangeableFilesRule(t.Task.Keep)),
		Mark:   s.Site.processOwner(t.Tree), Tmp: t.Tree.Tmp, Net: s.Site.Net.GatewayForRole(string(role.Name)),
		Hidden: files.HiddenPathRules{Show: s.Site.policyRules(role.Name).Show, Kept: t.kept}, Learn: s.Site.Learn,
		Handin: t.Handin, Claims: s.TestersWriteChecks() && t.Role == nexus.Tester, Recall: s.mayProposeLessons(t), Rules: s.Site.policyRules(role.Name), Given: t.given,
		// see prompt.TestOrderText
		Breaks: role.Name == nexus.Tester && role.Writes == agent.WriteTests && !t.Attempt.Strategy.UsesSeparateSessions(),
		Ask: func(ctx context.Context, question, fallback string) (string, error) {
			q := nexus.QuestionAsked{
				ID:      fmt.Sprintf("%s?%d", t.Session, s.Site.Now().UnixNano()),
				Attempt: t.Attempt.ID, Text: question, Fallback: fallback, Deadline: s.questionDeadline(), Trigger: humaninput.AmbiguityTrigger,
			}
			return s.askQuestion(ctx, t, d, q)
		},
	}
	e.Ignored = func(ctx context.Context, name string) (string, error) {
		// the file is wanted, even if git cannot name the rule that ignores it
		t.Tree.ForceInclude(name)
		rules, err := t.Tree.IgnoreRules(ctx, []string{name})
		if rule, ok := rules[name]; ok && !rule.Own {
			return rule.String(), err
		}
		return "", err
	}
	if t.scouts != nil {
		e.Scouts = t.scouts
	}
	if t.Task.ID != "" {
		e.Replan = func(ctx context.Context, f nexus.ReplanRequested) error {
			f.Session, f.Task = t.Session, t.Task.ID
			return t.Record(ctx, f)
		}
	}
	cache := filepath.Join(filepath.Dir(t.Tree.Dir), "shell")
	setup, err := s.Judge.gateCaches().CachesForShell(t.Tree.Dir, cache, s.Judge.Kit.EnvironmentOfTree(t.Tree.Dir).GateCommandWords())
	if err != nil {
		return e, nil, errors.Join(err, root.Close())
	}
	e.Vars, e.Writable = s.Judge.Kit.EnvironmentOfTree(t.Tree.Dir).CommandVars(".", setup.Env), append(setup.Writable, t.Tree.Git)
	e.Readable = append(setup.Readable, t.Tree.ReadablePaths()...)
	// fetched packages are in the latter
	e.Caches = append(s.Site.Box.ReadableDirs(), setup.Writable...)
	if !e.Writes {
		e.Readable = append(e.Readable, t.Tree.Git)
	}
	if !s.Site.Box.HidesHost() {
		e.Tmp = t.Tree.Tmp // creating a directory for each command would cost more than most commands
	}
	e.Git = s.sandboxedGit(e)
	vars, free, err := s.reserveSlot(t)
	if err != nil {
		return e, nil, errors.Join(err, root.Close())
	}
	e.Vars = append(slices.Clone(e.Vars), vars...)
	return e, func() {
		free()
		_ = root.Close()
	}, nil
}

// newToolSet returns the role's tools on the tree, and a function that closes them.
func (s *AgentSessions) newToolSet(
	ctx context.Context, t ConversationStretchRequest, role agent.RoleDefinition, d AttemptFactRecorder, agree func(context.Context, string, string) error, u *tool.UndoneChangeCollector,
) (*tool.ToolSet, func(), error) {
	e, free, err := s.toolEnvironment(t, role, d, agree)
	if err != nil {
		return nil, nil, err
	}
	own := e.Rule // other undone changes do not violate the role
	if e.Writes {
		e.Rule = tool.CombineWriteRules(tool.CombineWriteRules(own, tool.IgnoredFileWriteRule(e.Root, e.Hidden)), tool.ProtectedFileReason)
		keeper := tool.CommandWriteGuard{Tree: t.Tree, Box: s.Site.Box, Git: s.Trees.PrivateRepo(), Rule: e.Rule, Undone: func(files []string) {
			if !e.Breaks {
				u.Add(tool.FilesViolatingRule(files, own))
			}
		}, Now: s.Site.Now, Base: func() string { return cmp.Or(t.Attempt.Snapshot.Commit, t.Attempt.Start, t.Attempt.Base) }}
		if own == nil && t.kept != nil && t.kept.IsEmpty() {
			// the base has none, whatever the snapshots contain
			keeper.Base = func() string { return cmp.Or(t.Attempt.Base, t.Base) }
			e.Undo, err = keeper.WatchProtected(ctx)
		} else {
			e.Over, e.Undo, err = keeper.OpenWriteLayer(ctx)
		}
		if err != nil {
			free()
			return nil, nil, err
		}
		e.Writable = append(e.Writable, keeper.LentPaths(e.Over)...)
	}
	if m := s.Judge.Kit.SubmoduleGuardOf(t.Tree.Dir); e.Writes && m != nil {
		e.Rule, e.Undo, e.Note = tool.CombineWriteRules(m.CheckWrite, e.Rule), tool.CombineUndoFuncs(m.RestoreChangedFiles, e.Undo), m.NewFilesNote
	}
	set, err := tool.NewToolSet(e, role.Tools...)
	if err != nil {
		free()
		return nil, nil, err
	}
	hidden, _ := set.HiddenFromCommands() // on an error, no command runs
	s.hideFromGit(ctx, t, e, hidden)
	leave := s.Foreign.AddTools(ctx, set, role.Name, e)
	hush := s.Code.AddTool(ctx, set, e)
	return set, func() {
		hush()
		leave()
		set.Close()
		if e.Undo != nil { // a background command may have written last
			_, _ = e.Undo(context.WithoutCancel(ctx)) // the next snapshot finds changes that remain
		}
		free()
	}, nil
}

// reserveSlot gives an attempt its own ports and names, so that its processes do not conflict
// with those of other attempts. A run without a state directory has none.
func (s *AgentSessions) reserveSlot(t ConversationStretchRequest) (vars []string, free func(), err error) {
	if s.Site.State == "" {
		return nil, func() {}, nil
	}
	owner := s.Site.processOwner(t.Tree)
	own, err := portslot.AcquirePortSlot(filepath.Join(filepath.Dir(s.Site.State), "slots"), owner)
	if err != nil {
		return nil, nil, err
	}
	return own.EnvironmentVariables(owner, s.Site.Box.HidesHost()), func() { _ = own.Release() }, nil
}

// policyRules returns people's additions to the policy for a role.
func (s *RunEnvironment) policyRules(role nexus.Role) policy.CommandPolicyContext {
	if s.May == nil {
		return policy.CommandPolicyContext{}
	}
	return s.May(role)
}

// hideFromGit configures the agent's own git to ignore files that its commands cannot open:
// git would treat them as changed, and fail on them. If that is impossible, git reports the
// files that it could not open.
func (s *AgentSessions) hideFromGit(ctx context.Context, t ConversationStretchRequest, e tool.AgentToolEnvironment, names []string) {
	if len(names) == 0 || !s.Site.Box.HidesHost() {
		return
	}
	const script = `git ls-files -z --full-name -- "$@" | git update-index -z --skip-worktree --stdin`
	args := []string{"/bin/sh", "-c", script, "sh"}
	for _, n := range names {
		if rel, err := filepath.Rel(t.Tree.Dir, n); err == nil {
			args = append(args, rel)
		}
	}
	_, _ = s.Site.Box.Run(ctx, sandbox.Command{
		Args: args, Dir: e.Dir, Env: append(slices.Clone(e.Vars), "GIT_LITERAL_PATHSPECS=1"),
		Readable: t.Tree.ReadablePaths(), Writable: []string{t.Tree.Git},
		Timeout: gitTime, Cap: gitBytes, Mark: e.Mark,
	})
}

const (
	gitTime  = time.Minute
	gitBytes = 1 << 20
)

// sandboxedGit runs the agent's own git on the tree, inside the sandbox: changes that an agent may have
// made to it affect nobody else.
func (s *AgentSessions) sandboxedGit(e tool.AgentToolEnvironment) func(ctx context.Context, args, hidden []string) (string, error) {
	return func(ctx context.Context, args, hidden []string) (string, error) {
		r, err := s.Site.Box.Run(ctx, sandbox.Command{
			Args: append([]string{"git", "--no-pager", "-c", "color.ui=false"}, args...), Dir: e.Dir,
			Env: append(slices.Clone(e.Vars), "GIT_OPTIONAL_LOCKS=0"), Readable: e.Readable, Writable: e.Writable, Tmp: e.Tmp,
			Timeout: gitTime, Cap: gitBytes, Mark: e.Mark, Hidden: hidden,
		})
		switch {
		case err != nil:
			return "", err
		case r.TimedOut:
			return "", fmt.Errorf("git did not end within %s", gitTime)
		case r.Exit != 0:
			return "", fmt.Errorf("git: exit %d: %s", r.Exit, strings.TrimSpace(string(r.Stderr)))
		}
		return string(r.Stdout), nil
	}
}
