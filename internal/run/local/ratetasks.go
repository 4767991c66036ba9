package local

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/route"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run"
	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// judging limits the time in which a model rates the difficulty of tasks. The tasks wait for
// it, and the next strategy has an answer, too.
const judging = 15 * time.Second

// errJudging is the cause of such a call's timeout.
var errJudging = errors.New("no answer in time")

// chooseStartTiers asks plugins for the start tiers of tasks, and a model for the difficulty of those
// without a proposal.
func (m *LocalExecutor) chooseStartTiers(ctx context.Context, f nexus.ComplexityRatingStarted, v state.WorkerView, d worker.AttemptFactRecorder) ([]nexus.Fact, error) {
	proposed, err := m.askRouterPlugins(ctx, f, v, d)
	if err != nil {
		return nil, err
	}
	rest := f
	rest.Tasks = nil
	for _, t := range v.Tasks {
		said := slices.ContainsFunc(proposed, func(r nexus.ComplexityRating) bool { return r.Task == t.ID })
		if slices.Contains(f.Tasks, t.ID) && !said && (route.NeedsModel(v.Goal.Routing, t) || !route.NeedsPlugin(v.Goal.Routing, t)) {
			rest.Tasks = append(rest.Tasks, t.ID)
		}
	}
	if len(rest.Tasks) == 0 {
		return []nexus.Fact{nexus.ComplexityRatingEnded{Attempt: f.Attempt, Routes: proposed}}, nil
	}
	told, err := m.rateTaskComplexity(ctx, rest, v, d)
	if err != nil {
		return nil, err
	}
	told.Routes = append(proposed, told.Routes...)
	return []nexus.Fact{told}, nil
}

// rateTaskComplexity asks a model for the difficulty of tasks. If the call fails, the result is that there is
// no rating. Only an end of the run, a refused budget and a fault of the journal are errors.
func (m *LocalExecutor) rateTaskComplexity(ctx context.Context, f nexus.ComplexityRatingStarted, v state.WorkerView, d worker.AttemptFactRecorder) (nexus.ComplexityRatingEnded, error) {
	p := &planningSession{Worker: m.Worker, view: v, a: v.Attempt, desk: d}
	p.session = nexus.SessionID(fmt.Sprintf("%s/%s.1", f.Attempt, nexus.Router))
	kept := m.ratingCachePath(v, f.Tasks)
	if routes, ok := readCachedRatings(kept, f.Tasks); ok && !p.hasBegun() {
		return nexus.ComplexityRatingEnded{Attempt: f.Attempt, Routes: routes}, nil
	}
	told := nexus.ComplexityRatingEnded{Attempt: f.Attempt}
	tree, err := m.Worker.Trees.AddTree(ctx, v.Run, f.Attempt, v.Goal.Base)
	if err != nil {
		return told, fmt.Errorf("make a worktree to judge tasks in: %w", err)
	}
	p.tree = tree
	timed, cancel := context.WithTimeoutCause(ctx, judging, errJudging)
	defer cancel()
	told.Routes, err = p.requestComplexityRatings(timed, f.Tasks, kept)
	switch {
	case err == nil:
	case ctx.Err() != nil || endsPlanning(err):
		return told, err
	default:
		told.Why = err.Error()
	}
	return told, tree.Remove(ctx)
}

// endsPlanning reports whether an error affects more than this one question.
func endsPlanning(err error) bool {
	e, ok := errors.AsType[*nexus.Error](err)
	return ok && e.Code != nexus.CodeInvalidInput || run.IsWorkerStop(err)
}

// ratingCachePath returns the file with the ratings of the same tasks by the same model in an earlier run,
// "" if no model can be asked.
func (m *LocalExecutor) ratingCachePath(v state.WorkerView, ids []nexus.TaskID) string {
	role, ok := m.Worker.Sessions.Roles[nexus.Router]
	if !ok {
		return ""
	}
	model, err := m.Worker.Sessions.Pick(role.Name, role.Tier, "")
	if err != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{model.Name, role.Prompt, string(plan.ComplexitySchema()), tasksForRouter("", v.Tasks, ids)}, "\x00")))
	return filepath.Join(m.Worker.Site.State, "routes", hex.EncodeToString(sum[:])+".json")
}

// readCachedRatings reads the stored ratings. They are checked like an answer; invalid ones are ignored.
func readCachedRatings(kept string, ids []nexus.TaskID) ([]nexus.ComplexityRating, bool) {
	if kept == "" {
		return nil, false
	}
	data, err := os.ReadFile(kept)
	if err != nil {
		return nil, false
	}
	routes, err := plan.ParseComplexity(data, ids)
	return routes, err == nil && len(routes) > 0
}

func (p *planningSession) requestComplexityRatings(ctx context.Context, ids []nexus.TaskID, kept string) ([]nexus.ComplexityRating, error) {
	next, why := "", ""
	if !p.hasBegun() {
		next, why = tasksForRouter(p.session, p.view.Tasks, ids), "brief"
	}
	out, err := p.Worker.Sessions.ContinueConversation(ctx, worker.ConversationStretchRequest{
		Attempt: p.a, Session: p.session, Role: nexus.Router, Tree: p.tree, Next: next, Why: why,
		Handin: plan.ComplexitySchema(), Limits: p.view.Limits, Record: p.recordFacts,
	}, p.desk)
	switch {
	case err != nil:
		return nil, err
	case out.Refusal != nil:
		return nil, out.Refusal
	case out.Outcome != nexus.Accepted:
		return nil, fmt.Errorf("it did not answer: %s", out.Why)
	}
	routes, err := plan.ParseComplexity(out.Handin, ids)
	if err == nil && kept != "" {
		said := []byte(out.Handin)
		if p.Worker.Site.Mask != nil {
			said = p.Worker.Site.Mask(said)
		}
		_ = filewrite.ReplaceFile(kept, said) // if it cannot be stored, the model is asked again
	}
	return routes, err
}

// tasksForRouter describes tasks for a router.
func tasksForRouter(session nexus.SessionID, tasks []nexus.Task, ids []nexus.TaskID) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Conversation: %s\n\nThe tasks:\n", session)
	for _, t := range tasks {
		if !slices.Contains(ids, t.ID) {
			continue
		}
		fmt.Fprintf(&b, "\n%s: %s\n", t.ID, t.Title)
		if t.Brief != "" {
			fmt.Fprintf(&b, "%s\n", t.Brief)
		}
		if len(t.Files) > 0 {
			fmt.Fprintf(&b, "Files: %s\n", strings.Join(t.Files, ", "))
		}
		for _, c := range t.Criteria {
			fmt.Fprintf(&b, "- %s\n", c.Text)
		}
	}
	return b.String()
}
