package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/planrisk"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// maxTries limits a planner's submissions.
const maxTries = 3

// splitOnce asks a planner to split tasks, which happens once.
const splitOnce = "Split each task that is too large into smaller ones that can land one by one."

// PlannerSendFunc sends a message to the planner, who answers with a submission that fits [SubmissionSchema],
// and returns the result. An empty message continues an interrupted session.
type PlannerSendFunc func(ctx context.Context, message, why string) (agent.SessionStretchResult, error)

// maxBack limits how often a plan is returned to the planner for unfit checks, independent of
// its other problems.
const maxBack = 2

// tryAgain ends a message about unfit checks.
const tryAgain = "Fix these checks. " + onlyChanges

// onlyChanges explains how to submit a plan that is almost the same as before.
const onlyChanges = "Submit only what changes, with keep, or the whole plan again."

// CriteriaTrialFunc runs the commands of a plan's criteria on the tree of the plan.
type CriteriaTrialFunc func(ctx context.Context, p nexus.Plan) (accept.CommandTrials, error)

// Decompose lets the planner turn a goal into a plan. Problems of a plan are returned to it in
// the same session, twice at most, and tasks that are too large once; after that the error
// lists the remaining problems. Unfit checks are returned twice, too; after that the plan is
// accepted, with their results. Missing contracts between two tasks are returned once, and so
// are the gaps that the coverage check finds; after that the plan lists them. A resumed
// session continues with its remaining tries.
func Decompose(ctx context.Context, g prompt.PlanningRequest, begun bool, sendMessage PlannerSendFunc, try CriteriaTrialFunc, look CoverageCheckFunc) (nexus.Plan, error) {
	if err := CheckGoal(g.Text); err != nil {
		return nexus.Plan{}, err
	}
	var p nexus.Plan
	err := askUntilAccepted(ctx, g.FirstMessage(), begun, sendMessage, func(out agent.SessionStretchResult) (again string, err error) {
		last := checkedPlanSubmission{err: newPlanError(nexus.CodeInvalidPlan, "nothing was submitted")}
		if all := submittedPlans(out.Messages, g); len(all) > 0 {
			last = all[len(all)-1]
		}
		if p, err = last.plan, last.err; err == nil {
			err = AssignPackages(p.Tasks, g.Repo)
		}
		switch again := wasAskedToCover(out.Messages); {
		case err == nil:
		case !shouldStopAsking(p, g.Size, err, out.Messages):
			return correctionMessage(p, g.Size, err), err
		case again: // the plan before is better than nothing
			old, ok := lastUsablePlan(out.Messages, g)
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
		if wrong := tried.WrongTrials(); len(wrong) > 0 && countCorrections(out.Messages, tryAgain) < maxBack {
			return describeUnfitChecks(wrong), newPlanError(nexus.CodeInvalidPlan, "its checks are wrong")
		}
		tried.MarkTasks(p.Tasks)
		if open := planrisk.OpenOverlaps(p.Tasks); len(open) > 0 && countCorrections(out.Messages, contractFirst) == 0 && !wasAskedToCover(out.Messages) {
			return missingContracts(open), newPlanError(nexus.CodeInvalidPlan, "two tasks meet, and nothing fixes their contract")
		}
		p.Cover, err = look(ctx, p, wasAskedToCover(out.Messages))
		if gaps := p.Cover.UncoveredStatements(); err == nil && len(gaps) > 0 && !wasAskedToCover(out.Messages) {
			return describeCoverageGaps(p.Cover), newPlanError(nexus.CodeInvalidPlan, "it does not cover the goal")
		}
		return "", err
	})
	return p, err
}

// askUntilAccepted talks with the planner until read accepts a submission without an error. If
// read returns an error and a message, the message is sent to the planner, who submits again;
// begun continues an open conversation.
func askUntilAccepted(ctx context.Context, brief string, begun bool, sendMessage PlannerSendFunc, read func(agent.SessionStretchResult) (again string, err error)) error {
	next, why := brief, "brief"
	if begun {
		next, why = "", ""
	}
	var heard []llm.Message // messages of an agent that keeps its own conversation
	for {
		out, err := sendMessage(ctx, next, why)
		if err != nil {
			return err
		}
		if out.Outcome != nexus.Accepted {
			return noPlanError(out)
		}
		if len(agent.AcceptedSubmissions(out.Messages)) == 0 {
			heard = append(heard, agent.SubmissionExchange(next, out.Handin)...)
			out.Messages = heard
		}
		if next, err = read(out); err == nil || next == "" {
			return err
		}
		why = "repair"
	}
}

// shouldStopAsking reports whether to stop asking the planner.
func shouldStopAsking(p nexus.Plan, most nexus.TaskSizeLimits, err error, messages []llm.Message) bool {
	back := countCorrections(messages, tryAgain) + countCorrections(messages, coverAll) + countCorrections(messages, contractFirst)
	return len(agent.AcceptedSubmissions(messages))-back >= maxTries ||
		errors.Is(err, &nexus.Error{Code: nexus.CodeNothingProposed}) ||
		hasTooLargeTask(p, most) && wasAskedToSplit(messages)
}

// hasTooLargeTask reports whether a plan has a task that must be split.
func hasTooLargeTask(p nexus.Plan, most nexus.TaskSizeLimits) bool {
	return slices.ContainsFunc(FindProblems(p, most), func(f PlanProblem) bool { return f.Code == nexus.CodeOversize })
}

// wasAskedToSplit reports whether the planner was asked to split before.
func wasAskedToSplit(messages []llm.Message) bool {
	return slices.ContainsFunc(messages, func(m llm.Message) bool {
		return m.From == llm.User && strings.HasSuffix(strings.TrimSpace(m.Text()), splitOnce)
	})
}

// countCorrections counts the messages to the planner with this end.
func countCorrections(messages []llm.Message, end string) int {
	n := 0
	for _, m := range messages {
		if m.From == llm.User && strings.HasSuffix(strings.TrimSpace(m.Text()), end) {
			n++
		}
	}
	return n
}

// describeUnfitChecks returns why checks are unfit, a line each.
func describeUnfitChecks(wrong accept.CommandTrials) string {
	var b strings.Builder
	b.WriteString("Each check ran on the repository as it is now. There it must fail, because the task is not done yet. These are wrong:\n")
	for _, r := range wrong {
		fmt.Fprintf(&b, "- %s\n", r)
	}
	b.WriteString("\n" + tryAgain)
	return b.String()
}

// correctionMessage returns a message that asks for a better plan.
func correctionMessage(p nexus.Plan, most nexus.TaskSizeLimits, err error) string {
	text := err.Error() + "\n\nFix this and submit the whole plan again."
	if len(p.Tasks) > 0 { // the plan could be parsed
		text = err.Error() + "\n\nFix this. " + onlyChanges
	}
	if hasTooLargeTask(p, most) {
		text += " " + splitOnce
	}
	return text
}

// noPlanError returns why a session ended without a plan.
func noPlanError(out agent.SessionStretchResult) error {
	if out.Refusal != nil {
		return out.Refusal
	}
	e := &nexus.Error{Code: nexus.CodeNothingProposed, Message: fmt.Sprintf("no plan: %s", out.Why), Hint: planErrorHint(nexus.CodeNothingProposed)}
	if out.Outcome == nexus.Exhausted {
		e.Code, e.Hint = nexus.CodeLimit, "Give the planner a smaller goal, or raise the limit on a session."
	}
	return e
}
