package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// maxTries is how often a planner may hand in.
const maxTries = 3

// splitOnce is how a planner is asked to split, which happens once.
const splitOnce = "Split each task that is too large into smaller ones that can land one by one."

// Session is what the planner works with. Its tools were made with [Schema]
// as the schema of the hand-in.
type Session struct {
	Model llm.Model
	Tools agent.Tools
	Brief agent.Brief // Messages and Turn when the session goes on; Next and Schema are set here
	Desk  agent.Desk
	Store agent.Store
	Heard func(llm.Delta)
}

// Decompose lets the planner turn a goal into a plan. What is wrong with a
// plan goes back to it in the same session, twice at most, and tasks that are
// too large once; after that the error lists what is still wrong. A session
// that was interrupted goes on with the tries that it had.
func Decompose(ctx context.Context, g prompt.Goal, s Session) (nexus.Plan, error) {
	if err := CheckGoal(g.Text); err != nil {
		return nexus.Plan{}, err
	}
	b := s.Brief
	b.Schema, b.Next, b.Why = Schema(), "", ""
	if len(b.Messages) == 0 {
		g.Session = b.Session
		b.Next = g.Message()
	}
	for {
		out, err := agent.Run(ctx, s.Model, s.Tools, b, s.Desk, s.Store, s.Heard)
		if err != nil {
			return nexus.Plan{}, err
		}
		if out.Outcome != nexus.Accepted {
			return nexus.Plan{}, unplanned(out)
		}
		p, err := Parse(out.Handin)
		if err == nil {
			p.Goal = strings.TrimSpace(g.Text)
			return p, nil
		}
		if hopeless(p, err, out.Messages) {
			return p, err
		}
		b.Messages, b.Turn, b.Used = out.Messages, b.Turn+out.Turns, b.Used.Add(out.Usage)
		b.Next, b.Why = again(p, err), "repair"
	}
}

// hopeless reports whether the planner is not asked again.
func hopeless(p nexus.Plan, err error, messages []llm.Message) bool {
	return len(agent.Handins(messages)) >= maxTries ||
		errors.Is(err, &nexus.Error{Code: nexus.CodeNothingProposed}) ||
		tooLarge(p) && asked(messages)
}

// tooLarge reports whether a plan has a task that is to be split.
func tooLarge(p nexus.Plan) bool {
	return slices.ContainsFunc(Problems(p), func(f Problem) bool { return f.Code == nexus.CodeOversize })
}

// asked reports whether the planner was asked to split before.
func asked(messages []llm.Message) bool {
	return slices.ContainsFunc(messages, func(m llm.Message) bool {
		return m.From == llm.User && strings.HasSuffix(strings.TrimSpace(m.Text()), splitOnce)
	})
}

// again asks for a better plan.
func again(p nexus.Plan, err error) string {
	text := err.Error() + "\n\nMend this and hand in the whole plan again."
	if tooLarge(p) {
		text += " " + splitOnce
	}
	return text
}

// unplanned says why a session ended without a plan.
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
