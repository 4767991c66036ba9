package plandraw

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// planEstimate says an estimate in words: a line for what it is taken from, one for
// the time and one for the money, and up to two for each task.
func planEstimate(e nexus.Estimate) string {
	var from []string
	if e.Samples > 0 {
		from = append(from, "from "+view.Count(e.Samples, "earlier task"))
	}
	if e.Thumb > 0 {
		thumb := "by a rule of thumb"
		if e.Samples > 0 {
			thumb += " for " + view.Count(e.Thumb, "task")
		}
		from = append(from, thumb)
	}
	between := betweenWords(strconv.Itoa(e.Low.Minutes), strconv.Itoa(e.High.Minutes))
	text := strings.TrimSpace("estimate "+strings.Join(from, ", ")) +
		fmt.Sprintf(":\n  time: about %d min%s, %d min of work", e.Minutes, between, e.Work)
	if e.Confidence != "" {
		text += fmt.Sprintf("; %s confidence", e.Confidence)
	}
	text += "\n  money: "
	switch {
	case e.Unpriced > 0:
		text += "unknown, " + view.Count(e.Unpriced, "task") + " without a known price"
	case e.Money > 0:
		text += "about " + e.Money.String() + betweenWords(e.Low.Money.String(), e.High.Money.String())
	default:
		text += "none"
	}
	text += "; at the worst " + e.Most.String() + ", the budget"
	for _, t := range e.Tasks {
		if len(e.Tasks) > 1 || len(t.Parts) > 1 || t.Samples > 0 {
			text += "\n  " + taskEstimate(t, e.Confidence)
		}
	}
	return text
}

// taskEstimate says the estimate of a task, and in a second line what adds to what the plan says. How sure that
// is is said where it is not as of all tasks.
func taskEstimate(e nexus.TaskEstimate, all nexus.Confidence) string {
	text := fmt.Sprintf("%s: about %s%s", e.Task, span(e.Likely.Seconds), betweenWords(span(e.Low.Seconds), span(e.High.Seconds)))
	if !e.Unpriced {
		text += ", " + e.Likely.Money.String() + betweenWords(e.Low.Money.String(), e.High.Money.String())
	}
	if e.Confidence != all {
		text += fmt.Sprintf(", %s confidence", e.Confidence)
	}
	if e.Samples > 0 {
		text += fmt.Sprintf(": %d landed %s", e.Samples, e.From)
	}
	if len(e.Parts) < 2 {
		return text
	}
	var parts []string
	for _, p := range e.Parts {
		var costs []string
		if p.Seconds != 0 {
			costs = append(costs, signed(p.Seconds, span))
		}
		if p.Money != 0 && !e.Unpriced {
			costs = append(costs, signed(int64(p.Money), func(n int64) string { return nexus.Money(n).String() }))
		}
		parts = append(parts, p.What+" "+strings.Join(costs, " "))
	}
	return text + "\n    " + strings.Join(parts, "; ")
}

// signed says by how much something changes an estimate.
func signed(n int64, words func(int64) string) string {
	if n < 0 {
		return "-" + words(-n)
	}
	return "+" + words(n)
}

// span says how many seconds something takes, as exactly as an estimate may be said.
func span(seconds int64) string {
	if seconds < 90 {
		return fmt.Sprintf("%d s", seconds)
	}
	return fmt.Sprintf("%d min", int64((time.Duration(seconds)*time.Second).Round(time.Minute)/time.Minute))
}

// betweenWords says a range, nothing where it is none.
func betweenWords(low, high string) string {
	if low == high {
		return ""
	}
	return " (" + low + " to " + high + ")"
}
