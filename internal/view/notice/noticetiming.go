package notice

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/decide/improveloop"
)

// DeliveryRule selects notices for channels. The zero Rule matches all notices on all channels.
type DeliveryRule struct {
	Kinds    []NoticeKind                // empty: all
	Severity humaninput.QuestionSeverity // at least; empty: any
	Ways     []string                    // channels; empty: all
}

// accepts reports whether a rule sends a notice to a channel.
func (r DeliveryRule) accepts(n Notice, way string) bool {
	return (len(r.Kinds) == 0 || slices.Contains(r.Kinds, n.Kind)) && IsAtLeast(n.Severity, r.Severity) &&
		(len(r.Ways) == 0 || slices.Contains(r.Ways, way))
}

// ShouldSend reports whether a notice is sent to a channel: at least one rule matches, or
// there are no rules.
func ShouldSend(rules []DeliveryRule, n Notice, way string) bool {
	return len(rules) == 0 || slices.ContainsFunc(rules, func(r DeliveryRule) bool { return r.accepts(n, way) })
}

// NoticeTiming sets when notices are sent. The zero Timing sends each at once.
type NoticeTiming struct {
	Quiet   improveloop.WeeklyHours     // hours in which only notices of severity Through or higher are sent
	Zone    *time.Location              // of the quiet hours and the digest; nil: UTC
	Through humaninput.QuestionSeverity // severity from which a notice is sent at once, also in quiet hours; empty: none
	Window  time.Duration               // time for which a notice waits for others
	// time of day, such as 18:00, at which all other notices are sent together; empty: no
	// digest
	Digest string
	Most   int // notices in a message; 0: any number
}

// Check returns the problem with the time of the digest.
func (t NoticeTiming) Check() error {
	if t.Digest == "" {
		return nil
	}
	if _, err := time.Parse("15:04", t.Digest); err != nil || len(t.Digest) != len("15:04") {
		return fmt.Errorf("%q is not a time of day: write 18:00", t.Digest)
	}
	return nil
}

// dueTime returns when a notice may be sent.
func (t NoticeTiming) dueTime(n Notice, now time.Time) time.Time {
	if t.Through != "" && IsAtLeast(n.Severity, t.Through) {
		return n.At
	}
	zone := t.Zone
	if zone == nil {
		zone = time.UTC
	}
	at := n.At.Add(t.Window)
	if t.Digest != "" {
		at = nextClockTime(n.At.In(zone), t.Digest)
	}
	if at.Before(now) {
		at = now
	}
	end, _ := t.Quiet.EndOfCurrentHours(at.In(zone))
	return end
}

// nextClockTime returns the next time at which the clock shows a time of day.
func nextClockTime(after time.Time, clock string) time.Time {
	c, err := time.Parse("15:04", clock)
	if err != nil {
		return after
	}
	for day := range 3 {
		at := time.Date(after.Year(), after.Month(), after.Day()+day, c.Hour(), c.Minute(), 0, 0, after.Location())
		if at.After(after) {
			return at
		}
	}
	return after
}

// NextDigestTime returns the waiting notices to send now, the oldest first, or if there are none, the
// time of the next ones.
func (t NoticeTiming) NextDigestTime(waiting []Notice, now time.Time) (send []Notice, at time.Time) {
	for _, n := range waiting {
		switch due := t.dueTime(n, now); {
		case !due.After(now):
			send = append(send, n)
		case at.IsZero() || due.Before(at):
			at = due
		}
	}
	if len(send) == 0 {
		return nil, at
	}
	if t.Digest == "" { // others are due, so it is sent with them
		if joined := t.joinableNotices(waiting, now); len(joined) > len(send) {
			send = joined
		}
	}
	if t.Most > 0 && len(send) > t.Most {
		send = send[:t.Most]
	}
	return slices.Clone(send), now
}

// joinableNotices returns all notices that only wait for others.
func (t NoticeTiming) joinableNotices(waiting []Notice, now time.Time) []Notice {
	t.Window = 0
	return slices.DeleteFunc(slices.Clone(waiting), func(n Notice) bool { return t.dueTime(n, now).After(now) })
}

// String describes in words when notices are sent.
func (t NoticeTiming) String() string {
	var all []string
	switch {
	case t.Digest != "":
		all = append(all, "once a day at "+t.Digest)
	case t.Window > 0:
		all = append(all, "after "+t.Window.String())
	default:
		all = append(all, "at once")
	}
	if t.Most > 0 {
		all = append(all, fmt.Sprintf("at most %d in a message", t.Most))
	}
	if t.Through != "" && (t.Digest != "" || t.Window > 0) {
		all = append(all, string(t.Through)+" at once")
	}
	return strings.Join(all, ", ")
}
