package verifycmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
)

// signOffResult is the result and the JSON output of `nexus verify`.
type signOffResult struct {
	Run     nexus.RunID            `json:"run"`
	By      string                 `json:"by,omitzero"`
	Answers []accept.SignOffAnswer `json:"answers"`
	Unmet   int                    `json:"unmet"`   // unmet criteria that were neither waived nor signed off
	Unknown int                    `json:"unknown"` // unknown ones, likewise
	Plan    *nexus.Plan            `json:"plan,omitempty"`
}

// signOffDialog is one run with its criteria that wait for a person.
type signOffDialog struct {
	a     *console.Console
	p     *app.Repository
	run   nexus.RunID
	s     *state.State
	table accept.CriteriaTable
	items []accept.SignOffItem
}

// judgeByHand lets a person check the criteria that wait for one, and records the answers.
func judgeByHand(ctx context.Context, o *Options) error {
	a, run := o.Console, o.Run
	var answers []accept.SignOffAnswer
	if o.From != "" {
		of, read, err := loadAnswers(a, o.From)
		if err != nil {
			return err
		}
		if run != "" && run != string(of) {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("the checklist is of run %s, not of %s", view.EscapeForTerminal(string(of)), view.EscapeForTerminal(run)),
				Hint: "Leave out the run.",
			}
		}
		run, answers = string(of), read
	}
	p, err := a.OpenRepository(ctx, app.ChangeAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	d := &signOffDialog{a: a, p: p}
	if err := d.readRun(ctx, run); err != nil {
		return err
	}
	switch {
	case o.List:
		return a.Print(accept.SignOffMarkdown(d.run, d.table, d.items))
	case o.From == "" && len(d.items) == 0:
		a.Say("run %s has nothing for a person to check", d.run)
	case o.From == "" && !a.HasPerson():
		return &nexus.Error{
			Code: nexus.CodeNeedsPerson, Message: "there is no terminal to ask on",
			Hint: "Run nexus verify --checklist > list.md, edit the list, then run nexus verify --from list.md.",
		}
	case o.From == "":
		answers = d.askCriteria(ctx)
		if ctx.Err() != nil {
			return &nexus.Error{
				Code: nexus.CodeNeedsPerson, Message: "interrupted: nothing was recorded",
				Hint: "nexus verify starts with the first again. To record your answers, end it with q.",
			}
		}
	}
	for _, answer := range answers {
		if err := answer.Check(d.items); err != nil {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: err.Error(),
				Hint: "Nothing was recorded. nexus verify --checklist prints what waits now.",
			}
		}
	}
	return d.recordAnswers(ctx, o, answers)
}

// readRun reads the current state of the run.
func (d *signOffDialog) readRun(ctx context.Context, run string) error {
	r, err := d.a.FindRun(ctx, d.p, run)
	if err != nil {
		return err
	}
	d.run = r.ID
	if d.s, err = d.p.Replay(ctx, r.ID); err != nil {
		return err
	}
	if d.table, err = d.p.CriteriaTable(ctx, d.s); err != nil {
		return err
	}
	d.items = accept.SignOffItems(d.s, d.table)
	return nil
}

// most limits the size of a checklist, in bytes.
const most = 1 << 20

// loadAnswers reads an edited checklist.
func loadAnswers(a *console.Console, file string) (nexus.RunID, []accept.SignOffAnswer, error) {
	in := a.In
	if file != "-" {
		f, err := os.Open(file) //nolint:gosec // the user names it
		if err != nil {
			return "", nil, &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "read the checklist", Cause: err,
				Hint: "Give the file that you wrote nexus verify --checklist to.",
			}
		}
		defer f.Close() //nolint:errcheck // only read
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, most+1))
	if err != nil {
		return "", nil, &nexus.Error{Code: nexus.CodeInvalidInput, Message: "read the checklist", Cause: err, Hint: "Give a readable file."}
	}
	run, answers, err := accept.ParseSignOff(string(data))
	if err != nil {
		return "", nil, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "the checklist: " + view.EscapeForTerminal(err.Error()),
			Hint: "Nothing was recorded. Mark a criterion with [x] or [n], and write what you saw after >.",
		}
	}
	return run, answers, nil
}

