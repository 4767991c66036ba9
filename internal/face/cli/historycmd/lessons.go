package historycmd

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/lessons"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

func lessonsCommand(a *console.Console) *cobra.Command {
	return a.ParentCommand("lessons", "show the lessons that new runs take from earlier ones", lessonListCommand(a),
		lessonShowCommand(a), lessonResetCommand(a))
}

// lessonList is the JSON output of nexus lessons list.
type lessonList struct {
	Lessons []lessons.LessonText `json:"lessons"`
	Off     []nexus.LessonKind   `json:"off"`    // kinds of lessons that are turned off
	Sample  int                  `json:"sample"` // minimum number of tasks behind a lesson
	Runs    int                  `json:"runs"`
}

func lessonListCommand(a *console.Console) *cobra.Command {
	c := a.Command("list [KIND] [--json]", "list the lessons for a run that starts now", func(ctx context.Context, args []string) error {
		kind, err := kindOf(console.FirstArg(args))
		if err != nil {
			return err
		}
		l, err := listLessons(ctx, a, kind)
		if err != nil {
			return err
		}
		return a.Answer(l, func(s view.Style) string { return drawLessons(s, l) })
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.ArgCount(0, 1)
	a.JSONFlag(c)
	return c
}

func listLessons(ctx context.Context, a *console.Console, kind nexus.LessonKind) (lessonList, error) {
	settings, _, err := a.LoadSettings()
	if err != nil {
		return lessonList{}, err
	}
	p, err := a.OpenRepository(ctx, app.ReadAccess)
	if err != nil {
		return lessonList{}, err
	}
	defer p.Close()
	drawn, runs, err := a.LearnLessons(ctx, p, settings)
	if err != nil {
		return lessonList{}, err
	}
	l := lessonList{Lessons: lessons.DescribeLessons(drawn), Off: disabledLessonKinds(settings), Sample: settings.Lessons.Sample, Runs: len(runs)}
	if kind != "" {
		l.Lessons = slices.DeleteFunc(l.Lessons, func(t lessons.LessonText) bool { return t.Kind != kind })
	}
	return l, nil
}

func disabledLessonKinds(c config.Config) []nexus.LessonKind {
	if c.Lessons.Enabled {
		return []nexus.LessonKind{}
	}
	return nexus.LessonKinds()
}

// kindOf parses a kind of lesson; empty means any.
func kindOf(name string) (nexus.LessonKind, error) {
	if name == "" || slices.Contains(nexus.LessonKinds(), nexus.LessonKind(name)) {
		return nexus.LessonKind(name), nil
	}
	var known []string
	for _, k := range nexus.LessonKinds() {
		known = append(known, string(k))
	}
	return "", &nexus.Error{
		Code: nexus.CodeInvalidInput, Message: "there is no kind of lesson " + view.Quote(name),
		Hint: "Use " + strings.Join(known, ", ") + ".",
	}
}

func drawLessons(s view.Style, l lessonList) string {
	text := ""
	if len(l.Off) > 0 {
		var names []string
		for _, k := range l.Off {
			names = append(names, string(k))
		}
		text = "turned off: " + strings.Join(names, ", ") + "\n"
	}
	if len(l.Lessons) == 0 {
		return text + fmt.Sprintf("there are no lessons from %s yet: each lesson needs at least %s\n", view.Count(l.Runs,
			"run"), view.Count(l.Sample, "task"))
	}
	return text + lessonTable(s, l.Lessons)
}

func lessonTable(s view.Style, all []lessons.LessonText) string {
	rows := make([][]string, len(all))
	for i, t := range all {
		rows[i] = []string{string(t.Kind), view.Clean(t.About), view.Clean(t.Says), view.Clean(t.Why), strconv.Itoa(t.Tasks)}
	}
	return view.DrawTable(s, []string{"kind", "about", "so it", "because", "tasks"}, rows)
}

// lessonShow is the JSON output of nexus lessons show.
type lessonShow struct {
	Run     nexus.RunID          `json:"run"`
	Lessons []lessons.LessonText `json:"lessons"`
	Used    []nexus.TaskRouted   `json:"used"` // tasks that started as the lessons suggest
}

func lessonShowCommand(a *console.Console) *cobra.Command {
	c := a.Command("show [RUN] [--json]", "show the lessons that a run started with, and the tasks that they changed",
		func(ctx context.Context, args []string) error {
			return a.ReadRun(ctx, console.FirstArg(args), func(_ *app.Repository, r journal.RecordedRun, s *state.State) error {
				l := lessonShow{Run: r.ID, Lessons: lessons.DescribeLessons(s.Goal.Routing.Lessons), Used: []nexus.TaskRouted{}}
				for _, t := range s.Tasks {
					if t.Route != nil && t.Route.By == "adaptive" {
						l.Used = append(l.Used, *t.Route)
					}
				}
				return a.Answer(l, func(s view.Style) string { return drawShown(s, l) })
			})
		}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.ArgCount(0, 1)
	a.JSONFlag(c)
	return c
}

func drawShown(s view.Style, l lessonShow) string {
	if len(l.Lessons) == 0 {
		return "run " + string(l.Run) + " had no lessons when it started\n"
	}
	text := lessonTable(s, l.Lessons)
	for _, r := range l.Used {
		_, says := view.DescribeFact(r)
		text += string(r.Task) + ": " + view.Clean(says) + "\n"
	}
	return text
}

func lessonResetCommand(a *console.Console) *cobra.Command {
	c := a.Command("reset [KIND]... [--json]", "make new runs ignore everything that ran before now",
		func(ctx context.Context, args []string) error {
			kinds := nexus.LessonKinds()
			if len(args) > 0 {
				kinds = nil
			}
			for _, name := range args {
				k, err := kindOf(name)
				if err != nil {
					return err
				}
				kinds = append(kinds, k)
			}
			p, err := a.OpenRepository(ctx, app.ReadAccess)
			if err != nil {
				return err
			}
			defer p.Close()
			now := a.Now()
			if err := p.ResetLessons(now, kinds...); err != nil {
				return err
			}
			return a.Answer(map[string]any{"reset": kinds, "since": now.UTC()}, func(view.Style) string {
				return "new runs ignore everything that ran before now; nexus history still shows it\n"
			})
		}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.ArgCount(0, len(nexus.LessonKinds()))
	a.JSONFlag(c)
	return c
}
