package page

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

func (s *PageHandlers) runsPage(r *http.Request) (templ.Component, error) {
	f, err := s.newFrame(r, "runs", "Runs", nil)
	if err != nil {
		return nil, err
	}
	going, err := s.Hub.Runs(f.Now)
	if err != nil {
		f.Said = ActionResult{Text: "Not all is shown: " + err.Error(), Bad: true}
	}
	query := r.URL.Query().Get("q")
	var all []view.RunView
	for _, g := range going {
		if containsQuery(query, string(g.ID), string(g.Status), g.Goal) {
			all = append(all, g.RunView)
		}
	}
	compared := ""
	switch chosen := r.URL.Query()["run"]; len(chosen) {
	case 0:
	case 2:
		result := s.runCommand(r.Context(), "runs", "compare", "--", chosen[0], chosen[1])
		compared = strings.TrimSpace(result.Text + "\n" + result.Hint)
	default:
		compared = "Choose two runs to compare."
	}
	return runsScreen(f, all, query, compared), nil
}

// containsQuery reports whether one of the texts contains the query.
func containsQuery(query string, texts ...string) bool {
	query = strings.ToLower(strings.TrimSpace(query))
	return query == "" || slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(strings.ToLower(t), query) })
}

// ReplayView is a run in its state after an event.
type ReplayView struct {
	projection.ReplayPoint

	Run view.RunView
}

// replayPage applies the journal of a run up to an event.
func (s *PageHandlers) replayPage(r *http.Request) (templ.Component, error) {
	f, err := s.newFrame(r, "replay", "Replay", nil)
	if err != nil {
		return nil, err
	}
	f.Live, f.RunActions = false, nil
	upTo, _ := strconv.ParseInt(r.URL.Query().Get("at"), 10, 64) // 0: the last
	p, at, err := projection.ReplayUntil(f.Run.ID, s.Journal.Events(r.Context(), f.Run.ID, 0), upTo, f.Seq)
	if err != nil {
		return nil, err
	}
	lanes := boardColumns(p, "", at.Time)
	for i := range lanes {
		for n := range lanes[i].Cards {
			lanes[i].Cards[n].Actions = nil
		}
	}
	return replayScreen(f, ReplayView{at, p.Run(at.Time)}, lanes), nil
}

// logPage is the number of events on a page of the log.
const logPage = 200

func (s *PageHandlers) eventLogPage(r *http.Request) (templ.Component, error) {
	var lines []projection.EventLogLine
	older := ""
	before, _ := strconv.ParseInt(r.URL.Query().Get("before"), 10, 64) // 0: the latest
	f, err := s.newFrame(r, "log", "Log", func(p *projection.RunProjection, _ *PageFrame) error {
		after := int64(-1)
		if before > 0 {
			after = max(before-1-logPage, 0)
		}
		var err error
		lines, err = p.EventLog(after, logPage)
		return err
	})
	if before > 0 {
		f.Live = false
		lines = slices.DeleteFunc(lines, func(l projection.EventLogLine) bool { return l.Seq >= before })
	}
	slices.Reverse(lines)
	if n := len(lines); n > 0 && lines[n-1].Seq > 1 && n >= logPage/2 {
		older = runPath(f.Run.ID, "/log?before="+formatInt64(lines[n-1].Seq))
	}
	return logScreen(f, lines, older), err
}

func (s *PageHandlers) interviewPage(r *http.Request) (templ.Component, error) {
	var t projection.InterviewQuestions
	f, err := s.newFrame(r, "interview", "Interview", func(p *projection.RunProjection, f *PageFrame) error {
		t = p.InterviewQuestions(f.Now)
		return nil
	})
	return interviewScreen(f, t), err
}
