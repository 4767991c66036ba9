package stream_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli/stream"
)

// TestWindows reads what programs tell of the windows of their accounts.
func TestWindows(t *testing.T) {
	type window struct {
		name  string
		used  int
		until int64
	}
	claude := stream.NewDecoder("claude", "").DecodeLine
	for name, c := range map[string]struct {
		read func([]byte) []stream.AgentEvent
		line string
		want []window
	}{
		"five hours":    {claude, `{"type":"rate_limit_event","rate_limit_info":{"status":"allowed_warning","rateLimitType":"five_hour","resetsAt":1790000000,"utilization":0.62}}`, []window{{"5h", 62, 1790000000}}},
		"seven days":    {claude, `{"type":"rate_limit_event","rate_limit_info":{"status":"allowed","rateLimitType":"seven_day_opus","resetsAt":1790000000,"utilization":0}}`, []window{{"7d opus", 0, 1790000000}}},
		"nothing known": {claude, `{"type":"rate_limit_event","rate_limit_info":{"status":"allowed","rateLimitType":"five_hour","resetsAt":1790000000}}`, nil},
		"used up":       {claude, `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","rateLimitType":"seven_day","resetsAt":1790000000}}`, []window{{"7d", 100, 1790000000}}},
		"extra usage":   {claude, `{"type":"rate_limit_event","rate_limit_info":{"status":"allowed","rateLimitType":"overage","resetsAt":1790000000,"utilization":0.1}}`, []window{{"extra usage", 100, 1790000000}}},
		"beyond it":     {claude, `{"type":"rate_limit_event","rate_limit_info":{"status":"allowed","rateLimitType":"five_hour","resetsAt":1790000000,"utilization":0.1,"isUsingOverage":true}}`, []window{{"5h", 100, 1790000000}}},
		"all of them": {
			claude, `{"type":"rate_limit_event","rate_limit_info":{"status":"allowed","rateLimitType":"five_hour","resetsAt":1790000000,"unifiedWindows":{"seven_day":{"utilization":0.2,"resetsAt":1790000009},"five_hour":{"utilization":0.4,"resetsAt":1790000000}}}}`,
			[]window{{"7d", 20, 1790000009}, {"5h", 40, 1790000000}},
		},
		"codex":         {stream.ReadCodexLimits, `{"timestamp":"2026-10-01T10:00:00Z","type":"event_msg","payload":{"type":"token_count","info":null,"rate_limits":{"primary":{"used_percent":22.0,"window_minutes":300,"resets_at":1790000000},"secondary":{"used_percent":120,"window_minutes":10080,"resets_at":1790000001}}}}`, []window{{"5h", 22, 1790000000}, {"7d", 100, 1790000001}}},
		"codex, older":  {stream.ReadCodexLimits, `{"timestamp":"2026-10-01T10:00:00Z","type":"event_msg","payload":{"type":"token_count","rate_limits":{"primary":{"used_percent":5,"window_minutes":90,"resets_in_seconds":60},"secondary":null}}}`, []window{{"90m", 5, time.Date(2026, 10, 1, 10, 1, 0, 0, time.UTC).Unix()}}},
		"codex, no end": {stream.ReadCodexLimits, `{"type":"event_msg","payload":{"type":"token_count","rate_limits":{"primary":{"used_percent":5,"window_minutes":0,"resets_in_seconds":60}}}}`, []window{{"usage", 5, time.Time{}.Unix()}}},
		"another line":  {stream.ReadCodexLimits, `{"type":"response_item","payload":{"type":"message"}}`, nil},
		"no line":       {stream.ReadCodexLimits, `{"type":"event_msg","payload":{"type":"token_count","rate_limits":{"primary":7}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []window
			for _, e := range c.read([]byte(c.line)) {
				if e.Kind != stream.LimitReported {
					t.Errorf("it is %s", e.Kind)
				}
				got = append(got, window{e.Window, e.Used, e.Until.Unix()})
			}
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(window{})); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}
