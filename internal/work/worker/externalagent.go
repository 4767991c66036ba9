package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/acp"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
	"github.com/nexus-ai-builder/nexus/internal/sys/egress"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/externalagent"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/files"
)

// ExternalAgent is an external agent that does the sessions of a role.
type ExternalAgent struct {
	Program agentcli.CLIAgentProgram
	Why     string              // why it does the role's sessions, for people
	File    string              // path of its program
	Seen    []string            // directories that must be readable for it to run
	User    string              // the user's home, from which its login is copied
	Net     *egress.EgressGrant // the hosts that it may reach; nil: none
	Money   nexus.Money         // most that a prompt may cost, if it is paid by use
	Silence time.Duration       // longest silence before it is stopped; 0: unlimited
	Price   func(model string, u nexus.Usage) (nexus.Money, bool)
}

// modelName returns its name for accounting.
func (h ExternalAgent) modelName() string {
	model := h.Program.Model
	if model == "" {
		model = "default"
	}
	return h.Program.Name + "/" + model
}

// Texts for external agents about their environment, and how to submit.
const (
	guide = `You do one task in a git worktree of your own, alone: ` + nobodyAnswers + ` and say what you assumed.
Gates build, lint and test the tree after you, and a reviewer reads the change. Only the files count, not what you say about them.
- Make the smallest change that meets every criterion. Read the code and its tests first, and follow the style there.
- Build and test before you end. Do not commit, stash, switch branches or change git's configuration. Files that git ignores are not kept.
- There is no network except your own provider. Work in this directory only.
- If the task says to submit or to call finish, end with a short summary of the change instead: what and why. If it cannot be done, say why.`
	readGuide = `You work in a git worktree, alone: ` + nobodyAnswers + `. Read and search as you like.
Change nothing: none of your changes is kept.
There is no network except your own provider. Use your own tools instead of those named below.`
	submitGuide = "If this says to submit or to call finish, end with one message that contains only a JSON object\n" +
		"in a ```json block. It must match this JSON Schema:\n\n%s"
	learnGuide = "If there are facts that the next agent here needs and the code does not show, which is rare, end your last message\n" +
		`with a JSON object: {"learned": [{"kind": "gotcha", "text": "...", "files": ["..."]}]}, at most 3 of them. A kind is` + "\n" +
		"decision, pattern, gotcha, fix or review."
)

// Texts about people for agents that can ask them.
const (
	nobodyAnswers = "no person answers questions, so decide yourself"
	peopleAnswer  = "people may take long to answer a question, so decide yourself where you can"
)

// newConversationGuide returns the first text of a session's new conversation. Asks means that the agent can
// ask people.
func (s *AgentSessions) newConversationGuide(t ConversationStretchRequest, role agent.RoleDefinition, e tool.AgentToolEnvironment, asks bool) string {
	parts := []string{guide}
	if !e.Writes {
		parts = []string{readGuide}
	}
	if asks && !s.Alone {
		parts[0] = strings.Replace(parts[0], nobodyAnswers, peopleAnswer, 1)
	}
	if t.Role != nexus.Coder && t.Role != nexus.Tester { // other roles' briefs are enough
		parts = append(parts, role.Prompt)
	}
	if t.Handin != nil {
		parts = append(parts, fmt.Sprintf(submitGuide, t.Handin))
	}
	if t.Handin == nil && s.mayProposeLessons(t) {
		parts = append(parts, learnGuide)
	}
	rules, _ := prompt.FitSections(append(s.Rules.AlwaysApplicable().PromptSections(), s.rulesFor(t)...), math.MaxInt64)
	return s.Site.maskSecrets(strings.TrimSpace(strings.Join(append(parts, rules), "\n\n")))
}

