package acpcmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/host"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/acp/acpserver"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// The modes of a session: how it handles a person's message.
const (
	runMode   = "run"   // makes a plan, and works on it after the person agrees
	planMode  = "plan"  // makes a plan
	quickMode = "quick" // does one task
)

// anyTier lets the router choose the tier.
const anyTier = "auto"

// editorSession is a conversation with a client.
type editorSession struct {
	agent *editorAgent
	c     *acpserver.Client
	dir   string             // directory of the client
	top   string             // root of its repository
	least nexus.ApprovalMode // approval level that the configuration requires

	mu             sync.Mutex // guards the fields below
	mode, tier     string
	approval       nexus.ApprovalMode
	planning       bool                        // a person agreed to all plans of the session
	plan           *proposedPlan               // the last plan that was not started
	refused        nexus.RunID                 // run of the refused plan that the next message replaces
	run            nexus.RunID                 // the last run that worked; empty: none yet
	held           nexus.RunID                 // run that a prompt conducts now; empty: none
	paused         bool                        // the held run is paused
	alarm          string                      // alert that paused it; empty: a person did
	spent          map[nexus.RunID]nexus.Money // by run of the session
	filled, window int64                       // size of the last used context and of its window, in tokens
	shown          map[string]bool             // IDs of the tool calls that the client knows
}

// Opened implements [acpserver.ServedSession].
func (s *editorSession) Opened() {
	var all []acpserver.SlashCommand
	for _, c := range slashCommands() {
		all = append(all, acpserver.SlashCommand{Name: c.name, About: c.about, Hint: c.hint})
	}
	s.c.SendCommands(all)
}

// Options implements [acpserver.ServedSession].
func (s *editorSession) Options() []acpserver.SessionOption {
	s.mu.Lock()
	defer s.mu.Unlock()
	const waits = "actions that need your approval"
	approval := acpserver.SessionOption{ID: "approval", Name: "Approval", About: waits, Value: string(s.approval)}
	for _, a := range []acpserver.SessionOptionValue{
		{Value: string(nexus.ApproveNone), Name: "Nothing", About: "commands that the policy asks about are refused"},
		{Value: string(nexus.ApproveDestructive), Name: "Commands that may destroy", About: "commands of agents that the policy asks about"},
		{Value: string(nexus.ApproveCommits), Name: "Commits, too", About: "and publishing landed work"},
		{Value: string(nexus.ApproveAll), Name: "Everything", About: "and every command of an agent"},
	} {
		if nexus.ApprovalMode(a.Value).NeedsApproval(s.least) { // not below the level that the configuration requires
			approval.Choices = append(approval.Choices, a)
		}
	}
	return []acpserver.SessionOption{
		{ID: acpserver.ModeOption, Name: "Mode", Category: "mode", Value: s.mode, Choices: []acpserver.SessionOptionValue{
			{Value: runMode, Name: "Run", About: "plan, show you the plan and its price, then code, check and review"},
			{Value: planMode, Name: "Plan only", About: "make a plan with an estimate; /run starts it"},
			{Value: quickMode, Name: "Quick", About: "one small task without a plan, with the same checks and review"},
		}},
		approval,
		{ID: "tier", Name: "Tier", About: "tier that tasks start at", Category: "thought_level", Value: s.tier, Choices: []acpserver.SessionOptionValue{
			{Value: anyTier, Name: "Auto", About: "by how hard a task looks"},
			{Value: string(nexus.Fast), Name: "Fast"},
			{Value: string(nexus.Balanced), Name: "Balanced"},
			{Value: string(nexus.Strong), Name: "Strong"},
		}},
	}
}

// Set implements [acpserver.ServedSession].
func (s *editorSession) Set(option, value string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch option {
	case acpserver.ModeOption:
		s.mode = value
	case "approval":
		s.approval = nexus.ApprovalMode(value)
	case "tier":
		s.tier = value
	}
	return nil
}

// agreedOptions are the session's options at the time when a person is asked to agree. The work
// uses these even if the client changes the options in the meantime.
type agreedOptions struct {
	tier     string             // empty: the router chooses
	approval nexus.ApprovalMode // the strictest of all that apply
	own      nexus.ApprovalMode // level of the run, which applies without a flag; empty: no run
}

