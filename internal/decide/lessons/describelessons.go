package lessons

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// LessonDescription is a lesson in words.
type LessonDescription struct {
	Kind  nexus.LessonKind `json:"kind"`
	About string           `json:"about"` // its subject
	Says  string           `json:"says"`  // its consequence
	Why   string           `json:"why"`
	Tasks int              `json:"tasks"` // tasks that it is based on
}

// DescribeLessons returns lessons in words.
func DescribeLessons(l *nexus.RunLessons) []LessonDescription {
	all := []LessonDescription{}
	if l == nil {
		return all
	}
	for _, x := range l.Tiers {
		if x.Tier == x.Usual {
			continue // no tier is better than the usual one
		}
		says := "starts at " + string(x.Tier)
		if x.Every > 0 {
			says += fmt.Sprintf(", one in %d at %s", x.Every, x.Usual)
		}
		all = append(all, LessonDescription{nexus.RoutingLesson, taskClassText(x), says, x.Why, x.Tasks})
	}
	for _, x := range l.Retries {
		next, _ := x.Tier.NextTier()
		says := fmt.Sprintf("continues at %s at once, except one in %d", next, x.Every)
		all = append(all, LessonDescription{nexus.RetryLesson, x.After + " at " + string(x.Tier), says, x.Why, x.Tasks})
	}
	if g := l.Gates; g != nil {
		all = append(all, LessonDescription{nexus.GateOrder, "order", strings.Join(g.Order, ", ") + ", then the others", g.Why, g.Tasks})
	}
	for _, x := range l.Touched {
		all = append(all, fileLesson(nexus.TouchLesson, x, "also changes ", "changed"))
	}
	for _, x := range l.Read {
		all = append(all, fileLesson(nexus.ContextLesson, x, "reads ", "read"))
	}
	return all
}

func fileLesson(kind nexus.LessonKind, x nexus.RelatedFileLesson, says, did string) LessonDescription {
	return LessonDescription{kind, x.Of, says + x.File, fmt.Sprintf("%d of %d tasks that declare %s %s it", x.Cases, x.Tasks, x.Of, did), x.Tasks}
}

func taskClassText(x nexus.StartTierLesson) string {
	return strings.Join([]string{string(x.Complexity), string(cmp.Or(x.Kind, "any kind")), cmp.Or(x.Stack, "any stack")}, ", ")
}