// runExternal runs a stretch of a conversation with an external agent.
func (s *AgentSessions) runExternal(ctx context.Context, t ConversationStretchRequest, role agent.RoleDefinition, tier nexus.Tier, h ExternalAgent, others []string, d AttemptFactRecorder,
) (agent.SessionStretchResult, error) {
	ctx, halt := context.WithCancelCause(ctx)
	defer halt(nil)
	e, free, err := s.toolEnvironment(t, role, d, s.approvalFunc(ctx, t, d, halt))
	if err != nil {
		return agent.SessionStretchResult{}, err
	}
	defer free()
	var undone tool.UndoneChangeCollector
	tidy := s.undoForbiddenTreeChanges(t, e, h.Program, &undone)
	login := &agentLoginSync{login: agentcli.AgentProgramLogin{Program: h.Program, Home: agentHome(t, h), User: h.User}, learn: s.Site.Learn}
	a, way, closed, err := s.prepareExternalAgent(ctx, t, e, h, tidy)
	if err != nil {
		return agent.SessionStretchResult{}, err
	}
	looking, stop := context.WithCancelCause(ctx)
	gone := login.watchLoginRenewals(looking)
	defer func() {
		closed()
		stop(context.Canceled)
		<-gone
		login.takeLoginRenewals() // a remaining process may have renewed the login after its last prompt
	}()
	old := t.Attempt.SessionByID(t.Session)
	var remembered []nexus.RelevantMemoryEntry
	items := t.promptItems()
	if old == nil || len(old.Messages) == 0 {
		more, parts, told, err := s.externalContext(ctx, t, d)
		if err != nil {
			return agent.SessionStretchResult{}, err
		}
		remembered = told
		t.Next += more
		own := nexus.PromptManifestItem{In: "system", Title: "Guide", Reason: "what the role does, and the rules", Tokens: prompt.EstimateTokens(s.newConversationGuide(t, role, e, h.Program.CanAskPeople()))}
		items = append(append([]nexus.PromptManifestItem{own}, items...), prompt.ManifestItems("message", parts)...)
	}
	b := externalagent.ExternalSessionBrief{
		Agent: h.Program.Name, Session: t.Session, Attempt: t.Attempt.ID, Task: t.Task.ID, Role: t.Role, Model: h.modelName(), Tier: tier,
		Others: others,
		Guide:  s.newConversationGuide(t, role, e, h.Program.CanAskPeople()), Next: t.Next, Why: t.Why, Delivers: t.Delivers, Memory: remembered, Items: items, Old: old,
		Told:    func() string { return s.firstMessage(t) },
		Earlier: func() string { return s.lastTexts(t) }, Limits: t.Limits, Left: t.Left, Price: h.Price,
		Permit: externalAgentPolicy{e, t.Tree.Dir}.judgeCall, Ask: s.externalQuestionFunc(t, d, h.Program.Name), Settle: tidy,
		Ready: login.refreshProgramLogin, Renewed: login.takeLoginRenewals,
		Reached:  func() []nexus.RequestedHost { return egress.RequestedHostsOf(way.TakeDecisions()) },
		News:     func(f nexus.AgentQuotaReported) bool { return s.Windows.recordIfNew(f, s.Site.Now()) },
		Snapshot: t.Snap, Now: s.Site.Now, Draw: s.Draw,
		Spare: func(ctx context.Context) (context.Context, context.CancelFunc) { return d.Spare(ctx, false) },
	}
	if h.Program.Metered {
		b.Money = h.Money
	}
	if way != nil && s.Site.Box.HidesHost() { // otherwise it may reach a host without the gateway
		b.Asked = way.ConnectionCount
	}
	if t.Handin != nil {
		b.Submit = func(text string) (json.RawMessage, error) {
			return externalagent.ParseLastObject(text, func(one json.RawMessage) (json.RawMessage, error) { return tool.FitInputToSchema(t.Handin, one) })
		}
	}
	if f := (nexus.ReviewModelChosen{Role: t.Role, Model: h.modelName(), Author: t.Author, Why: h.Why}); t.Author != "" && s.Readers.recordIfNew(f, t.Readers) {
		if err := t.Record(ctx, f); err != nil {
			return agent.SessionStretchResult{}, err
		}
	}
	o, err := externalagent.RunExternalSession(ctx, a, b, sessionRecorder{t, d, s.Site.Now}, s.Site.Blobs)
	if err != nil || len(undone.SortedFiles()) == 0 {
		return o, err
	}
	return o, t.Record(ctx, nexus.RoleIsolationViolated{Attempt: t.Attempt.ID, Role: t.Role, Files: undone.SortedFiles()})
}

// agentHome returns the home directory of a session's agent, which contains its conversation.
func agentHome(t ConversationStretchRequest, h ExternalAgent) string {
	return filepath.Join(filepath.Dir(t.Tree.Dir), "home-"+h.Program.Name+"-"+filepath.Base(string(t.Session)))
}

