package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// CommandExecutionMode is how a command runs when it is typed after a colon.
type CommandExecutionMode string

// The modes of a typed command.
const (
	Unavailable CommandExecutionMode = ""         // not available here: Why has the reason
	Beside      CommandExecutionMode = "beside"   // in this process; its output is shown
	Terminal    CommandExecutionMode = "terminal" // with the terminal, until it ends
)

// RunArgumentMode is how a command receives the run on the screen.
type RunArgumentMode string

// The ways to pass a run to a command.
const (
	NoRun   RunArgumentMode = ""     // it needs none
	FlagRun RunArgumentMode = "flag" // --run
)

// CommandBinding is how a command of the command line is reached here.
type CommandBinding struct {
	Name string
	Keys []string             // names of keys that do it
	How  CommandExecutionMode // how it runs when it is typed
	Run  RunArgumentMode
	Not  []string // its subcommands that are reached elsewhere
	Why  string   // why it, or those subcommands, are not available here
}

// The reasons why commands are not available here.
const (
	begins  = "it starts other work, and needs its own terminal"
	serves  = "it serves other programs until you stop it, and needs its own terminal"
	setsUp  = "it writes files of the repository, and does not belong to a run"
	another = "it is about another run, or none: type it at a prompt"
)

// CommandBindings returns how each command of the command line is reached here.
func CommandBindings() []CommandBinding {
	key := func(name string, run RunArgumentMode, keys ...string) CommandBinding {
		return CommandBinding{Name: name, Keys: keys, How: Beside, Run: run}
	}
	typed := func(name string) CommandBinding { return CommandBinding{Name: name, How: Beside} }
	not := func(name, why string) CommandBinding { return CommandBinding{Name: name, Why: why} }
	return []CommandBinding{
		not("acp", serves), key("add", FlagRun, "add"), not("agent", begins), typed("agents"),
		key("answer", FlagRun, "answer"), key("approve", FlagRun, "approve"),
		{Name: "attach", Keys: []string{"attach"}, How: Terminal, Run: FlagRun},
		{Name: "backlog", How: Beside, Not: []string{"start"}, Why: begins},
		key("check", FlagRun, "verbs"),
		{Name: "checkpoint", Keys: []string{"verbs"}, How: Beside, Run: FlagRun, Not: []string{"restore", "fork"}, Why: "choose it in the menu of more actions"},
		typed("clean"), not("completion", "its output is for a shell"), typed("config"),
		key("cost", FlagRun, "cost", "money"), not("demo", begins), key("diagnose", FlagRun, "verbs"), key("diff", FlagRun, "diff"),
		typed("discover"),
		{Name: "docs", How: Beside, Not: []string{"refresh"}, Why: begins},
		typed("doctor"),
		key("export", FlagRun, "verbs"), not("generate", setsUp),
		{Name: "help", Keys: []string{"help"}, How: Beside},
		typed("hooks"), not("import", another), not("improve", begins), not("init", setsUp),
		not("interview", begins),
		{Name: "journal", How: Beside, Not: []string{"repair", "restore", "import"}, Why: "it replaces the journal that the screen reads"},
		key("land", FlagRun, "land"), key("logs", FlagRun, "log"), typed("map"), not("mcp", serves),
		{Name: "memory", Keys: []string{"memory"}, How: Beside},
		typed("models"), not("new", begins), typed("notify"),
		not("parse", "it reads what another program prints"),
		not("plan", "it plans another run; the plan of this run is in the tab Plan, and you can edit it while it waits for you"),
		typed("plugins"), typed("policy"), key("prompt", FlagRun, "verbs"), typed("quarantine"), not("quick", begins),
		key("reject", FlagRun, "reject"),
		{Name: "resume", Keys: []string{"pause-run", "pause"}, Why: begins},
		key("retry", FlagRun, "retry", "retry-tell"), key("review", FlagRun, "diff", "edit"), key("revise", FlagRun, "edit"),
		typed("rules"), not("run", begins), typed("runs"),
		not("sandbox", "its program uses the terminal"), not("serve", serves),
		not("spec", begins), key("status", FlagRun, "tasks", "open", "talk", "verbs"), key("stop", FlagRun, "stop", "pause", "pause-run", "interrupt", "skip"),
		key("tell", FlagRun, "tell"), not("tool", "it works in your working tree, not on the run"),
		not("trust", "read what would run before you trust it: type it at a prompt"), key("undo", FlagRun, "undo"),
		{Name: "verify", Keys: []string{"verbs"}, How: Terminal, Run: FlagRun},
		typed("version"),
		not("watch", another),
	}
}

// findCommandBinding returns how a command is reached.
func findCommandBinding(name string) (CommandBinding, bool) {
	all := CommandBindings()
	if i := slices.IndexFunc(all, func(w CommandBinding) bool { return w.Name == name }); i >= 0 {
		return all[i], true
	}
	return CommandBinding{}, false
}

