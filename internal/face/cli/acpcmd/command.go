package acpcmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/host"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/acp/acpserver"
)

// maxPrinted limits the shown output of a command, in bytes.
const maxPrinted = 64 << 10

// command is a slash command.
type command struct {
	name, about, hint string
	beside            bool // it shows or steers a run, also while a prompt is in progress
	do                action
}

// action runs a command with the text that follows its name.
type action func(ctx context.Context, s *session, rest string) (acpserver.Stop, error)

// commands returns all slash commands.
func commands() []command {
	const optional = " (default: the run of this session)"
	return []command{
		{name: "run", about: "Work on a goal; without one, start the plan that was made last", hint: "goal", do: runTyped},
		{name: "plan", about: "Make a plan with an estimate of time and money, and start nothing", hint: "goal", do: planTyped},
		{name: "quick", about: "Do one small task without a plan", hint: "task", do: quickTyped},
		{name: "resume", about: "Continue a run that is paused, interrupted, or waited for you", hint: "run" + optional, do: resumeTyped},
		{name: "land", about: "Move your branch to the result of the run, merging if needed", hint: "run" + optional, do: landTyped},
		looking("status", "Show the status of the run", "run", "status --json -- RUN"),
		looking("tasks", "List the tasks of the run with their state and costs", "run", "show --json -- RUN"),
		looking("show", "Show a task (T1), an attempt (T1.1) or a conversation (T1.1/coder.1)", "name", "show --json --run=RUN -- WORD"),
		looking("diff", "Show the change of a task, landed or not", "task", "diff --json --run=RUN -- WORD"),
		looking("evidence", "Show which criteria the landed work meets, with evidence", "run", "evidence --json -- RUN"),
		looking("cost", "Show what the run cost", "run", "cost --json -- RUN"),
		looking("tell", "Send a message to the agent that works on a task", "task message", "tell --json --run=RUN -- WORD REST"),
		{name: "pause", about: "Pause every agent of the run at its next turn, or one task", hint: "task or run" + optional, beside: true, do: pauseTyped},
		looking("unpause", "Continue a paused task", "task", "unpause --json --run=RUN -- WORD"),
		looking("interrupt", "Interrupt the agent of a task, and tell it why", "task message", "interrupt --json --run=RUN -- WORD REST"),
		looking("stop", "End the run; landed work stays", "run", "stop --json --run=RUN"),
		answering("answer", "Answer a question that waits for you", "question answer", "answer --json --run=RUN -- WORD REST"),
		answering("approve", "Approve a question that waits for you", "question", "approve --json --run=RUN -- WORD"),
		looking("reject", "Refuse a question that waits for you", "question", "reject --json --run=RUN -- WORD"),
	}
}

// typed finds the command at the start of a text.
func typed(text string) (c command, rest string, ok bool) {
	name, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	name, slash := strings.CutPrefix(name, "/")
	if line, more, cut := strings.Cut(name, "\n"); cut {
		name, rest = line, more+" "+rest
	}
	for _, c := range commands() {
		if slash && c.name == name {
			return c, strings.TrimSpace(rest), true
		}
	}
	return command{}, "", false
}

func planTyped(ctx context.Context, s *session, rest string) (acpserver.Stop, error) {
	if rest == "" {
		return "", lacks("plan", "goal")
	}
	return s.onlyPlan(ctx, rest)
}

func quickTyped(ctx context.Context, s *session, rest string) (acpserver.Stop, error) {
	if rest == "" {
		return "", lacks("quick", "task")
	}
	return s.quick(ctx, rest)
}

func resumeTyped(ctx context.Context, s *session, rest string) (acpserver.Stop, error) {
	return s.resume(ctx, rest)
}

func landTyped(ctx context.Context, s *session, rest string) (acpserver.Stop, error) {
	return s.land(ctx, rest)
}