// prepareExternalAgent prepares the agent: with the tree, with its role's access, and its own home, in the
// sandbox.
func (s *AgentSessions) prepareExternalAgent(ctx context.Context, t ConversationStretchRequest, e tool.AgentToolEnvironment, h ExternalAgent, tidy func(context.Context) error,
) (externalagent.ExternalAgentClient, *egress.CommandNetworkAccess, func(), error) {
	set, err := tool.NewToolSet(e, "read_file") // to find which files are hidden
	if err != nil {
		return nil, nil, nil, err
	}
	if err := s.checkSteeringFiles(ctx, e, h.Program, set, tidy); err != nil {
		set.Close()
		return nil, nil, nil, err
	}
	home := agentHome(t, h)
	secrets, err := h.Program.PrepareHome(home, h.User)
	if err != nil {
		set.Close()
		return nil, nil, nil, err
	}
	for _, secret := range secrets {
		if s.Site.Learn != nil {
			s.Site.Learn(secret)
		}
	}
	hidden, err := set.HiddenFromCommands()
	if err != nil {
		set.Close()
		return nil, nil, nil, err
	}
	c := sandbox.Command{
		Dir: e.Dir, Env: append(slices.Clone(e.Vars), "HOME="+home),
		Readable: slices.Concat(e.Readable, h.Seen), Writable: append(slices.Clone(e.Writable), home),
		Hidden: hidden, Tmp: e.Tmp, Mark: e.Mark,
	}
	if !e.Writes {
		c.Readable = append([]string{e.Dir}, c.Readable...)
	}
	var way *egress.CommandNetworkAccess
	if h.Net != nil {
		way = h.Net.NewGateway()
		c.Proxy, c.Local = way.Serve, way.LocalPortServers()
	}
	working := max(h.Silence, toolTime)
	if h.Program.Speaks != "acp" {
		return commandLineAgent{agentcli.ProgramLaunch{
			Program: h.Program, File: h.File, Run: s.Site.Box.Run, Command: c, Silence: h.Silence, Working: working,
		}, home}, way, set.Close, nil
	}
	terminal := c
	terminal.Args, terminal.Env, terminal.Writable, terminal.Proxy, terminal.Local = []string{tool.ShellPath(), "-c"}, e.Vars, e.Writable, nil, nil
	a := acp.NewAgent(acp.AgentLaunchOptions{
		Program: h.Program, File: h.File, Run: s.Site.Box.Run, Command: c, Terminal: terminal, Files: agentFileAccess{set.AgentTree()},
		Writes: e.Writes, Keep: !e.Writes, Silence: h.Silence, Working: working,
	})
	return a, way, func() { //nolint:contextcheck // it ends what is left when the context is over
		a.Close()
		set.Close()
	}, nil
}

// agentFileAccess reads and writes the tree on behalf of an agent.
type agentFileAccess struct{ tree *files.AgentTree }

// Read implements [acp.WorktreeFileAccess].
func (f agentFileAccess) Read(name string) (string, error) {
	tree := f.tree.TreeForPath(name)
	at, err := tree.CleanPath(name, false)
	if err != nil {
		return "", err
	}
	if _, err := tree.Root.Stat(at); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s: %w", at, fs.ErrNotExist)
	}
	return tree.Text(at)
}

// Write implements [acp.WorktreeFileAccess]. The agent has its own tools, so that changes by others since
// it read a file through us mean nothing.
func (f agentFileAccess) Write(name, text string) error {
	at, err := f.tree.CleanPath(name, true)
	if err != nil {
		return err
	}
	tree := f.tree.WithoutHistory()
	defer tree.Close()
	_, err = tree.Write(at, text)
	return err
}

// toolTime is the longest silence of an agent's tool: a build, a test.
const toolTime = 20 * time.Minute