// runTypedCommand runs the command that was typed after a colon.
func (m *Model) runTypedCommand(text string) tea.Cmd {
	words := strings.Fields(strings.TrimPrefix(text, ":"))
	if len(words) == 0 {
		return nil
	}
	name := words[0]
	if name == "task" && len(words) == 2 {
		return m.selectTask(words[1])
	}
	if name == "q" {
		name = "quit"
	}
	if len(words) == 1 && (slices.Contains(viewNames(), name) || slices.Contains(BindingNames(), name)) {
		return m.runBinding(name)
	}
	w, there := findCommandBinding(name)
	switch {
	case !there:
		m.showNotice(true, "%s is not a command here; %s lists the commands", name, m.keyOf("palette"))
	case w.How == Unavailable && len(w.Keys) > 0 && len(words) == 1:
		return m.runBinding(w.Keys[0])
	case w.How == Unavailable, len(words) > 1 && slices.Contains(w.Not, words[1]):
		m.showNotice(true, "nexus %s does not work here: %s", strings.Join(words[:min(len(words), 2)], " "), w.Why)
	case w.How == Terminal && m.o.Interrupt != nil:
		m.showNotice(true, "nexus %s needs another terminal: the run works in this one", name)
	case w.How == Terminal:
		return m.runInTerminal(w.commandLine(words, m.o.Run)...)
	default:
		return m.runAndShow(w.commandLine(words, m.o.Run))
	}
	return nil
}

// commandLine returns the command line of typed words. If it names no run, it gets the run on the
// screen, which need not be the latest.
func (w CommandBinding) commandLine(words []string, run nexus.RunID) []string {
	name, rest := words[0], words[1:]
	has := func(flag string) bool {
		return slices.ContainsFunc(rest, func(word string) bool { return word == flag || strings.HasPrefix(word, flag+"=") })
	}
	switch {
	case name == "check" && !has("--task"): // of the working tree
	case name == "export" && len(rest) > 1: // its first word is a run
	case w.Run == FlagRun && name != "checkpoint" && len(rest) > 0 && namesRun(rest[0]):
	case w.Run == FlagRun && !has("--run"):
		return append([]string{name, "--run", string(run)}, rest...)
	}
	return words
}

// namesRun reports whether a word looks like the name of a run, which begins with its day.
func namesRun(word string) bool { return word != "" && word[0] >= '0' && word[0] <= '9' }

// runInTerminal runs a command line with the terminal until it ends.
func (m *Model) runInTerminal(args ...string) tea.Cmd {
	return tea.Exec(m.o.Verbs.Terminal(m.ctx, args), func(err error) tea.Msg { return terminalCommandEndedMsg{err} })
}

// runAndShow runs a command line, and shows its output.
func (m *Model) runAndShow(args []string) tea.Cmd {
	m.busy++
	ctx, verbs := m.ctx, m.o.Verbs
	return func() tea.Msg { return commandDoneMsg{what: args[0], out: verbs.Do(ctx, args, ""), show: true} }
}

// selectTask selects a task by its name.
func (m *Model) selectTask(id string) tea.Cmd {
	m.runBinding("tasks")
	for _, r := range m.currentRows() {
		if strings.EqualFold(string(r.task), id) {
			m.sel[TasksView], m.picked[TasksView], m.right, m.tab = r.key, true, true, OverviewTab
			return nil
		}
	}
	m.showNotice(true, "there is no task %s", id)
	return nil
}

// typedChoices returns the commands that can be typed.
func (m *Model) typedChoices() (all []dialogChoice) {
	for _, w := range CommandBindings() {
		if w.How == Unavailable {
			continue
		}
		all = append(all, dialogChoice{label: view.EscapeForTerminal(":" + w.Name + ": type nexus " + w.Name), then: func() tea.Cmd {
			m.dialog = dialog{kind: inputDialog, title: ":", field: newTextField(w.Name+" ", false), then: m.runTypedCommand}
			return nil
		}})
	}
	return all
}

// typedHelp lists the commands that can be typed.
func (m *Model) typedHelp() []string {
	lines := []string{"", m.b.Bold("Commands of the command line, typed after " + m.keyOf("command"))}
	line := " "
	for _, w := range CommandBindings() {
		if w.How == Unavailable {
			continue
		}
		if len(line)+1+len(w.Name) > helpWidth {
			lines, line = append(lines, line), " "
		}
		line += " " + w.Name
	}
	return append(lines, line, fmt.Sprintf("  task ID selects a task. %s lists all of this, too.", m.keyOf("palette")))
}

// helpWidth is the width of a line of names.
const helpWidth = 52
