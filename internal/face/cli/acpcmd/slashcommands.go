package acpcmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/host"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/acp/acpserver"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// maxPrinted limits the shown output of a command, in bytes.
const maxPrinted = 64 << 10

// slashCommand is a slash command.
type slashCommand struct {
	name, about, hint string
	beside            bool // it shows or steers a run, also while a prompt is in progress
	do                commandFunc
}

// commandFunc runs a command with the text that follows its name.
type commandFunc func(ctx context.Context, s *editorSession, rest string) (acpserver.PromptStopReason, error)

// slashCommands returns all slash commands.
func slashCommands() []slashCommand {
	const optional = " (default: the run of this session)"
	return []slashCommand{
		{name: "run", about: "Work on a goal; without one, start the plan that was made last", hint: "goal", do: runRunCommand},
		{name: "plan", about: "Make a plan with an estimate of time and money, and start nothing", hint: "goal", do: runPlanCommand},
		{name: "quick", about: "Do one small task without a plan", hint: "task", do: runQuickCommand},
		{name: "resume", about: "Continue a run that is paused, interrupted, or waited for you", hint: "run" + optional, do: runResumeCommand},
		{name: "land", about: "Move your branch to the result of the run, merging if needed", hint: "run" + optional, do: runLandCommand},
		outputCommand("status", "Show the status of the run", "run", "status --json -- RUN"),
		outputCommand("tasks", "List the tasks of the run with their state and costs", "run", "status --result --json -- RUN"),
		outputCommand("show", "Show a task (T1), an attempt (T1.1) or a conversation (T1.1/coder.1)", "name", "status --json --run=RUN -- WORD"),
		outputCommand("diff", "Show the change of a task, landed or not", "task", "diff --json --run=RUN -- WORD"),
		outputCommand("evidence", "Show which criteria the landed work meets, with evidence", "run", "status --evidence --json -- RUN"),
		outputCommand("cost", "Show what the run cost", "run", "cost --json -- RUN"),
		outputCommand("tell", "Send a message to the agent that works on a task", "task message", "tell --json --run=RUN -- WORD REST"),
		{name: "pause", about: "Pause every agent of the run at its next turn, or one task", hint: "task or run" + optional, beside: true, do: runPauseCommand},
		outputCommand("unpause", "Continue a paused task", "task", "resume --json --run=RUN -- WORD"),
		outputCommand("interrupt", "Interrupt the agent of a task, and tell it why", "task message", "stop --turn --json --run=RUN -- WORD REST"),
		outputCommand("stop", "End the run; landed work stays", "run", "stop --json --run=RUN"),
		answerCommand("answer", "Answer a question that waits for you", "question answer", "answer --json --run=RUN -- WORD REST"),
		answerCommand("approve", "Approve a question that waits for you", "question", "approve --json --run=RUN -- WORD"),
		outputCommand("reject", "Refuse a question that waits for you", "question", "reject --json --run=RUN -- WORD"),
	}
}

// parseSlashCommand finds the command at the start of a text.
func parseSlashCommand(text string) (c slashCommand, rest string, ok bool) {
	name, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	name, slash := strings.CutPrefix(name, "/")
	if line, more, cut := strings.Cut(name, "\n"); cut {
		name, rest = line, more+" "+rest
	}
	for _, c := range slashCommands() {
		if slash && c.name == name {
			return c, strings.TrimSpace(rest), true
		}
	}
	return slashCommand{}, "", false
}

func runPlanCommand(ctx context.Context, s *editorSession, rest string) (acpserver.PromptStopReason, error) {
	if rest == "" {
		return "", missingArgumentError("plan", "goal")
	}
	return s.makeAndShowPlan(ctx, rest)
}

func runQuickCommand(ctx context.Context, s *editorSession, rest string) (acpserver.PromptStopReason, error) {
	if rest == "" {
		return "", missingArgumentError("quick", "task")
	}
	return s.runQuickTask(ctx, rest)
}

func runResumeCommand(ctx context.Context, s *editorSession, rest string) (acpserver.PromptStopReason, error) {
	return s.resumeRun(ctx, rest)
}

func runLandCommand(ctx context.Context, s *editorSession, rest string) (acpserver.PromptStopReason, error) {
	return s.landRun(ctx, rest)
}

// runPauseCommand pauses a run or a task.
func runPauseCommand(ctx context.Context, s *editorSession, rest string) (acpserver.PromptStopReason, error) {
	hint, line := "run", "stop --pause --json --run=RUN"
	if rest != "" && !beginsLikeRunID(rest) {
		hint, line = "task", line+" -- WORD"
	}
	return outputCommand("pause", "", hint, line).do(ctx, s, rest)
}

// beginsLikeRunID reports whether a text begins like a run ID, with a day and a dash. A shorter text could
// be a part of any run's ID.
func beginsLikeRunID(text string) bool {
	const day = 6 // digits
	i := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	return i == day && text[i] == '-'
}

