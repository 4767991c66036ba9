package view_test

import (
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/hostiletest"
)

// styles are how texts are drawn: without colours, which are sequences of their own.
func styles() []view.OutputStyle {
	return []view.OutputStyle{{Plain: true}, {Width: 60, Height: 24}, {Width: 120, Height: 40}, {ASCII: true, Width: 80}}
}

// TestNoFactIsObeyed draws a fact of every kind with hostile text in every field.
func TestNoFactIsObeyed(t *testing.T) {
	facts, err := hostiletest.HostileFacts(hostiletest.HostileText())
	if err != nil {
		t.Fatal(err)
	}
	drawn := 0
	for i, f := range facts {
		e := nexus.Event{Seq: int64(i + 1), Run: "261121-100000-abc", At: time.Unix(1_800_000_000, 0), Fact: f}
		for _, s := range styles() {
			for _, text := range []string{view.DrawEvent(s, e), (&view.EventLineDrawer{}).Draw(s, e), (&view.EventLineDrawer{Verbose: true}).Draw(s, e)} {
				if text != "" {
					drawn++
				}
				if bad := hostiletest.ObeyedPart(text); bad != "" {
					t.Errorf("%s: %q", nexus.FactKind(f), bad)
				}
			}
		}
	}
	if drawn < 4*len(facts) {
		t.Errorf("%d lines of %d facts", drawn, len(facts))
	}
}

// TestNoRunIsObeyed draws a run with hostile text in every field.
func TestNoRunIsObeyed(t *testing.T) {
	var r view.RunView
	hostiletest.FillFields(&r, hostiletest.HostileText())
	for _, s := range styles() {
		for name, text := range map[string]string{
			"status": view.DrawStatus(s, r), "live": view.DrawLiveStatus(s, r), "report": view.DrawReport(s, r, true), "runs": view.DrawRunOverview(s, []view.RunView{r}),
			"delivered": r.DeliveryText(),
		} {
			if bad := hostiletest.ObeyedPart(text); bad != "" {
				t.Errorf("%s: %q", name, bad)
			}
		}
	}
}