// checkSteeringFiles returns an error if the tree contains files that would configure an
// agent, unless the sandbox hides them from it. Files that the agent itself wrote before it
// was killed are removed first.
func (s *AgentSessions) checkSteeringFiles(ctx context.Context, e tool.AgentToolEnvironment, p agentcli.CLIAgentProgram, set *tool.ToolSet, tidy func(context.Context) error) error {
	names := p.SteeringFiles()
	if len(names) > 0 && tidy != nil {
		if err := tidy(ctx); err != nil {
			return err
		}
	}
	hidden, err := set.HiddenFromCommands()
	if err != nil {
		return err
	}
	for _, name := range names {
		info, err := e.Root.Lstat(name)
		none := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) // any other error may be of a link that leads out
		if none || s.Site.Box.HidesHost() && isHidden(hidden, filepath.Join(e.Dir, name)) {
			continue
		}
		// an empty directory that the removal left
		if err == nil && info.IsDir() && !containsFile(e.Root, name) {
			continue
		}
		if data, again := e.Root.ReadFile(name); err == nil && again == nil && info.Mode().IsRegular() && !agentcli.IsSteeringFile(name, data) {
			continue
		}
		return &nexus.Error{
			Code: nexus.CodeInvalidConfig,
			Message: fmt.Sprintf(
				"%s would take its settings from %s of the repository, which can choose its model, its provider and commands that it starts", p.Name, name),
			Hint: "Let another agent or a model do the roles of " + p.Name + ", or remove the file from the branch. Then run nexus resume.",
		}
	}
	return nil
}

// containsFile reports whether a directory contains a file, at any depth, or cannot be read.
func containsFile(root *os.Root, dir string) bool {
	found := errors.New("found")
	return fs.WalkDir(root.FS(), dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			err = found
		}
		return err
	}) != nil
}

// isHidden reports whether a file, or one of its directories, is hidden.
func isHidden(hidden []string, file string) bool {
	return slices.ContainsFunc(hidden, func(h string) bool { return h == file || strings.HasPrefix(file, h+"/") })
}

// steeringFileRule returns a rule that forbids an agent to write the files that would configure it from
// its next prompt on; nil if there are none.
func steeringFileRule(p agentcli.CLIAgentProgram) func(name string) error {
	all := p.SteeringFiles()
	if len(all) == 0 {
		return nil
	}
	return func(name string) error {
		if slices.ContainsFunc(all, func(one string) bool {
			return one == name || strings.HasPrefix(name, one+"/") || strings.HasPrefix(one, name+"/") // a link in place of a directory
		}) {
			return fmt.Errorf("%s is refused (agent.settings): %s would take its settings from it", name, p.Name)
		}
		return nil
	}
}

// undoForbiddenTreeChanges undoes an agent's forbidden changes of a tree: those that its role may not make,
// and files that configure the program.
func (s *AgentSessions) undoForbiddenTreeChanges(t ConversationStretchRequest, e tool.AgentToolEnvironment, p agentcli.CLIAgentProgram, u *tool.UndoneChangeCollector) func(context.Context) error {
	if !e.Writes {
		return nil
	}
	own := e.Rule
	base := t.startCommit()
	if r := t.Attempt.LastRound(); r != nil && r.From != "" {
		base = r.From // leftovers of a dead process are not accepted because a snapshot contains them
	}
	keeper := tool.CommandWriteGuard{
		Tree: t.Tree, Box: s.Site.Box, Git: s.Trees.PrivateRepo(), Now: s.Site.Now, Base: func() string { return base },
		Rule:   tool.CombineWriteRules(tool.CombineWriteRules(own, tool.IgnoredFileWriteRule(e.Root, e.Hidden)), tool.CombineWriteRules(tool.ProtectedFileReason, steeringFileRule(p))),
		Undone: func(files []string) { u.Add(tool.FilesViolatingRule(files, own)) },
	}
	modules, putBack := s.Judge.Kit.SubmoduleGuardOf(t.Tree.Dir), tool.FindHiddenPathRestore(e)
	return func(ctx context.Context) error {
		putBack()
		err := keeper.UndoForbidden(ctx)
		if modules != nil {
			_, back := modules.RestoreChangedFiles(ctx)
			err = errors.Join(err, back)
		}
		return err
	}
}

const (
	maxTexts     = 5
	maxTextBytes = 4_000
)

// lastTexts returns an agent's last texts, for a conversation that follows it.
func (s *AgentSessions) lastTexts(t ConversationStretchRequest) string {
	old := t.Attempt.SessionByID(t.Session)
	if old == nil {
		return ""
	}
	said, err := agent.LoadMessages(s.Site.Blobs, old.Messages)
	if err != nil {
		return "" // its work is in the files anyway
	}
	var texts []string
	for _, m := range slices.Backward(said) {
		if m.From == llm.Assistant && strings.TrimSpace(m.Text()) != "" && len(texts) < maxTexts {
			texts = append(texts, m.Text())
		}
	}
	slices.Reverse(texts)
	return sanitize.TruncateText(strings.Join(texts, "\n\n"), maxTextBytes)
}