// missingArgumentError returns the error of a command that needs more arguments.
func missingArgumentError(name, hint string) error {
	typed := "/" + name + " " + strings.ToUpper(hint)
	return &nexus.Error{Code: nexus.CodeInvalidInput, Message: "/" + name + " needs more", Hint: "Type " + typed + "."}
}

// runRunCommand works on a goal, or on the last plan.
func runRunCommand(ctx context.Context, s *editorSession, rest string) (acpserver.PromptStopReason, error) {
	if rest != "" {
		return s.planAndRunGoal(ctx, rest)
	}
	s.mu.Lock()
	p := s.plan
	s.mu.Unlock()
	if p == nil {
		return "", &nexus.Error{Code: nexus.CodeInvalidInput, Message: "there is no plan to start", Hint: "Type what you want after /run."}
	}
	return s.startPlan(ctx, *p)
}

// outputCommand returns a command that shows the output of a command line. In the line, RUN is replaced
// by the session's run, WORD by the first typed word, and REST by all text after it.
func outputCommand(name, about, hint, line string) slashCommand {
	c := slashCommand{name: name, about: about, hint: hint, beside: true}
	c.do = func(ctx context.Context, s *editorSession, rest string) (acpserver.PromptStopReason, error) {
		args, err := s.fillCommandLine(name, hint, line, rest)
		if err != nil {
			return "", err
		}
		return s.showCommandOutput(ctx, s.newInvocation(false, args...))
	}
	return c
}

// answerCommand returns a command that answers a question. A yes to a question that stays open until
// a person decides needs a permission, as when the run asks: it may publish, land, and pay for a
// model.
func answerCommand(name, about, hint, line string) slashCommand {
	c := slashCommand{name: name, about: about, hint: hint, beside: true}
	c.do = func(ctx context.Context, s *editorSession, rest string) (acpserver.PromptStopReason, error) {
		args, err := s.fillCommandLine(name, hint, line, rest)
		if err != nil {
			return "", err
		}
		run, _ := strings.CutPrefix(args[2], "--run=")
		words := append(slices.Clone(args[slices.Index(args, "--")+1:]), "yes") // the answer that approve gives
		agreed, asked, err := s.confirmAnswer(ctx, run, words[0], words[1])
		if !agreed || err != nil {
			return acpserver.PromptDone, err
		}
		return s.showCommandOutput(ctx, s.newInvocation(asked, args...))
	}
	return c
}

// showCommandOutput runs a command line and shows its output.
func (s *editorSession) showCommandOutput(ctx context.Context, o host.Invocation) (acpserver.PromptStopReason, error) {
	r := s.agent.Run(ctx, o)
	if r.Failure != nil {
		return "", failureError(r)
	}
	s.sendMarkdown("%s", formatOutput(o.Args[0], r.Text))
	return acpserver.PromptDone, nil
}

// formatOutput formats the output of a command, cut to the length that an editor can show.
func formatOutput(command, text string) string {
	language, more := "text", ""
	if command == "diff" {
		language = command
	}
	if len(text) > maxPrinted {
		size := view.FormatNumber(int64(len(text)))
		more = fmt.Sprintf("\n\nThat is the start of %s bytes. `nexus %s` in a terminal shows everything.", size, command)
	}
	return fenceLanguage(language, sanitize.TruncateText(text, maxPrinted)) + more
}

// fillCommandLine fills in a command line. If the line has no WORD, the text can name a run. Text that fits
// no placeholder is refused. A value can never be read as a flag: values of flags follow their
// "=", and words follow "--".
func (s *editorSession) fillCommandLine(name, hint, line, typed string) ([]string, error) {
	s.mu.Lock()
	run := s.run
	s.mu.Unlock()
	word, rest, _ := strings.Cut(typed, " ")
	rest = strings.TrimSpace(rest)
	if !strings.Contains(line, "WORD") {
		run, word = nexus.RunID(cmp.Or(word, string(run))), ""
	}
	switch {
	case run == "":
		return nil, &nexus.Error{Code: nexus.CodeNotFound, Message: "this session has no run yet", Hint: "Type what you want done."}
	case strings.Contains(line, "WORD") && word == "" || strings.Contains(line, "REST") && rest == "":
		return nil, missingArgumentError(name, hint)
	case !strings.Contains(line, "REST") && rest != "":
		return nil, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "/" + name + " takes no " + view.QuoteForTerminal(rest),
			Hint: strings.TrimSpace("Type /"+name+" "+strings.ToUpper(hint)) + ".",
		}
	}
	args := strings.Fields(line)
	for i, a := range args {
		switch {
		case a == "WORD":
			args[i] = word
		case a == "REST":
			args[i] = rest
		case strings.HasSuffix(a, "RUN"):
			args[i] = strings.TrimSuffix(a, "RUN") + string(run)
		}
	}
	return args, nil
}