// chosenOptions returns the current options, for a new run or for a run with its own approval level.
func (s *editorSession) chosenOptions(c config.Config, run ...nexus.ApprovalMode) agreedOptions {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := agreedOptions{approval: strictestApproval(append(run, s.approval, c.Limits.Approval)...)}
	if len(run) > 0 {
		o.own = cmp.Or(run[0], nexus.ApproveNone)
	}
	if s.tier != anyTier {
		o.tier = s.tier
	}
	return o
}

// strictestApproval returns the level that includes all the given levels.
func strictestApproval(all ...nexus.ApprovalMode) nexus.ApprovalMode {
	most := nexus.ApproveNone
	for _, level := range nexus.ApprovalModes() {
		if slices.ContainsFunc(all, func(a nexus.ApprovalMode) bool { return a.NeedsApproval(level) }) {
			most = level
		}
	}
	return most
}

func (o agreedOptions) tierFlags() []string {
	if o.tier == "" {
		return nil
	}
	return []string{"--tier=" + o.tier}
}

func (o agreedOptions) approvalFlags() []string {
	if o.approval == o.own {
		return nil
	}
	return []string{"--approval=" + string(o.approval)}
}

// agreedFlags returns the flags of a command that does the agreed work. The configuration may have
// become stricter since the person was asked.
func (s *editorSession) agreedFlags(o agreedOptions) ([]string, error) {
	c, err := s.readSettings()
	if err != nil {
		return nil, err
	}
	o.approval = strictestApproval(o.approval, c.Limits.Approval)
	return append(o.tierFlags(), o.approvalFlags()...), nil
}

// String formats the options for the person who agrees, to follow another sentence.
func (o agreedOptions) String() string {
	text := " Approval level: " + string(o.approval) + "."
	if o.tier != "" {
		text += " Tasks start at tier " + o.tier + "."
	}
	return text
}

// Prompt implements [acpserver.ServedSession].
func (s *editorSession) Prompt(ctx context.Context, text string) (acpserver.PromptStopReason, error) {
	stop, err := s.prompt(ctx, text)
	return stop, s.agent.maskError(err)
}

func (s *editorSession) prompt(ctx context.Context, text string) (acpserver.PromptStopReason, error) {
	if strings.TrimSpace(text) == "" {
		const hint = "Describe what you want in one or more sentences."
		return "", &nexus.Error{Code: nexus.CodeInvalidInput, Message: "the prompt is empty", Hint: hint}
	}
	if c, rest, ok := parseSlashCommand(text); ok {
		return c.do(ctx, s, rest)
	}
	if id, ok := s.openQuestion(ctx); ok {
		return s.answerQuestion(ctx, id, text)
	}
	s.mu.Lock()
	mode, first := s.mode, s.run == "" && s.plan == nil
	refused := s.refused
	if s.refused = ""; s.plan == nil || s.plan.run != refused {
		refused = ""
	}
	s.mu.Unlock()
	if refused != "" {
		return s.replan(ctx, refused, text)
	}
	if first {
		s.c.SetTitle(goalTitle(s.agent.Console.Mask.MaskText(text)))
	}
	switch mode {
	case planMode:
		return s.makeAndShowPlan(ctx, text)
	case quickMode:
		return s.runQuickTask(ctx, text)
	default:
		return s.planAndRunGoal(ctx, text)
	}
}

// Beside implements [acpserver.ServedSession].
func (s *editorSession) Beside(text string) bool {
	c, rest, ok := parseSlashCommand(text)
	return ok && (c.beside || c.name == "resume" && s.resumesPausedRun(rest))
}

// resumesPausedRun reports whether /resume continues the run that a prompt conducts: the name means that
// run, and it is paused.
func (s *editorSession) resumesPausedRun(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.paused && (name == "" || name == string(s.held))
}

// setCurrentRun records the run that a prompt conducts, empty for none, whether it is paused, and the
// alert that paused it.
func (s *editorSession) setCurrentRun(run nexus.RunID, paused bool, alarm string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held, s.paused, s.alarm = run, paused, alarm
}

