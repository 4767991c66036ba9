package acpcmd

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/host"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/acp/acpserver"
)

// land moves a branch to the landed result of the session's run, once a person agrees to it.
func (s *session) land(ctx context.Context, name string) (acpserver.Stop, error) {
	args, err := s.line("land", "run", "land --json -- RUN", name)
	if err != nil {
		return "", err
	}
	c, err := s.settings()
	if err != nil {
		return "", err
	}
	v, st, err := s.landable(ctx, args[len(args)-1])
	if err != nil {
		return "", err
	}
	agreed, price, with := false, host.PriceOf(st), s.chosen(c, st.Limits.Approval)
	// A person who wants to review before publishing also reviews this.
	if !with.allowed(c, "land") || with.approval.Holds(nexus.ApproveCommits) {
		price.Land, price.Target = true, v.Target
		target := s.plain(cmp.Or(v.Target, "your branch"))
		what := fmt.Sprintf("Move %s to the result of run %s:\n\n%s\n\n%s landed, at %s. "+
			"New commits are merged and checked again; a model resolves conflicts. %s",
			target, v.ID, s.goalText(v.Goal), view.Count(v.Counts.Landed, "task"), view.ShortHash(v.Commit), s.plain(price.String()))
		answer, err := s.consent(ctx, "Move "+target+" to the result", what, once("Land"))
		if answer == "" || err != nil {
			return acpserver.Done, err
		}
		now, _, err := s.landable(ctx, string(v.ID))
		if err == nil && now.Commit != v.Commit {
			err = &nexus.Error{
				Code: nexus.CodeTargetMoved, Message: "run " + string(v.ID) + " landed more while you were asked; nothing was done",
				Hint: "Type /land to be asked again.",
			}
		}
		if err != nil {
			return "", err
		}
		agreed = true
	}
	o := s.order(agreed, args...)
	o.Told = s.think
	r := s.agent.Run(ctx, o)
	if r.Failure != nil {
		return "", failed(r)
	}
	s.say("%s", fenced(strings.TrimSpace(r.Text+"\n"+r.Ended())))
	return acpserver.Done, nil
}

// landable returns a run that has ended and has landed changes.
func (s *session) landable(ctx context.Context, name string) (view.Run, *state.State, error) {
	v, st, err := s.look(ctx, name)
	if err == nil && v.Counts.Landed == 0 {
		err = &nexus.Error{Code: nexus.CodeInvalidInput, Message: "run " + string(v.ID) + " has landed nothing", Hint: "/tasks says why."}
	} else if err == nil && (v.Held != nil || !app.CanDeliver(st)) { // it would land changes that were not reviewed yet
		err = &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "run " + string(v.ID) + " has not ended, and may land more work",
			Hint: "Wait until it has ended, or continue it with /resume.",
		}
	}
	return v, st, err
}
