package acpcmd

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/host"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/acp/acpserver"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// landRun moves a branch to the landed result of the session's run, once a person agrees to it.
func (s *editorSession) landRun(ctx context.Context, name string) (acpserver.PromptStopReason, error) {
	args, err := s.fillCommandLine("land", "run", "land --json -- RUN", name)
	if err != nil {
		return "", err
	}
	c, err := s.readSettings()
	if err != nil {
		return "", err
	}
	v, st, err := s.landableRun(ctx, args[len(args)-1])
	if err != nil {
		return "", err
	}
	agreed, price, with := false, host.RemainingPrice(st), s.chosenOptions(c, st.Limits.Approval)
	// A person who wants to review before publishing also reviews this.
	if !with.isPreapproved(c, "land") || with.approval.NeedsApproval(nexus.ApproveCommits) {
		price.Land, price.Target = true, v.Target
		target := s.escapeText(cmp.Or(v.Target, "your branch"))
		what := fmt.Sprintf("Move %s to the result of run %s:\n\n%s\n\n%s landed, at %s. "+
			"New commits are merged and checked again; a model resolves conflicts. %s",
			target, v.ID, s.goalText(v.Goal), view.CountWithNoun(v.Counts.Landed, "task"), view.ShortHash(v.Commit), s.escapeText(price.String()))
		answer, err := s.askConsent(ctx, "Move "+target+" to the result", what, allowOnce("Land"))
		if answer == "" || err != nil {
			return acpserver.PromptDone, err
		}
		now, _, err := s.landableRun(ctx, string(v.ID))
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
	o := s.newInvocation(agreed, args...)
	o.Told = s.sendThoughts
	r := s.agent.Run(ctx, o)
	if r.Failure != nil {
		return "", failureError(r)
	}
	s.sendMarkdown("%s", fenceText(strings.TrimSpace(r.Text+"\n"+r.ExitText())))
	return acpserver.PromptDone, nil
}

// landableRun returns a run that has ended and has landed changes.
func (s *editorSession) landableRun(ctx context.Context, name string) (view.RunView, *state.State, error) {
	v, st, err := s.readRun(ctx, name)
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
