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

// The modes of a session: what becomes of what a person says.
const (
	runMode   = "run"   // a plan that the person agrees to, and work on it
	planMode  = "plan"  // a plan
	quickMode = "quick" // one task
)

// anyTier leaves the tier to the router.
const anyTier = "auto"

// session is a conversation with a client.
type session struct {
	agent *agent
	c     *acpserver.Client
	dir   string         // where the client works
	top   string         // of its repository
	least nexus.Approval // what the configuration wants people to agree to

	mu             sync.Mutex // guards what follows
	mode, tier     string
	approval       nexus.Approval
	planning       bool                        // a person agreed to every plan that is made in it
	plan           *proposedPlan               // the last that was made, and not started
	refused        nexus.RunID                 // that made a plan in place of which the next message asks for another one; empty: none
	run            nexus.RunID                 // the last that worked on something; empty before
	held           nexus.RunID                 // that a prompt of it conducts now; empty: none
	paused         bool                        // that run
	alarm          string                      // why an alert paused it; empty: a person did
	spent          map[nexus.RunID]nexus.Money // by its runs
	filled, window int64                       // of the context that was used last, in tokens
	shown          map[string]bool             // tool calls that the client knows
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
		if nexus.Approval(a.Value).Holds(s.least) { // nothing that the configuration wants less than
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

// agreedOptions is what the options of a session stand for when a person is asked to agree.
// What is agreed to is done with these, whatever the client sets meanwhile.
type agreedOptions struct {
	tier     string         // empty: the router's
	approval nexus.Approval // the strictest of all that hold
	own      nexus.Approval // that of a run, which holds without a flag; empty: there is no run
}

// agreedOptions returns what holds now: for a new run, or one that has a level of its own.
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

// strictest returns the level that holds all that one of them holds.
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

// flags returns those of a command that does what was agreed to. The configuration may
// have become stricter while a person thought.
func (s *session) flags(o agreedOptions) ([]string, error) {
	c, err := s.settings()
	if err != nil {
		return nil, err
	}
	o.approval = strictest(o.approval, c.Limits.Approval)
	return append(o.tiers(), o.levels()...), nil
}

// String says it to the one who agrees, behind another sentence.
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

// unpauses reports whether /resume lets a run continue that a prompt conducts: it is
// that run, and paused.
func (s *session) unpauses(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.paused && (name == "" || name == string(s.held))
}

// hold notes the run that a prompt conducts, empty for none, whether it is paused, and
// why an alert did that.
func (s *session) hold(run nexus.RunID, paused bool, alarm string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held, s.paused, s.alarm = run, paused, alarm
}

// awaited returns the question that a text answers: one that a run of the session
// left open, which any text can answer, and that nobody works on.
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

// reply answers a question of the last run, and continues the run. Nobody was shown
// that this text is the answer, so that the client gives it.
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

// order is a command line of the session. By a person says that a person agreed to
// it when it was shown.
func (s *session) order(byPerson bool, args ...string) host.Invocation {
	user := s.agent.Console.User()
	o := host.Invocation{Args: args, Dir: s.dir, Origin: s.c.ID, Person: true, Actor: "acp:" + s.c.Name + " (for " + user + ")"}
	if byPerson {
		o.Actor = user + " (asked by acp:" + s.c.Name + ")"
	}
	o.Set = map[string]string{"land": "false"} // what a configuration lands by itself, nobody agreed to here
	return o
}

// failed is why a command could not do what it was asked for.
func failed(r host.Result) error {
	return &nexus.Error{Code: r.Failure.Code, Message: r.Failure.Message, Hint: r.Failure.Hint}
}

// show shows a tool call, or what it is now where the client knows it.
func (s *session) show(call acpserver.Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shown == nil {
		s.shown = map[string]bool{}
	}
	s.c.Show(call, s.shown[call.ID])
	s.shown[call.ID] = true
}

// say says something in Markdown. What others wrote is in it as plain or fenced makes it.
func (s *session) say(format string, args ...any) {
	s.c.Say(s.agent.Console.Mask.Text(fmt.Sprintf(format, args...)) + "\n\n")
}

// think says how the work goes on, as others worded it.
func (s *session) think(text string) {
	for line := range strings.Lines(text) {
		if line = s.plain(line); line != "" {
			s.c.Think(line + "\n\n")
		}
	}
}

// sayFailure says why a command could not do what it was asked for.
func (s *session) sayFailure(r host.Result) {
	s.say("%s %s", s.plain(r.Failure.Message), s.plain(r.Failure.Hint))
}

// plain makes one line of a text that others wrote, and no Markdown. It is masked
// first: an escaped key would not be found.
func (s *session) plain(text string) string { return escaped(s.agent.Console.Mask.Text(text)) }

// escaped makes one line of a text, of which an editor makes no markup, link or picture.
func escaped(text string) string {
	text = view.Clean(text)
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	word := func(i int) bool { // it has a letter, a digit or a character of another script there
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

// fenced shows a text as it is.
func fenced(text string) string { return in("text", text) }

// in shows a text of a language as it is.
func in(language, text string) string {
	return sanitize.Fence(language, view.CleanText(strings.Trim(text, "\n")))
}
