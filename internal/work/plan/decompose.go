package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/risk"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// maxTries limits a planner's submissions.
const maxTries = 3

// splitOnce asks a planner to split tasks, which happens once.
const splitOnce = "Split each task that is too large into smaller ones that can land one by one."

// SendFunc sends a message to the planner, who answers with a submission that fits [Schema],
// and returns the result. An empty message continues an interrupted session.
type SendFunc func(ctx context.Context, message, why string) (agent.Outcome, error)

// maxBack limits how often a plan is returned to the planner for unfit checks, independent of
// its other problems.
const maxBack = 2

// tryAgain ends a message about unfit checks.
const tryAgain = "Fix these checks. " + onlyChanges

// onlyChanges explains how to submit a plan that is almost the same as before.
const onlyChanges = "Submit only what changes, with keep, or the whole plan again."

// TrialFunc runs the commands of a plan's criteria on the tree of the plan.
type TrialFunc func(ctx context.Context, p nexus.Plan) (accept.Trials, error)

// Decompose lets the planner turn a goal into a plan. Problems of a plan are returned to it in
// the same session, twice at most, and tasks that are too large once; after that the error
// lists the remaining problems. Unfit checks are returned twice, too; after that the plan is
// accepted, with their results. Missing contracts between two tasks are returned once, and so
// are the gaps that the coverage check finds; after that the plan lists them. A resumed
// session continues with its remaining tries.
func Decompose(ctx context.Context, g prompt.Goal, begun bool, talk SendFunc, try TrialFunc, look CoverageCheck) (nexus.Plan, error) {
	if err := CheckGoal(g.Text); err != nil {
		return nexus.Plan{}, err
	}
	var p nexus.Plan
	err := askUntilAccepted(ctx, g.Message(), begun, talk, func(out agent.Outcome) (again string, err error) {
		last := reading{err: refuse(nexus.CodeInvalidPlan, "nothing was submitted")}
		if all := submitted(out.Messages, g); len(all) > 0 {
			last = all[len(all)-1]
		}
		if p, err = last.plan, last.err; err == nil {
			err = AssignPackages(p.Tasks, g.Repo)
		}
		switch again := askedToCover(out.Messages); {
		case err == nil:
		case !hopeless(p, g.Size, err, out.Messages):
			return correctionMessage(p, g.Size, err), err
		case again: // the plan before is better than nothing
			old, ok := former(out.Messages, g)
			if !ok {
				return "", err
			}
			p = old
		default:
			return "", err
		}
		tried, err := try(ctx, p)
		if err != nil {
			return "", err
		}
		if wrong := tried.Wrong(); len(wrong) > 0 && sentBack(out.Messages, tryAgain) < maxBack {
			return unfit(wrong), refuse(nexus.CodeInvalidPlan, "its checks are wrong")
		}
		tried.Mark(p.Tasks)
		if open := risk.OpenOverlaps(p.Tasks); len(open) > 0 && sentBack(out.Messages, contractFirst) == 0 && !askedToCover(out.Messages) {
			return openContracts(open), refuse(nexus.CodeInvalidPlan, "two tasks meet, and nothing fixes their contract")
		}
		p.Cover, err = look(ctx, p, askedToCover(out.Messages))
		if gaps := p.Cover.Gaps(); err == nil && len(gaps) > 0 && !askedToCover(out.Messages) {
			return uncovered(p.Cover), refuse(nexus.CodeInvalidPlan, "it does not cover the goal")
		}
		return "", err
	})
	return p, err
}

// askUntilAccepted talks with the planner until read accepts a submission without an error. If
// read returns an error and a message, the message is sent to the planner, who submits again;
// begun continues an open conversation.
func askUntilAccepted(ctx context.Context, brief string, begun bool, talk SendFunc, read func(agent.Outcome) (again string, err error)) error {
	next, why := brief, "brief"
	if begun {
		next, why = "", ""
	}
	var heard []llm.Message // messages of an agent that keeps its own conversation
	for {
		out, err := talk(ctx, next, why)
		if err != nil {
			return err
		}
		if out.Outcome != nexus.Accepted {
			return unplanned(out)
		}
		if len(agent.Handins(out.Messages)) == 0 {
			heard = append(heard, agent.Exchange(next, out.Handin)...)
			out.Messages = heard
		}
		if next, err = read(out); err == nil || next == "" {
			return err
		}
		why = "repair"
	}
}

// hopeless reports whether to stop asking the planner.
func hopeless(p nexus.Plan, most nexus.Size, err error, messages []llm.Message) bool {
	back := sentBack(messages, tryAgain) + sentBack(messages, coverAll) + sentBack(messages, contractFirst)
	return len(agent.Handins(messages))-back >= maxTries ||
		errors.Is(err, &nexus.Error{Code: nexus.CodeNothingProposed}) ||
		tooLarge(p, most) && asked(messages)
}

// tooLarge reports whether a plan has a task that must be split.
func tooLarge(p nexus.Plan, most nexus.Size) bool {
	return slices.ContainsFunc(Problems(p, most), func(f Problem) bool { return f.Code == nexus.CodeOversize })
}

// asked reports whether the planner was asked to split before.
func asked(messages []llm.Message) bool {
	return slices.ContainsFunc(messages, func(m llm.Message) bool {
		return m.From == llm.User && strings.HasSuffix(strings.TrimSpace(m.Text()), splitOnce)
	})
}

// sentBack counts the messages to the planner with this end.
func sentBack(messages []llm.Message, end string) int {
	n := 0
	for _, m := range messages {
		if m.From == llm.User && strings.HasSuffix(strings.TrimSpace(m.Text()), end) {
			n++
		}
	}
	return n
}

// unfit returns why checks are unfit, a line each.
func unfit(wrong accept.Trials) string {
	var b strings.Builder
	b.WriteString("Each check ran on the repository as it is now. There it must fail, because the task is not done yet. These are wrong:\n")
	for _, r := range wrong {
		fmt.Fprintf(&b, "- %s\n", r)
	}
	b.WriteString("\n" + tryAgain)
	return b.String()
}

// correctionMessage returns a message that asks for a better plan.
func correctionMessage(p nexus.Plan, most nexus.Size, err error) string {
	text := err.Error() + "\n\nFix this and submit the whole plan again."
	if len(p.Tasks) > 0 { // the plan could be parsed
		text = err.Error() + "\n\nFix this. " + onlyChanges
	}
	if tooLarge(p, most) {
		text += " " + splitOnce
	}
	return text
}

// unplanned returns why a session ended without a plan.
func unplanned(out agent.Outcome) error {
	if out.Refusal != nil {
		return out.Refusal
	}
	e := &nexus.Error{Code: nexus.CodeNothingProposed, Message: fmt.Sprintf("no plan: %s", out.Why), Hint: hint(nexus.CodeNothingProposed)}
	if out.Outcome == nexus.Exhausted {
		e.Code, e.Hint = nexus.CodeLimit, "Give the planner a smaller goal, or raise the limit on a session."
	}
	return e
}
