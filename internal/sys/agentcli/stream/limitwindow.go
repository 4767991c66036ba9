package stream

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// claudeLimitWindow is the usage of a window as Claude Code reports it: of the window that is nearest
// to its limit, or, in some versions, of all windows.
type claudeLimitWindow struct {
	Status string                       `json:"status"`
	Type   string                       `json:"rateLimitType"`
	Resets float64                      `json:"resetsAt"`
	Used   *float64                     `json:"utilization"` // a fraction
	Extra  bool                         `json:"isUsingOverage"`
	All    map[string]claudeLimitWindow `json:"unifiedWindows"`
}

// claudeWindowName maps Claude Code's names of windows to ours.
func claudeWindowName(name string) string {
	switch name {
	case "":
		return "usage"
	case "five_hour":
		return "5h"
	case "seven_day":
		return "7d"
	case "overage":
		return "extra usage"
	default:
		return displayWindowName(strings.ReplaceAll(strings.Replace(name, "seven_day_", "7d ", 1), "_", " "))
	}
}

// displayWindowName shortens a name for display.
func displayWindowName(name string) string {
	return sanitize.TruncateText(strings.Join(strings.Fields(name), " "), 40)
}

// limitEvents returns the events of the windows. Paid usage beyond a window counts as a full window.
func (w claudeLimitWindow) limitEvents() []AgentEvent {
	var all []AgentEvent
	add := func(name string, w claudeLimitWindow) {
		e := AgentEvent{Kind: LimitReported, Window: claudeWindowName(name), Until: unixTime(w.Resets)}
		switch {
		case w.Status == "rejected" || w.Extra || name == "overage":
			e.Used = 100
		case w.Used == nil:
			return // reports only that some quota is left
		default:
			e.Used = toPercent(*w.Used)
		}
		all = append(all, e)
	}
	for _, name := range slices.Sorted(maps.Keys(w.All)) {
		if len(all) < maxWindows && name != w.Type {
			add(name, w.All[name])
		}
	}
	if own, ok := w.All[w.Type]; ok && w.Used == nil {
		w.Used = own.Used
	}
	add(w.Type, w)
	return all
}

// maxWindows limits the reported windows of an account.
const maxWindows = 8

func toPercent(share float64) int {
	if !(share > 0) {
		return 0
	}
	return int(math.Round(min(share, 1) * 100))
}

// unixTime converts a Unix time; zero for none.
func unixTime(s float64) time.Time {
	if !(s > 0) || s > 1e11 {
		return time.Time{}
	}
	return time.Unix(int64(s), 0).UTC()
}

// codexUsageRecord is the usage that Codex writes after each response of its model: to its own record of
// the conversation, and not to its output.
type codexUsageRecord struct {
	At      time.Time `json:"timestamp"`
	Type    string    `json:"type"`
	Payload struct {
		Type   string `json:"type"`
		Limits struct {
			Primary   *codexLimitWindow `json:"primary"`
			Secondary *codexLimitWindow `json:"secondary"`
		} `json:"rate_limits"`
	} `json:"payload"`
}

type codexLimitWindow struct {
	Used    float64 `json:"used_percent"`
	Minutes int     `json:"window_minutes"`
	Resets  float64 `json:"resets_at"`
	Left    float64 `json:"resets_in_seconds"` // in older versions
}

// ReadCodexLimits returns the usage of the account's windows from a line of Codex's record of a
// conversation, and nothing for any other line.
func ReadCodexLimits(line []byte) []AgentEvent {
	var c codexUsageRecord
	if json.Unmarshal(line, &c) != nil || c.Type != "event_msg" || c.Payload.Type != "token_count" {
		return nil
	}
	var all []AgentEvent
	for _, w := range []*codexLimitWindow{c.Payload.Limits.Primary, c.Payload.Limits.Secondary} {
		if w == nil {
			continue
		}
		e := AgentEvent{Kind: LimitReported, Window: windowNameOfLength(w.Minutes), Used: toPercent(w.Used / 100), Until: unixTime(w.Resets)}
		if e.Until.IsZero() && w.Left > 0 && w.Left < 1e8 && !c.At.IsZero() {
			e.Until = c.At.Add(time.Duration(w.Left) * time.Second).UTC()
		}
		all = append(all, e)
	}
	return all
}

// windowNameOfLength names a window by its length.
func windowNameOfLength(minutes int) string {
	const day = 24 * 60
	switch {
	case minutes <= 0:
		return "usage"
	case minutes%day == 0:
		return fmt.Sprintf("%dd", minutes/day)
	case minutes%60 == 0:
		return fmt.Sprintf("%dh", minutes/60)
	default:
		return fmt.Sprintf("%dm", minutes)
	}
}
