// Package prometheus reads what Nexus writes for Prometheus with the library of
// Prometheus.
package prometheus

import (
	"os"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// TestText parses the golden file of face/metrics: names, types, labels and values
// are what was meant.
func TestText(t *testing.T) {
	f, err := os.Open("../../face/metrics/testdata/metrics.prom")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	p := expfmt.NewTextParser(model.LegacyValidation)
	all, err := p.TextToMetricFamilies(f)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 15 {
		t.Errorf("%d families", len(all))
	}
	for name, m := range all {
		if m.GetHelp() == "" || !strings.HasPrefix(name, "nexus_") || !model.LegacyValidation.IsValidMetricName(name) {
			t.Errorf("%s: %q", name, m.GetHelp())
		}
		if strings.HasSuffix(name, "_total") != (m.GetType().String() == "COUNTER") {
			t.Errorf("%s is a %s", name, m.GetType())
		}
	}
	waits := all["nexus_waiting_for_people"].GetMetric()
	if len(waits) != 1 || waits[0].GetGauge().GetValue() != 1 {
		t.Fatal(waits)
	}
	for _, l := range waits[0].GetLabel() {
		if l.GetName() == "repository" && l.GetValue() != `my "repo"\x` {
			t.Errorf("repository %q", l.GetValue())
		}
	}
	if got := all["nexus_spent_usd_total"].GetMetric()[0].GetCounter().GetValue(); got != 2.51 {
		t.Errorf("spent %v", got)
	}
}
