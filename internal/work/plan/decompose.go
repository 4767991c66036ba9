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

// Talk says something to the planner, who answers with a hand-in that fits
// [Schema], and returns what came of it. An empty message goes on where the
// session stopped.
type Talk func(ctx context.Context, message, why string) (agent.Outcome, error)

// Decompose lets the planner turn a goal into a plan. What is wrong with a
// plan goes back to it in the same session, twice at most, and tasks that are
// too large once; after that the error lists what is still wrong. A session
// that has begun goes on with the tries that it had.
func Decompose(ctx context.Context, g prompt.Goal, begun bool, talk Talk) (nexus.Plan, error) {
	if err := CheckGoal(g.Text); err != nil {
		return nexus.Plan{}, err
	}
	var p nexus.Plan
	err := settle(ctx, g.Message(), begun, talk, func(out agent.Outcome) (again string, err error) {
		if p, err = Parse(out.Handin, g.Size); err != nil && !hopeless(p, g.Size, err, out.Messages) {
			return anew(p, g.Size, err), err
		}
		return "", err
	})
	if err == nil {
		p.Goal = strings.TrimSpace(g.Text)
	}
	return p, err
}

// settle talks with the planner until what it hands in is read without an
// error. Where one comes with a message, the planner hears that and hands in
// again; begun goes on with a conversation that is open.
func settle(ctx context.Context, brief string, begun bool, talk Talk, read func(agent.Outcome) (again string, err error)) error {
	next, why := brief, "brief"
	if begun {
		next, why = "", ""
	}
	for {
		out, err := talk(ctx, next, why)
		if err != nil {
			return err
		}
		if out.Outcome != nexus.Accepted {
			return unplanned(out)
		}
		if next, err = read(out); err == nil || next == "" {
			return err
		}
		why = "repair"
	}
}

// hopeless reports whether the planner is not asked again.
func hopeless(p nexus.Plan, most nexus.Size, err error, messages []llm.Message) bool {
	return len(agent.Handins(messages)) >= maxTries ||
		errors.Is(err, &nexus.Error{Code: nexus.CodeNothingProposed}) ||
		tooLarge(p, most) && asked(messages)
}

// tooLarge reports whether a plan has a task that is to be split.
func tooLarge(p nexus.Plan, most nexus.Size) bool {
	return slices.ContainsFunc(Problems(p, most), func(f Problem) bool { return f.Code == nexus.CodeOversize })
}

// asked reports whether the planner was asked to split before.
func asked(messages []llm.Message) bool {
	return slices.ContainsFunc(messages, func(m llm.Message) bool {
		return m.From == llm.User && strings.HasSuffix(strings.TrimSpace(m.Text()), splitOnce)
	})
}

// anew asks for a better plan.
func anew(p nexus.Plan, most nexus.Size, err error) string {
	text := err.Error() + "\n\nMend this and hand in the whole plan again."
	if tooLarge(p, most) {
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