// askCriteria asks the person at the terminal about each criterion. If they stop early, the rest is
// skipped.
func (d *signOffDialog) askCriteria(ctx context.Context) []accept.SignOffAnswer {
	in := d.a.Keyboard()
	ask := func(text string) (string, bool) {
		line, err := in.AskLine(ctx, text)
		return line, err == nil
	}
	if try := accept.CheckoutResultCommand(d.run, d.table); try != "" {
		d.a.Ask("To try what landed: " + view.EscapeForTerminal(try) + "\n\n")
	}
	var answers []accept.SignOffAnswer
	for n, i := range d.items {
		d.a.Ask(fmt.Sprintf("%d of %d: %s %s\n  %s %s: %s as %.12s\n  %s: %s\n", n+1, len(d.items), view.EscapeForTerminal(i.ID), view.EscapeForTerminal(i.Criterion),
			view.EscapeForTerminal(string(i.Task)), view.EscapeForTerminal(i.Title), i.Status, i.Commit, i.State, view.EscapeForTerminal(i.Why)))
		answer := accept.SignOffAnswer{ID: i.ID, Print: i.Fingerprint}
		word, there := ask("Is it as it should be? [y]es, [n]o, [s]kip, [q]uit: ")
		switch strings.ToLower(word) {
		case "y", "yes":
			answer.Says = accept.SignedOff
			answer.Words, _ = ask("What did you see? (may be empty) ")
		case "n", "no":
			if answer.Words, there = ask("What is wrong? "); answer.Words != "" {
				answer.Says = accept.Rejected
			}
		case "q", "quit":
			there = false
		}
		if answer.Says != "" {
			answers = append(answers, answer)
		}
		if !there {
			break
		}
	}
	return answers
}

// recordAnswers puts the answers into the journal, and offers a plan that fixes the problems.
func (d *signOffDialog) recordAnswers(ctx context.Context, o *Options, answers []accept.SignOffAnswer) error {
	out := signOffResult{Run: d.run, By: d.a.UserName(), Answers: append([]accept.SignOffAnswer{}, answers...)}
	for _, answer := range answers {
		if _, err := d.p.Journal.Ask(ctx, d.run, answer.ToRequest(out.By)); err != nil {
			return err
		}
		word := "signed off"
		if answer.Says == accept.Rejected {
			word = "rejected"
		}
		d.a.Say("%s: %s", word, view.EscapeForTerminal(answer.ID))
	}
	asked := d.items
	if err := d.readRun(ctx, string(d.run)); err != nil {
		return err
	}
	out.Unmet, out.Unknown = d.table.CountOpen()
	if p, some := accept.SignOffPlan(d.run, d.s, asked, answers, d.s.Goal.Gates); some {
		out.Plan = &p
		if err := d.writePlan(o, p); err != nil {
			return err
		}
	}
	if d.a.JSON {
		if err := d.a.Answer(out, nil); err != nil {
			return err
		}
	}
	switch {
	case out.Unmet > 0:
		return console.ExitError(console.CodeFailed)
	case out.Unknown > 0:
		return console.ExitError(console.CodePartial)
	}
	return nil
}

// writePlan writes a plan if it was requested.
func (d *signOffDialog) writePlan(o *Options, p nexus.Plan) error {
	if err := plan.CheckPlan(p, d.s.Limits.Size); err != nil {
		d.a.Say("edit the plan before you run it: %s", view.EscapeForTerminal(err.Error()))
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(p); err != nil {
		return err
	}
	if o.Plan == "" {
		if d.a.JSON {
			return nil // it is part of the answer
		}
		return d.a.Print(b.String())
	}
	out, err := os.OpenFile(o.Plan, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644) //nolint:gosec // the user's own file, for others to read
	if err == nil {
		_, err = out.WriteString(d.a.Mask.MaskText(b.String()))
		err = errors.Join(err, out.Close())
	}
	if err != nil {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "write the plan", Cause: err,
			Hint: "Your answers are recorded. Give --plan a file that does not exist yet.",
		}
	}
	d.a.Say("a plan to fix it is in %s; run it with: nexus run --plan %s", view.EscapeForTerminal(o.Plan), view.EscapeForTerminal(o.Plan))
	return nil
}
