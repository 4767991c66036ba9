package startcmd

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// planEstimate says an estimate in words: a line for what it is taken from, one for
// the time and one for the money.
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
	text := strings.TrimSpace("estimate "+strings.Join(from, ", ")) +
		fmt.Sprintf(":\n  time: about %d min%s, %d min of work", e.Minutes,
			betweenWords(strconv.Itoa(e.Low.Minutes), strconv.Itoa(e.High.Minutes)), e.Work)
	text += "\n  money: "
	switch {
	case e.Unpriced > 0:
		text += "unknown, " + view.Count(e.Unpriced, "task") + " without a known price"
	case e.Money > 0:
		text += "about " + e.Money.String() + betweenWords(e.Low.Money.String(), e.High.Money.String())
	default:
		text += "none"
	}
	return text + "; at the worst " + e.Most.String() + ", the budget"
}

// betweenWords says a range, nothing where it is none.
func betweenWords(low, high string) string {
	if low == high {
		return ""
	}
	return " (" + low + " to " + high + ")"
}