// pauseTyped pauses a run or a task.
func pauseTyped(ctx context.Context, s *session, rest string) (acpserver.Stop, error) {
	hint, line := "run", "pause --json --run=RUN"
	if rest != "" && !dated(rest) {
		hint, line = "task", line+" -- WORD"
	}
	return looking("pause", "", hint, line).do(ctx, s, rest)
}

// dated reports whether a text begins like a run ID, with a day and a dash. A shorter text could
// be a part of any run's ID.
func dated(text string) bool {
	const day = 6 // digits
	i := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	return i == day && text[i] == '-'
}

// lacks returns the error of a command that needs more arguments.
func lacks(name, hint string) error {
	typed := "/" + name + " " + strings.ToUpper(hint)
	return &nexus.Error{Code: nexus.CodeInvalidInput, Message: "/" + name + " needs more", Hint: "Type " + typed + "."}
}

// runTyped works on a goal, or on the last plan.
func runTyped(ctx context.Context, s *session, rest string) (acpserver.Stop, error) {
	if rest != "" {
		return s.goal(ctx, rest)
	}
	s.mu.Lock()
	p := s.plan
	s.mu.Unlock()
	if p == nil {
		return "", &nexus.Error{Code: nexus.CodeInvalidInput, Message: "there is no plan to start", Hint: "Type what you want after /run."}
	}
	return s.start(ctx, *p)
}

// looking returns a command that shows the output of a command line. In the line, RUN is replaced
// by the session's run, WORD by the first typed word, and REST by all text after it.
func looking(name, about, hint, line string) command {
	c := command{name: name, about: about, hint: hint, beside: true}
	c.do = func(ctx context.Context, s *session, rest string) (acpserver.Stop, error) {
		args, err := s.line(name, hint, line, rest)
		if err != nil {
			return "", err
		}
		return s.print(ctx, s.order(false, args...))
	}
	return c
}

// answering returns a command that answers a question. A yes to a question that stays open until
// a person decides needs a permission, as when the run asks: it may publish, land, and pay for a
// model.
func answering(name, about, hint, line string) command {
	c := command{name: name, about: about, hint: hint, beside: true}
	c.do = func(ctx context.Context, s *session, rest string) (acpserver.Stop, error) {
		args, err := s.line(name, hint, line, rest)
		if err != nil {
			return "", err
		}
		run, _ := strings.CutPrefix(args[2], "--run=")
		words := append(slices.Clone(args[slices.Index(args, "--")+1:]), "yes") // the answer that approve gives
		agreed, asked, err := s.agree(ctx, run, words[0], words[1])
		if !agreed || err != nil {
			return acpserver.Done, err
		}
		return s.print(ctx, s.order(asked, args...))
	}
	return c
}

// print runs a command line and shows its output.
func (s *session) print(ctx context.Context, o host.Invocation) (acpserver.Stop, error) {
	r := s.agent.Run(ctx, o)
	if r.Failure != nil {
		return "", failed(r)
	}
	s.say("%s", printed(o.Args[0], r.Text))
	return acpserver.Done, nil
}

// printed formats the output of a command, cut to the length that an editor can show.
func printed(command, text string) string {
	language, more := "text", ""
	if command == "diff" {
		language = command
	}
	if len(text) > maxPrinted {
		size := view.Number(int64(len(text)))
		more = fmt.Sprintf("\n\nThat is the start of %s bytes. `nexus %s` in a terminal shows everything.", size, command)
	}
	return in(language, sanitize.Cut(text, maxPrinted)) + more
}

// line fills in a command line. If the line has no WORD, the text can name a run. Text that fits
// no placeholder is refused. A value can never be read as a flag: values of flags follow their
// "=", and words follow "--".
func (s *session) line(name, hint, line, typed string) ([]string, error) {
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
		return nil, lacks(name, hint)
	case !strings.Contains(line, "REST") && rest != "":
		return nil, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "/" + name + " takes no " + view.Quote(rest),
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
