package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
)

// AccountLimitUsage is the used share of a limit of an agent program's account.
type AccountLimitUsage struct {
	Account string    `json:"account"`
	Name    string    `json:"window"` // 5h, 7d, or as the program names it
	Used    int       `json:"used"`   // percent
	Until   time.Time `json:"until"`  // when it resets
	Seconds float64   `json:"seconds"`
}

// OpenAccountLimits returns the known windows that have not reset since.
func OpenAccountLimits(all []state.AccountQuotaWindow, now time.Time) []AccountLimitUsage {
	var open []AccountLimitUsage
	for _, w := range all {
		if w.Until.After(now) {
			open = append(open, AccountLimitUsage{w.Account, w.Name, w.Used, w.Until, w.Until.Sub(now).Seconds()})
		}
	}
	return open
}

// Text describes the used share, and when the window resets.
func (w AccountLimitUsage) Text() string {
	return EscapeForTerminal(fmt.Sprintf("%s limit %d%%, resets %s", w.Name, w.Used, formatClock(w.Until, w.Until.Add(-secondsToDuration(w.Seconds)))))
}

// windowTexts returns the description of each account.
func windowTexts(all []AccountLimitUsage) []string {
	var texts []string
	for i, w := range all {
		if i > 0 && all[i-1].Account == w.Account {
			texts[len(texts)-1] += ", " + w.Text()
			continue
		}
		texts = append(texts, EscapeForTerminal(w.Account)+" "+w.Text())
	}
	return texts
}

// formatClock formats a time, with the day if it is not today.
func formatClock(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) || t.Sub(now) < 12*time.Hour {
		return t.Format("15:04")
	}
	return strings.TrimSpace(t.Format("Mon 2 Jan 15:04"))
}

// outOfQuotaText describes until when an account accepts no calls.
func outOfQuotaText(account string, until, now time.Time) string {
	return fmt.Sprintf("%s is out of quota until %s (in %s)", account, formatClock(until, now), FormatDuration(until.Sub(now)))
}

// sessionHoldText describes until when no session begins with an account.
func sessionHoldText(account string, until, now time.Time) string {
	return fmt.Sprintf("%s starts no session until %s (in %s)", account, formatClock(until, now), FormatDuration(until.Sub(now)))
}
