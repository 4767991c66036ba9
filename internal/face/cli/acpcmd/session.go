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
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/acp/acpserver"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
)

// The modes of a session: how it handles a person's message.
const (
	runMode   = "run"   // makes a plan, and works on it after the person agrees
	planMode  = "plan"  // makes a plan
	quickMode = "quick" // does one task
)

// anyTier lets the router choose the tier.
const anyTier = "auto"

// session is a conversation with a client.
type session struct {
	agent *agent
	c     *acpserver.Client
	dir   string         // directory of the client
	top   string         // root of its repository
	least nexus.Approval // approval level that the configuration requires

	mu             sync.Mutex // guards the fields below
	mode, tier     string
	approval       nexus.Approval
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

// Opened implements [acpserver.Session].
func (s *session) Opened() {
	var all []acpserver.Command
	for _, c := range commands() {
		all = append(all, acpserver.Command{Name: c.name, About: c.about, Hint: c.hint})
	}
	s.c.Commands(all)
}

// Options implements [acpserver.Session].
func (s *session) Options() []acpserver.Option {
	s.mu.Lock()
	defer s.mu.Unlock()
	const waits = "actions that need your approval"
	approval := acpserver.Option{ID: "approval", Name: "Approval", About: waits, Value: string(s.approval)}
	for _, a := range []acpserver.Choice{
		{Value: string(nexus.ApproveNone), Name: "Nothing", About: "commands that the policy asks about are refused"},
		{Value: string(nexus.ApproveDestructive), Name: "Commands that may destroy", About: "commands of agents that the policy asks about"},
		{Value: string(nexus.ApproveCommits), Name: "Commits, too", About: "and publishing landed work"},
		{Value: string(nexus.ApproveAll), Name: "Everything", About: "and every command of an agent"},
	} {
		if nexus.Approval(a.Value).Holds(s.least) { // not below the level that the configuration requires
			approval.Choices = append(approval.Choices, a)
		}
	}
	return []acpserver.Option{
		{ID: acpserver.ModeOption, Name: "Mode", Category: "mode", Value: s.mode, Choices: []acpserver.Choice{
			{Value: runMode, Name: "Run", About: "plan, show you the plan and its price, then code, check and review"},
			{Value: planMode, Name: "Plan only", About: "make a plan with an estimate; /run starts it"},
			{Value: quickMode, Name: "Quick", About: "one small task without a plan, with the same checks and review"},
		}},
		approval,
		{ID: "tier", Name: "Tier", About: "tier that tasks start at", Category: "thought_level", Value: s.tier, Choices: []acpserver.Choice{
			{Value: anyTier, Name: "Auto", About: "by how hard a task looks"},
			{Value: string(nexus.Fast), Name: "Fast"},
			{Value: string(nexus.Balanced), Name: "Balanced"},
			{Value: string(nexus.Strong), Name: "Strong"},
		}},
	}
}

// Set implements [acpserver.Session].
func (s *session) Set(option, value string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch option {
	case acpserver.ModeOption:
		s.mode = value
	case "approval":
		s.approval = nexus.Approval(value)
	case "tier":
		s.tier = value
	}
	return nil
}

// agreedOptions are the session's options at the time when a person is asked to agree. The work
// uses these even if the client changes the options in the meantime.
type agreedOptions struct {
	tier     string         // empty: the router chooses
	approval nexus.Approval // the strictest of all that apply
	own      nexus.Approval // level of the run, which applies without a flag; empty: no run
}

// chosen returns the current options, for a new run or for a run with its own approval level.
func (s *session) chosen(c config.Config, run ...nexus.Approval) agreedOptions {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := agreedOptions{approval: strictest(append(run, s.approval, c.Limits.Approval)...)}
	if len(run) > 0 {
		o.own = cmp.Or(run[0], nexus.ApproveNone)
	}
	if s.tier != anyTier {
		o.tier = s.tier
	}
	return o
}

// strictest returns the level that includes all the given levels.
func strictest(all ...nexus.Approval) nexus.Approval {
	most := nexus.ApproveNone
	for _, level := range nexus.Approvals() {
		if slices.ContainsFunc(all, func(a nexus.Approval) bool { return a.Holds(level) }) {
			most = level
		}
	}
	return most
}

func (o agreedOptions) tiers() []string {
	if o.tier == "" {
		return nil
	}
	return []string{"--tier=" + o.tier}
}

func (o agreedOptions) levels() []string {
	if o.approval == o.own {
		return nil
	}
	return []string{"--approval=" + string(o.approval)}
}

// flags returns the flags of a command that does the agreed work. The configuration may have
// become stricter since the person was asked.
func (s *session) flags(o agreedOptions) ([]string, error) {
	c, err := s.settings()
	if err != nil {
		return nil, err
	}
	o.approval = strictest(o.approval, c.Limits.Approval)
	return append(o.tiers(), o.levels()...), nil
}

// String formats the options for the person who agrees, to follow another sentence.
func (o agreedOptions) String() string {
	text := " Approval level: " + string(o.approval) + "."
	if o.tier != "" {
		text += " Tasks start at tier " + o.tier + "."
	}
	return text
}

// Prompt implements [acpserver.Session].
func (s *session) Prompt(ctx context.Context, text string) (acpserver.Stop, error) {
	stop, err := s.prompt(ctx, text)
	return stop, s.agent.masked(err)
}

func (s *session) prompt(ctx context.Context, text string) (acpserver.Stop, error) {
	if strings.TrimSpace(text) == "" {
		const hint = "Describe what you want in one or more sentences."
		return "", &nexus.Error{Code: nexus.CodeInvalidInput, Message: "the prompt is empty", Hint: hint}
	}
	if c, rest, ok := typed(text); ok {
		return c.do(ctx, s, rest)
	}
	if id, ok := s.awaited(ctx); ok {
		return s.reply(ctx, id, text)
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
		s.c.SetTitle(title(s.agent.Console.Mask.Text(text)))
	}
	switch mode {
	case planMode:
		return s.onlyPlan(ctx, text)
	case quickMode:
		return s.quick(ctx, text)
	default:
		return s.goal(ctx, text)
	}
}

// Beside implements [acpserver.Session].
func (s *session) Beside(text string) bool {
	c, rest, ok := typed(text)
	return ok && (c.beside || c.name == "resume" && s.unpauses(rest))
}

// unpauses reports whether /resume continues the run that a prompt conducts: the name means that
// run, and it is paused.
func (s *session) unpauses(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.paused && (name == "" || name == string(s.held))
}

// hold records the run that a prompt conducts, empty for none, whether it is paused, and the
// alert that paused it.
func (s *session) hold(run nexus.RunID, paused bool, alarm string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held, s.paused, s.alarm = run, paused, alarm
}

// awaited returns the question that a text answers: an open question of a session's run that
// accepts free text, while the run is not in progress.
func (s *session) awaited(ctx context.Context) (id string, ok bool) {
	s.mu.Lock()
	run := s.run
	s.mu.Unlock()
	if run == "" {
		return "", false
	}
	v, _, err := s.look(ctx, string(run))
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

// reply answers a question of the last run, and continues the run. The client did not show the
// person that this text is the answer, so it counts as an answer of the client.
func (s *session) reply(ctx context.Context, id, text string) (acpserver.Stop, error) {
	s.mu.Lock()
	run := s.run
	s.mu.Unlock()
	r := s.agent.Run(ctx, s.order(false, "answer", "--json", "--run="+string(run), "--", id, text))
	if r.Failure != nil {
		return "", failed(r)
	}
	s.say("Your answer to %s is recorded.", id)
	return s.resume(ctx, "")
}

// order returns a command line of the session. byPerson means that a person saw the action and
// agreed to it.
func (s *session) order(byPerson bool, args ...string) host.Invocation {
	user := s.agent.Console.User()
	o := host.Invocation{Args: args, Dir: s.dir, Origin: s.c.ID, Person: true, Actor: "acp:" + s.c.Name + " (for " + user + ")"}
	if byPerson {
		o.Actor = user + " (asked by acp:" + s.c.Name + ")"
	}
	o.Set = map[string]string{"land": "false"} // here no person agreed to automatic landing
	return o
}

// failed returns the reason why a command failed.
func failed(r host.Result) error {
	return &nexus.Error{Code: r.Failure.Code, Message: r.Failure.Message, Hint: r.Failure.Hint}
}

// show shows a tool call, or updates one that the client knows.
func (s *session) show(call acpserver.Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shown == nil {
		s.shown = map[string]bool{}
	}
	s.c.Show(call, s.shown[call.ID])
	s.shown[call.ID] = true
}

// say sends Markdown. Text by other authors must go through plain or fenced.
func (s *session) say(format string, args ...any) {
	s.c.Say(s.agent.Console.Mask.Text(fmt.Sprintf(format, args...)) + "\n\n")
}

// think shows progress in text by other authors.
func (s *session) think(text string) {
	for line := range strings.Lines(text) {
		if line = s.plain(line); line != "" {
			s.c.Think(line + "\n\n")
		}
	}
}

// sayFailure shows the reason why a command failed.
func (s *session) sayFailure(r host.Result) {
	s.say("%s %s", s.plain(r.Failure.Message), s.plain(r.Failure.Hint))
}

// plain turns a text by another author into one line without Markdown. It masks first, because a
// key that was escaped would not be found.
func (s *session) plain(text string) string { return escaped(s.agent.Console.Mask.Text(text)) }

// escaped turns a text into one line that an editor does not render as markup, link or picture.
func escaped(text string) string {
	text = view.Clean(text)
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

// fenced returns a text in a code fence.
func fenced(text string) string { return in("text", text) }

// in returns a text in a code fence with a language.
func in(language, text string) string {
	return sanitize.Fence(language, view.CleanText(strings.Trim(text, "\n")))
}
