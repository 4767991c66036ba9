package page

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/nexus-ai-builder/nexus/internal/decide/inquiry"
	"github.com/nexus-ai-builder/nexus/internal/decide/people"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/face/view/projection"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func (s *Site) runs(r *http.Request) (templ.Component, error) {
	f, err := s.frame(r, "runs", "Runs", nil)
	if err != nil {
		return nil, err
	}
	going, err := s.Hub.Runs(f.Now)
	if err != nil {
		f.Said = Said{Text: "Not all is shown: " + err.Error(), Bad: true}
	}
	query := r.URL.Query().Get("q")
	var all []view.Run
	for _, g := range going {
		if has(query, string(g.ID), string(g.Status), g.Goal) {
			all = append(all, g.Run)
		}
	}
	compared := ""
	switch chosen := r.URL.Query()["run"]; len(chosen) {
	case 0:
	case 2:
		result := s.run(r.Context(), "runs", "compare", "--", chosen[0], chosen[1])
		compared = strings.TrimSpace(result.Text + "\n" + result.Hint)
	default:
		compared = "Choose two runs to compare."
	}
	return runsScreen(f, all, query, compared), nil
}

// has reports whether one of the texts has what is searched for.
func has(query string, texts ...string) bool {
	query = strings.ToLower(strings.TrimSpace(query))
	return query == "" || slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(strings.ToLower(t), query) })
}

// Replay is a run as it was after an event.
type Replay struct {
	Run             view.Run
	At, First, Last int64
	Time            time.Time
	Line            string // what happened then
}

// replay folds the journal of a run up to an event.
func (s *Site) replay(r *http.Request) (templ.Component, error) {
	f, err := s.frame(r, "replay", "Replay", nil)
	if err != nil {
		return nil, err
	}
	f.Live, f.RunActions = false, nil
	rp := Replay{Last: f.Seq}
	upTo, _ := strconv.ParseInt(r.URL.Query().Get("at"), 10, 64) // 0: the last
	if upTo <= 0 || upTo > rp.Last {
		upTo = rp.Last
	}
	p := projection.New(f.Run.ID, projection.Options{})
	for e, err := range s.Journal.Events(r.Context(), f.Run.ID, 0) {
		if err != nil {
			return nil, err
		}
		rp.First = cmp.Or(rp.First, e.Seq)
		if e.Seq > max(upTo, rp.First) {
			break
		}
		if err := p.Apply(e); err != nil {
			return nil, err
		}
		about, text := view.Describe(e.Fact)
		rp.At, rp.Time, rp.Line = e.Seq, e.At, strings.TrimSpace(about+" "+text)
	}
	rp.Run = p.Run(rp.Time)
	lanes := columns(p, "", rp.Time)
	for i := range lanes {
		for n := range lanes[i].Cards {
			lanes[i].Cards[n].Actions = nil
		}
	}
	return replayScreen(f, rp, lanes), nil
}

// logPage is how many events a page of the log has.
const logPage = 200

func (s *Site) log(r *http.Request) (templ.Component, error) {
	var lines []projection.LogLine
	older := ""
	before, _ := strconv.ParseInt(r.URL.Query().Get("before"), 10, 64) // 0: the latest
	f, err := s.frame(r, "log", "Log", func(p *projection.Projection, _ *Frame) error {
		after := int64(-1)
		if before > 0 {
			after = max(before-1-logPage, 0)
		}
		var err error
		lines, err = p.Log(after, logPage)
		return err
	})
	if before > 0 {
		f.Live = false
		lines = slices.DeleteFunc(lines, func(l projection.LogLine) bool { return l.Seq >= before })
	}
	slices.Reverse(lines)
	if n := len(lines); n > 0 && lines[n-1].Seq > 1 && n >= logPage/2 {
		older = runPath(f.Run.ID, "/log?before="+number64(lines[n-1].Seq))
	}
	return logScreen(f, lines, older), err
}

// Answered is a question that somebody answered.
type Answered struct{ Question, Answer, By string }

// Talks is what people were asked, one question at a time, and what came of it.
type Talks struct {
	Next     []projection.Item // the question that is to be answered now; empty: none waits
	Open     int               // questions that wait, with that one
	Answered []Answered
	Wanted   []nexus.Requirement // by an interview
	Assumed  []inquiry.Assumption
}

func (s *Site) interview(r *http.Request) (templ.Component, error) {
	var t Talks
	f, err := s.frame(r, "interview", "Interview", func(p *projection.Projection, f *Frame) error {
		for _, i := range p.Inbox(f.Now) {
			if i.Kind != projection.KindQuestion {
				continue
			}
			if t.Open++; t.Open == 1 {
				t.Next = append(t.Next, i)
			}
		}
		about := p.State().Interview
		t.Wanted, t.Assumed = slices.Clone(about.Requirements), slices.Clone(about.Assumptions)
		for _, e := range about.Exchanges {
			t.Answered = append(t.Answered, Answered{e.Text, cmp.Or(e.Answer, "left open"), e.By})
		}
		if len(t.Answered) > 0 {
			return nil
		}
		for _, q := range p.State().Questions {
			if q.By != "" && (q.Trigger == people.AmbiguityTrigger || q.Trigger == people.InterviewTrigger) {
				t.Answered = append(t.Answered, Answered{q.Text, q.Answer, q.By})
			}
		}
		return nil
	})
	return interviewScreen(f, t), err
}
