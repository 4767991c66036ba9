package servecmd

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view/health"
)

// healthResponse is the answer to GET /healthz: it contains no goals, models or texts.
type healthResponse struct {
	OK      bool        `json:"ok"`
	Journal string      `json:"journal"` // ok, or that it cannot be read
	Runs    []runHealth `json:"runs"`
}

type runHealth struct {
	Run    nexus.RunID       `json:"run"`
	Status nexus.RunStatus   `json:"status"`
	OK     bool              `json:"ok"`
	Gone   bool              `json:"gone,omitzero"` // its process died recently
	Alerts []nexus.AlertKind `json:"alerts"`        // active alerts
	Silent float64           `json:"silent_seconds"`
}

// recent is how long a run whose process died counts as unhealthy: after that the user has
// abandoned it.
const recent = time.Hour

// healthMonitor follows the runs in progress, each from its last check.
type healthMonitor struct {
	place *app.Repository
	now   func() time.Time

	mu   sync.Mutex // guards runs
	runs map[nexus.RunID]*state.State
}

// checkHealth returns the health of all runs, and the HTTP status for it.
func (m *healthMonitor) checkHealth(ctx context.Context) (any, int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := healthResponse{OK: true, Journal: "ok", Runs: []runHealth{}}
	runs, err := m.place.Runs(ctx)
	if err == nil {
		err = m.addRuns(ctx, runs, &p)
	}
	if err != nil {
		return healthResponse{Journal: "it cannot be read", Runs: []runHealth{}}, http.StatusServiceUnavailable
	}
	if !p.OK {
		return p, http.StatusServiceUnavailable
	}
	return p, http.StatusOK
}

func (m *healthMonitor) addRuns(ctx context.Context, runs []journal.RecordedRun, p *healthResponse) error {
	now := m.now()
	for _, r := range runs {
		if r.Holder == nil && now.Sub(r.Last) > recent {
			delete(m.runs, r.ID)
			continue
		}
		s := m.runs[r.ID]
		if s == nil {
			s = state.NewState(r.ID).ReadPastFrom(m.place.Journal.Events(context.WithoutCancel(ctx), r.ID, 0))
			m.runs[r.ID] = s
		}
		for e, err := range m.place.Journal.Events(ctx, r.ID, s.Seq) {
			if err == nil {
				err = s.Apply(e)
			}
			if err != nil {
				delete(m.runs, r.ID)
				return err
			}
		}
		if s.Status.HasEnded() || s.Status == nexus.StatusIdle {
			continue
		}
		h := health.ReportFor(s, nil, r.Holder != nil, now)
		one := runHealth{
			Run: r.ID, Status: console.RunStatus(r, s), OK: h.OK && r.Holder != nil, Gone: r.Holder == nil,
			Alerts: []nexus.AlertKind{}, Silent: h.Silent,
		}
		for _, a := range h.Alerts {
			one.Alerts = append(one.Alerts, a.Kind)
		}
		p.OK = p.OK && one.OK
		p.Runs = append(p.Runs, one)
	}
	return nil
}
