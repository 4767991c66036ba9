// Package estimatetext describes the estimate of a plan in words.
package estimatetext

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// PlanEstimateText is an estimate in words.
type PlanEstimateText struct {
	From  string // source of the estimate; empty: none
	Time  string
	Money string
	Tasks []TaskEstimateText // none if the summary is enough
}

// TaskEstimateText is the estimate of one task, and the factors beyond the plan.
type TaskEstimateText struct {
	Text  string
	Parts string // empty: none
}

// DescribeEstimate describes an estimate in words.
func DescribeEstimate(e nexus.PlanEstimate) PlanEstimateText {
	var from []string
	if e.Samples > 0 {
		from = append(from, "from "+view.CountWithNoun(e.Samples, "earlier task"))
	}
	if e.Thumb > 0 {
		thumb := "by a rule of thumb"
		if e.Samples > 0 {
			thumb += " for " + view.CountWithNoun(e.Thumb, "task")
		}
		from = append(from, thumb)
	}
	w := PlanEstimateText{From: strings.Join(from, ", "), Money: describeMoney(e)}
	between := rangeText(strconv.Itoa(e.Low.Minutes), strconv.Itoa(e.High.Minutes))
	w.Time = fmt.Sprintf("about %d min%s, %d min of work", e.Minutes, between, e.Work)
	if e.Confidence != "" {
		w.Time += fmt.Sprintf("; %s confidence", e.Confidence)
	}
	for _, t := range e.Tasks {
		if len(e.Tasks) > 1 || len(t.Parts) > 1 || t.Samples > 0 {
			w.Tasks = append(w.Tasks, describeTask(t, e.Confidence))
		}
	}
	return w
}

// describeMoney describes the money of an estimate. No amount is above the worst case, because the
// run ends when its budget is used up.
func describeMoney(e nexus.PlanEstimate) string {
	worst := "; at the worst " + e.Most.String() + ", the budget"
	switch {
	case e.Unpriced > 0:
		return "unknown, " + view.CountWithNoun(e.Unpriced, "task") + " without a known price" + worst
	case e.Money > e.Most:
		return "about " + e.Money.String() + ", more than the budget: the run ends when " + e.Most.String() + " are spent"
	case e.Money > 0:
		return "about " + e.Money.String() + rangeText(e.Low.Money.String(), min(e.High.Money, e.Most).String()) + worst
	default:
		return "none" + worst
	}
}

// String returns the estimate as lines: its source, the time, the money, and up to two lines for
// each task.
func (w PlanEstimateText) String() string {
	text := strings.TrimSpace("estimate "+w.From) + ":\n  time: " + w.Time + "\n  money: " + w.Money
	for _, t := range w.Tasks {
		if text += "\n  " + t.Text; t.Parts != "" {
			text += "\n    " + t.Parts
		}
	}
	return text
}

// describeTask describes the estimate of a task. It adds the confidence if that differs from the
// overall one.
func describeTask(e nexus.TaskEstimate, all nexus.EstimateConfidence) TaskEstimateText {
	text := fmt.Sprintf("%s: about %s%s", e.Task, durationText(e.Likely.Seconds), rangeText(durationText(e.Low.Seconds), durationText(e.High.Seconds)))
	if !e.Unpriced {
		text += ", " + e.Likely.Money.String() + rangeText(e.Low.Money.String(), e.High.Money.String())
	}
	if e.Confidence != all {
		text += fmt.Sprintf(", %s confidence", e.Confidence)
	}
	if e.Samples > 0 {
		text += fmt.Sprintf(": %d landed %s", e.Samples, e.From)
	}
	if len(e.Parts) < 2 {
		return TaskEstimateText{Text: text}
	}
	var parts []string
	for _, p := range e.Parts {
		var costs []string
		if p.Seconds != 0 {
			costs = append(costs, differenceText(p.Seconds, durationText))
		}
		if p.Money != 0 && !e.Unpriced {
			costs = append(costs, differenceText(int64(p.Money), func(n int64) string { return nexus.Money(n).String() }))
		}
		parts = append(parts, p.What+" "+strings.Join(costs, " "))
	}
	return TaskEstimateText{text, strings.Join(parts, "; ")}
}

// differenceText describes by how much a factor changes an estimate.
func differenceText(n int64, words func(int64) string) string {
	if n < 0 {
		return "-" + words(-n)
	}
	return "+" + words(n)
}

// durationText formats seconds with the precision of an estimate.
func durationText(seconds int64) string {
	if seconds < 90 {
		return fmt.Sprintf("%d s", seconds)
	}
	return fmt.Sprintf("%d min", int64((time.Duration(seconds)*time.Second).Round(time.Minute)/time.Minute))
}

// rangeText formats a range, empty if both ends are the same.
func rangeText(low, high string) string {
	if low == high {
		return ""
	}
	return " (" + low + " to " + high + ")"
}