// openQuestion returns the question that a text answers: an open question of a session's run that
// accepts free text, while the run is not in progress.
func (s *editorSession) openQuestion(ctx context.Context) (id string, ok bool) {
	s.mu.Lock()
	run := s.run
	s.mu.Unlock()
	if run == "" {
		return "", false
	}
	v, _, err := s.readRun(ctx, string(run))
	if err != nil || v.Held != nil {
		return "", false
	}
	for _, q := range v.Asks {
		if len(q.Choices) == 0 {
			return q.ID, true
		}
	}
	return "", false
}

// answerQuestion answers a question of the last run, and continues the run. The client did not show the
// person that this text is the answer, so it counts as an answer of the client.
func (s *editorSession) answerQuestion(ctx context.Context, id, text string) (acpserver.PromptStopReason, error) {
	s.mu.Lock()
	run := s.run
	s.mu.Unlock()
	r := s.agent.Run(ctx, s.newInvocation(false, "answer", "--json", "--run="+string(run), "--", id, text))
	if r.Failure != nil {
		return "", failureError(r)
	}
	s.sendMarkdown("Your answer to %s is recorded.", id)
	return s.resumeRun(ctx, "")
}

// newInvocation returns a command line of the session. byPerson means that a person saw the action and
// agreed to it.
func (s *editorSession) newInvocation(byPerson bool, args ...string) host.Invocation {
	user := s.agent.Console.UserName()
	o := host.Invocation{Args: args, Dir: s.dir, Origin: s.c.ID, Person: true, Actor: "acp:" + s.c.Name + " (for " + user + ")"}
	if byPerson {
		o.Actor = user + " (asked by acp:" + s.c.Name + ")"
	}
	o.Set = map[string]string{"land": "false"} // here no person agreed to automatic landing
	return o
}

// failureError returns the reason why a command failed.
func failureError(r host.Result) error {
	return &nexus.Error{Code: r.Failure.Code, Message: r.Failure.Message, Hint: r.Failure.Hint}
}

// showCall shows a tool call, or updates one that the client knows.
func (s *editorSession) showCall(call acpserver.ToolCallView) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shown == nil {
		s.shown = map[string]bool{}
	}
	s.c.SendToolCallState(call, s.shown[call.ID])
	s.shown[call.ID] = true
}

// sendMarkdown sends Markdown. Text by other authors must go through plain or fenced.
func (s *editorSession) sendMarkdown(format string, args ...any) {
	s.c.SendMessage(s.agent.Console.Mask.MaskText(fmt.Sprintf(format, args...)) + "\n\n")
}

// sendThoughts shows progress in text by other authors.
func (s *editorSession) sendThoughts(text string) {
	for line := range strings.Lines(text) {
		if line = s.escapeText(line); line != "" {
			s.c.SendThought(line + "\n\n")
		}
	}
}

// sayFailure shows the reason why a command failed.
func (s *editorSession) sayFailure(r host.Result) {
	s.sendMarkdown("%s %s", s.escapeText(r.Failure.Message), s.escapeText(r.Failure.Hint))
}

// escapeText turns a text by another author into one line without Markdown. It masks first, because a
// key that was escaped would not be found.
func (s *editorSession) escapeText(text string) string {
	return escapeMarkdown(s.agent.Console.Mask.MaskText(text))
}

// escapeMarkdown turns a text into one line that an editor does not render as markup, link or picture.
func escapeMarkdown(text string) string {
	text = view.EscapeForTerminal(text)
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	word := func(i int) bool { // reports whether a letter, a digit or a character of another script is at i
		if i < 0 || i >= len(text) {
			return false
		}
		c := text[i]
		return c >= utf8.RuneSelf || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
	}
	var b strings.Builder
	for i := range len(text) {
		marks := false
		switch text[i] {
		case '\\', '`', '*', '[', ']', '<', '~':
			marks = true
		case '_':
			marks = !word(i-1) || !word(i+1)
		case '&':
			marks = word(i+1) || i+1 < len(text) && text[i+1] == '#'
		case '#', '>', '-', '+', '=':
			marks = i == 0
		case '.', ')':
			marks = digits > 0 && i == digits // a list
		}
		if marks {
			b.WriteByte('\\')
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// fenceText returns a text in a code fence.
func fenceText(text string) string { return fenceLanguage("text", text) }

// fenceLanguage returns a text in a code fence with a language.
func fenceLanguage(language, text string) string {
	return sanitize.FenceUntrustedText(language, view.EscapeLinesForTerminal(strings.Trim(text, "\n")))
}
