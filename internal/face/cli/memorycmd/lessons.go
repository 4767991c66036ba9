package memorycmd

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/lessons"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// lessonList is the JSON output of the lessons.
type lessonList struct {
	Lessons []lessons.LessonDescription `json:"lessons"`
	Off     []nexus.LessonKind          `json:"off"`    // kinds of lessons that are turned off
	Sample  int                         `json:"sample"` // minimum number of tasks behind a lesson
	Runs    int                         `json:"runs"`
}

// listLessons lists the lessons of a kind, or all, for a run that starts now.
func listLessons(ctx context.Context, o *Options) (*lessonList, error) {
	settings, _, err := o.Console.LoadSettings()
	if err != nil {
		return nil, err
	}
	p, err := o.Console.OpenRepository(ctx, app.ReadAccess)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	drawn, runs, err := o.Console.LearnLessons(ctx, p, settings)
	if err != nil {
		return nil, err
	}
	l := &lessonList{Lessons: lessons.DescribeLessons(drawn), Off: disabledLessonKinds(settings), Sample: settings.Lessons.Sample, Runs: len(runs)}
	if len(o.LessonKinds) > 0 {
		l.Lessons = slices.DeleteFunc(l.Lessons, func(t lessons.LessonDescription) bool { return !slices.Contains(o.LessonKinds, t.Kind) })
	}
	return l, nil
}

func disabledLessonKinds(c config.Config) []nexus.LessonKind {
	if c.Lessons.Enabled {
		return []nexus.LessonKind{}
	}
	return nexus.LessonKinds()
}

// parseLessonKinds parses kinds of lessons.
func parseLessonKinds(names []string) ([]nexus.LessonKind, error) {
	var kinds []nexus.LessonKind
	for _, name := range names {
		if !slices.Contains(nexus.LessonKinds(), nexus.LessonKind(name)) {
			return nil, &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "there is no kind of lesson " + view.QuoteForTerminal(name),
				Hint: "Use " + kindNames(nexus.LessonKinds()) + ".",
			}
		}
		kinds = append(kinds, nexus.LessonKind(name))
	}
	return kinds, nil
}

// kindNames lists kinds, as text.
func kindNames[K ~string](kinds []K) string {
	var names []string
	for _, k := range kinds {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}

func drawLessons(s view.OutputStyle, l lessonList) string {
	text := ""
	if len(l.Off) > 0 {
		text = "turned off: " + kindNames(l.Off) + "\n"
	}
	if len(l.Lessons) == 0 {
		return text + fmt.Sprintf("there are no lessons from %s yet: each lesson needs at least %s\n", view.CountWithNoun(l.Runs,
			"run"), view.CountWithNoun(l.Sample, "task"))
	}
	return text + lessonTable(s, l.Lessons)
}

func lessonTable(s view.OutputStyle, all []lessons.LessonDescription) string {
	rows := make([][]string, len(all))
	for i, t := range all {
		rows[i] = []string{string(t.Kind), view.EscapeForTerminal(t.About), view.EscapeForTerminal(t.Says), view.EscapeForTerminal(t.Why), strconv.Itoa(t.Tasks)}
	}
	return view.DrawTable(s, []string{"kind", "about", "so it", "because", "tasks"}, rows)
}

// usedLessons is the JSON output of the lessons of a run.
type usedLessons struct {
	Run     nexus.RunID                 `json:"run"`
	Lessons []lessons.LessonDescription `json:"lessons"`
	Used    []nexus.StartTierChosen     `json:"used"` // tasks that started as the lessons suggest
}

// showUsedLessons prints the lessons that a run started with, and the tasks that they changed.
func showUsedLessons(ctx context.Context, o *UsedOptions) error {
	return o.Console.ReadRun(ctx, o.Run, func(_ *app.Repository, r journal.RecordedRun, s *state.State) error {
		l := usedLessons{Run: r.ID, Lessons: lessons.DescribeLessons(s.Goal.Routing.Lessons), Used: []nexus.StartTierChosen{}}
		for _, t := range s.Tasks {
			if t.Route != nil && t.Route.By == "adaptive" {
				l.Used = append(l.Used, *t.Route)
			}
		}
		return o.Console.Answer(l, func(s view.OutputStyle) string { return drawShown(s, l) })
	})
}

func drawShown(s view.OutputStyle, l usedLessons) string {
	if len(l.Lessons) == 0 {
		return "run " + string(l.Run) + " had no lessons when it started\n"
	}
	text := lessonTable(s, l.Lessons)
	for _, r := range l.Used {
		_, says := view.DescribeFact(r)
		text += string(r.Task) + ": " + view.EscapeForTerminal(says) + "\n"
	}
	return text
}

// resetLessons makes new runs ignore everything that ran before now, for the kinds or for all.
func resetLessons(ctx context.Context, o *ResetOptions) error {
	kinds := o.Kinds
	if len(kinds) == 0 {
		kinds = nexus.LessonKinds()
	}
	p, err := o.Console.OpenRepository(ctx, app.ReadAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	now := o.Console.Now()
	if err := p.ResetLessons(now, kinds...); err != nil {
		return err
	}
	return o.Console.Answer(map[string]any{"reset": kinds, "since": now.UTC()}, func(view.OutputStyle) string {
		return "new runs ignore everything that ran before now; nexus runs --stats still shows it\n"
	})
}
