// Package promptcmd implements the command "nexus prompt".
package promptcmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/attempt"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// Options are the options of the command.
type Options struct {
	Console *console.Console
	Run     string     // as a person names it; empty: the default run
	Name    string     // task, attempt at it, or session
	Role    nexus.Role // whose prompt; empty: the one whose turn it is
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = printPrompt
	}
	const use, short = "prompt TASK|SESSION [--role ROLE] [--run RUN] [--json]", "print the next prompt of a task, or the prompts of a session"
	command := c.Command(use, short, func(ctx context.Context, args []string) error {
		o.Name = args[0]
		if o.Role != "" && strings.Contains(o.Name, "/") {
			return &nexus.Error{Code: nexus.CodeInvalidInput, Message: "--role applies to a task: a session has a role already", Hint: "Leave out --role, or name the task."}
		}
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Args = console.ArgCount(1, 1)
	command.Flags().StringVar((*string)(&o.Role), "role", "", "show the prompt of this `ROLE`: coder, tester, verifier or reviewer; the default is the one whose turn it is")
	c.RunFlag(command, &o.Run)
	c.JSONFlag(command)
	return command
}

// printPrompt prints the next prompt of the task, or the prompts of the session.
func printPrompt(ctx context.Context, o *Options) error {
	return o.Console.ReadSubject(ctx, o.Run, o.Name, func(p *app.Repository, s app.RunSubject) error {
		if s.Session != "" {
			return printManifest(ctx, o.Console, p, s)
		}
		if err := s.RequireTask(o.Name); err != nil {
			return err
		}
		t := s.State.TaskByID(s.Task)
		if t.Status.HasEnded() && t.Status != nexus.Failed && t.Status != nexus.Parked && o.Role == "" {
			return &nexus.Error{
				Code: nexus.CodeNotFound, Message: fmt.Sprintf("nothing would be sent for %s now: it is %s", t.ID, t.Status),
				Hint: "Use --role ROLE to print what another attempt would send, or nexus prompt SESSION for what was sent; nexus status " + string(t.ID) + " lists the sessions.",
			}
		}
		u, fresh, err := o.Console.PreviewNextRequest(ctx, p, s.State, t, o.Role)
		if err != nil {
			return err
		}
		v := newNextPrompt(u, fresh)
		return o.Console.Answer(v, v.draw)
	})
}

// nextPrompt is the JSON output of nexus prompt.
type nextPrompt struct {
	Session  nexus.SessionID `json:"session"`
	Role     nexus.Role      `json:"role"`
	Model    string          `json:"model"`
	Tier     nexus.Tier      `json:"tier"`
	Begins   bool            `json:"begins_attempt"`    // no attempt at the task is open
	Why      string          `json:"why,omitempty"`     // brief, repair; empty if a conversation continues
	Tokens   int64           `json:"tokens"`            // in total, estimated
	Context  int64           `json:"context,omitempty"` // context window of the model, in tokens; 0: unknown
	Sections []promptSection `json:"sections"`
}

// promptSection is a part of the prompt.
type promptSection struct {
	In string `json:"in"` // system, tools, conversation, message
	prompt.SentPromptSection
}

func newNextPrompt(u attempt.PromptPreview, fresh bool) nextPrompt {
	v := nextPrompt{Session: u.Session, Role: u.Role, Model: u.Offer.Model, Tier: u.Offer.Tier, Begins: fresh, Why: u.Why, Context: u.Offer.Context}
	add := func(in string, parts ...prompt.SentPromptSection) {
		for _, p := range parts {
			v.Sections = append(v.Sections, promptSection{in, p})
			v.Tokens += p.Tokens
		}
	}
	add("system", u.Offer.System...)
	var names []string
	for _, t := range u.Offer.Tools {
		names = append(names, t.Name)
	}
	add("tools", prompt.SentPromptSection{Title: view.CountWithNoun(len(names), "tool"), Text: strings.Join(names, " "), Tokens: u.Offer.ToolTokens(), Reason: "the role has them"})
	add("conversation", u.Said...)
	add("message", u.Parts...)
	return v
}

// draw draws a table of the sections, and then each section.
func (v nextPrompt) draw(s view.OutputStyle) string {
	var b strings.Builder
	size := view.FormatNumber(v.Tokens) + " tokens"
	if v.Context > 0 {
		size += " of " + view.FormatNumber(v.Context)
	}
	figures := []string{string(v.Tier), "about " + size}
	if v.Why == "" {
		figures = append(figures, "the conversation continues")
	}
	b.WriteString(s.TruncateLine(s.Bold(view.EscapeForTerminal(string(v.Session)))+"  "+view.EscapeForTerminal(v.Model)+"  "+s.JoinFigures(figures...)) + "\n\n")
	var rows [][]string
	for i, p := range v.Sections {
		rows = append(rows, itemRow(s, p.ManifestItem(p.In), v.sectionTitle(i)))
	}
	b.WriteString(view.DrawTable(s, manifestHead(), rows))
	for i, p := range v.Sections {
		if p.Text == "" {
			continue
		}
		b.WriteString("\n" + s.Busy("--- "+p.In+": "+v.sectionTitle(i)) + "\n")
		b.WriteString(strings.TrimRight(view.EscapeLinesForTerminal(p.Text), "\n") + "\n")
	}
	if v.Begins {
		b.WriteString("\n" + s.Dim(s.Wrap("This would start an attempt. Findings of the gates and tools of MCP servers are added then.", "")) + "\n")
	}
	return b.String()
}

// sectionTitle names a section, also one without a heading.
func (v nextPrompt) sectionTitle(i int) string {
	p := v.Sections[i]
	return titleOf(p.ManifestItem(p.In), i == 0 || v.Sections[i-1].In != p.In)
}
