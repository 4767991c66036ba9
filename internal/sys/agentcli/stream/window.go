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

// claudeWindow is how much of a window is used, as Claude Code tells it: of the
// one that is nearest to its end, or, where its version does so, of all.
type claudeWindow struct {
	Status string                  `json:"status"`
	Type   string                  `json:"rateLimitType"`
	Resets float64                 `json:"resetsAt"`
	Used   *float64                `json:"utilization"` // a share
	Extra  bool                    `json:"isUsingOverage"`
	All    map[string]claudeWindow `json:"unifiedWindows"`
}

// claudeNames are what Claude Code calls windows.
func claudeNames(name string) string {
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
		return windowName(strings.ReplaceAll(strings.Replace(name, "seven_day_", "7d ", 1), "_", " "))
	}
}

// windowName returns a name that is short enough to be shown.
func windowName(name string) string { return sanitize.Cut(strings.Join(strings.Fields(name), " "), 40) }

// events returns what there is to tell. What is used beyond the window, and paid
// for, counts as a window that is used up.
func (w claudeWindow) events() []Event {
	var all []Event
	add := func(name string, w claudeWindow) {
		e := Event{Kind: Limited, Window: claudeNames(name), Until: seconds(w.Resets)}
		switch {
		case w.Status == "rejected" || w.Extra || name == "overage":
			e.Used = 100
		case w.Used == nil:
			return // it says only that there is something left
		default:
			e.Used = percent(*w.Used)
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

// maxWindows is how many windows of an account are told of at once.
const maxWindows = 8

func percent(share float64) int {
	if !(share > 0) {
		return 0
	}
	return int(math.Round(min(share, 1) * 100))
}

// seconds returns the time of a Unix time, zero for none.
func seconds(s float64) time.Time {
	if !(s > 0) || s > 1e11 {
		return time.Time{}
	}
	return time.Unix(int64(s), 0).UTC()
}

// codexCount is what Codex writes after each answer of its model: into its own
// record of the conversation, and not into what it prints.
type codexCount struct {
	At      time.Time `json:"timestamp"`
	Type    string    `json:"type"`
	Payload struct {
		Type   string `json:"type"`
		Limits struct {
			Primary   *codexWindow `json:"primary"`
			Secondary *codexWindow `json:"secondary"`
		} `json:"rate_limits"`
	} `json:"payload"`
}

type codexWindow struct {
	Used    float64 `json:"used_percent"`
	Minutes int     `json:"window_minutes"`
	Resets  float64 `json:"resets_at"`
	Left    float64 `json:"resets_in_seconds"` // of older versions
}

// CodexLimits returns how much of the account's windows is used by a line of the
// record that Codex keeps of a conversation; nothing for any other line.
func CodexLimits(line []byte) []Event {
	var c codexCount
	if json.Unmarshal(line, &c) != nil || c.Type != "event_msg" || c.Payload.Type != "token_count" {
		return nil
	}
	var all []Event
	for _, w := range []*codexWindow{c.Payload.Limits.Primary, c.Payload.Limits.Secondary} {
		if w == nil {
			continue
		}
		e := Event{Kind: Limited, Window: span(w.Minutes), Used: percent(w.Used / 100), Until: seconds(w.Resets)}
		if e.Until.IsZero() && w.Left > 0 && w.Left < 1e8 && !c.At.IsZero() {
			e.Until = c.At.Add(time.Duration(w.Left) * time.Second).UTC()
		}
		all = append(all, e)
	}
	return all
}

// span names a window by how long it is.
func span(minutes int) string {
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
