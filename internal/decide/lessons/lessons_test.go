package lessons_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/lessons"
	"github.com/nexus-ai-builder/nexus/internal/decide/runhistory"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// day returns a time so many days later.
func day(n int) time.Time { return start.AddDate(0, 0, n) }

// climbed is a task that failed at the fast tier and landed at the next one, or
// landed at the fast one.
func climbed(n int, failed bool) runhistory.TaskRecord {
	t := runhistory.TaskRecord{
		ID: nexus.TaskID(fmt.Sprintf("T%d", n)), Kind: nexus.CodeTask, Stack: "go", Complexity: nexus.Simple,
		Tier: nexus.Fast, Status: nexus.Landed, Ended: day(n), Money: 5 * nexus.Dollar,
		Tries: []runhistory.AttemptSummary{{
			Tier: nexus.Fast, Counts: true, Accepted: !failed, Outcome: nexus.NoProgress,
			Failure: "test:1234", Money: nexus.Dollar,
		}},
	}
	if failed {
		t.Tries = append(t.Tries, runhistory.AttemptSummary{Tier: nexus.Balanced, Counts: true, Accepted: true, Money: 3 * nexus.Dollar})
	}
	return t
}

func draw(o lessons.Options, tasks ...runhistory.TaskRecord) *nexus.RunLessons {
	if o.Sample == 0 {
		o.Sample = 5
	}
	o.Usual = func(nexus.Complexity) nexus.Tier { return nexus.Fast }
	return lessons.LearnLessons([]runhistory.RunRecord{{ID: "r", Began: start, Tasks: tasks}}, o)
}

func tasks(failed ...bool) (all []runhistory.TaskRecord) {
	for i, f := range failed {
		all = append(all, climbed(i, f))
	}
	return all
}

// tier returns what is learned of Go tasks.
func tier(l *nexus.RunLessons) nexus.StartTierLesson {
	for _, x := range l.Tiers {
		if x.Kind == nexus.CodeTask && x.Stack == "go" {
			return x
		}
	}
	return nexus.StartTierLesson{}
}

func TestTiers(t *testing.T) {
	const no, yes = true, false // failed, or not
	six := tasks(yes, no, no, yes, no, no, no, no)
	got := tier(draw(lessons.Options{}, six...))
	want := nexus.StartTierLesson{
		Complexity: nexus.Simple, Kind: nexus.CodeTask, Stack: "go", Usual: nexus.Fast,
		Tier: nexus.Balanced, Tasks: 8, Seen: 8, Every: 5, Why: "6 of 8 tasks of this kind failed at fast",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for name, c := range map[string]struct {
		of   []runhistory.TaskRecord
		o    lessons.Options
		want nexus.Tier
	}{
		"too few":                  {tasks(no, no, no, no), lessons.Options{}, ""},
		"enough for less":          {tasks(no, no, no, no), lessons.Options{Sample: 4}, nexus.Balanced},
		"it works":                 {tasks(yes, yes, no, yes, yes, yes), lessons.Options{}, nexus.Fast},
		"it works again":           {tasks(no, no, no, no, no, no, no, no, yes, yes, yes), lessons.Options{}, nexus.Fast},
		"off":                      {six, lessons.Options{Off: map[nexus.LessonKind]bool{nexus.RoutingLesson: true}}, ""},
		"forgotten":                {six, lessons.Options{Since: map[nexus.LessonKind]time.Time{nexus.RoutingLesson: day(5)}}, ""},
		"no attempt at the next":   {six, lessons.Options{Able: func(t nexus.Tier) bool { return t == nexus.Fast }}, nexus.Fast},
		"stopped ones say nothing": {stopped(six), lessons.Options{}, ""},
	} {
		if got := tier(draw(c.o, c.of...)); got.Tier != c.want {
			t.Errorf("%s: %+v, want %s", name, got, c.want)
		}
	}
	// A hundred cases ago is forgotten, and a usual way that works is tried often.
	long := tasks(no, no, no, no, no, no)
	for i := range 120 {
		long = append(long, climbed(10+i, yes))
	}
	if got := tier(draw(lessons.Options{}, long...)); got.Tier != nexus.Fast || got.Tasks != 100 || got.Seen != 126 {
		t.Errorf("%+v", got)
	}
}

func stopped(all []runhistory.TaskRecord) (out []runhistory.TaskRecord) {
	for _, t := range all {
		t.Tries = []runhistory.AttemptSummary{{Tier: nexus.Fast, Outcome: nexus.Stopped}}
		out = append(out, t)
	}
	return out
}

func TestRetries(t *testing.T) {
	var all []runhistory.TaskRecord
	for i := range 6 {
		x := climbed(i, true)
		x.Tries = append(x.Tries[:1:1], x.Tries[0], x.Tries[1]) // a second try at fast that failed as well
		all = append(all, x)
	}
	want := []nexus.RetryTierLesson{{
		Tier: nexus.Fast, After: "test", Tasks: 6, Seen: 12, Every: 10,
		Why: "another try at fast after test landed 0 of 6 times",
	}}
	if d := cmp.Diff(want, draw(lessons.Options{}, all...).Retries); d != "" {
		t.Error(d)
	}
	for i := range all[:4] {
		all[i+2].Tries = []runhistory.AttemptSummary{all[i].Tries[0], {Tier: nexus.Fast, Counts: true, Accepted: true, Money: nexus.Dollar}}
	}
	if got := draw(lessons.Options{}, all...).Retries; len(got) > 0 {
		t.Errorf("a second try is worth it: %+v", got)
	}
}

func TestGates(t *testing.T) {
	run := func(gates ...runhistory.GateUsage) *nexus.GateOrderLesson {
		r := runhistory.RunRecord{ID: "r", Began: start, Tasks: tasks(false), Gates: gates}
		return lessons.LearnLessons([]runhistory.RunRecord{r}, lessons.Options{
			Sample: 5,
			Usual:  func(nexus.Complexity) nexus.Tier { return nexus.Fast },
		}).Gates
	}
	build, lint, test := runhistory.GateUsage{Name: "build", Judged: 20, Failed: 1, Seconds: 400}, runhistory.GateUsage{
		Name:   "lint",
		Judged: 19, Failed: 2, Seconds: 190,
	}, runhistory.GateUsage{Name: "test", Judged: 17, Failed: 9, Seconds: 170}
	got := run(build, lint, test)
	if got == nil || cmp.Diff([]string{"build", "test", "lint"}, got.Order) != "" {
		t.Errorf("%+v", got)
	}
	quick := runhistory.GateUsage{Name: "lint", Judged: 19, Failed: 2, Seconds: 1}
	if got := run(build, quick, test); got == nil || cmp.Diff([]string{"lint", "build", "test"}, got.Order) != "" {
		t.Errorf("what only reads comes before the build: %+v", got)
	}
	if got := run(build); got != nil {
		t.Errorf("one gate has an order: %+v", got)
	}
	if got := run(lint, runhistory.GateUsage{Name: "test", Judged: 4, Failed: 4}); got != nil {
		t.Errorf("four cases are too few: %+v", got)
	}
}

func TestFiles(t *testing.T) {
	var all []runhistory.TaskRecord
	for i := range 6 {
		x := climbed(i, false)
		x.Files, x.Changed, x.Read = []string{"pkg/a.go"}, []string{"pkg/a.go", "docs/a.md"}, []string{"pkg/b.go"}
		if i < 4 {
			x.Changed = append(x.Changed, "pkg/a_test.go")
		}
		if i < 2 {
			x.Changed = append(x.Changed, "rare.go")
		}
		all = append(all, x)
	}
	l := draw(lessons.Options{}, all...)
	want := []nexus.RelatedFileLesson{
		{Of: "pkg/", File: "docs/a.md", Cases: 6, Tasks: 6},
		{Of: "pkg/", File: "pkg/a_test.go", Cases: 4, Tasks: 6},
		{Of: "pkg/a.go", File: "docs/a.md", Cases: 6, Tasks: 6},
		{Of: "pkg/a.go", File: "pkg/a_test.go", Cases: 4, Tasks: 6},
	}
	if d := cmp.Diff(want, l.Touched); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(want[2:], lessons.CompanionFilesOf(l.Touched, []string{"pkg/a.go"})); d != "" {
		t.Error(d)
	}
	if got := lessons.CompanionFilesOf(l.Touched, []string{"pkg/new.go", "docs/a.md"}); len(got) != 1 || got[0].File != "pkg/a_test.go" {
		t.Errorf("%+v", got)
	}
	if len(l.Read) != 2 || l.Read[1].File != "pkg/b.go" {
		t.Errorf("%+v", l.Read)
	}
	if told := lessons.DescribeLessons(l); len(told) != 6 || told[0].Why != "6 of 6 tasks that declare pkg/ changed it" {
		t.Errorf("%+v", told)
	}
	if lessons.DescribeLessons(nil) == nil || (&nexus.RunLessons{}).HasLessons() || !l.HasLessons() {
		t.Error("nothing is a lesson")
	}
}

// TestEachKindAlone holds that each kind of lesson can be switched off, and forgotten, by itself: the others stay.
func TestEachKindAlone(t *testing.T) {
	var all []runhistory.TaskRecord
	for i := range 8 {
		x := climbed(i, true)
		x.Tries = append(x.Tries[:1:1], x.Tries[0], x.Tries[1])
		x.Files, x.Changed, x.Read = []string{"a.go"}, []string{"a.go", "b.go"}, []string{"c.go"}
		all = append(all, x)
	}
	run := runhistory.RunRecord{
		ID: "r", Began: start, Ended: day(8), Tasks: all,
		Gates: []runhistory.GateUsage{{Name: "lint", Judged: 19, Failed: 2, Seconds: 190}, {Name: "test", Judged: 17, Failed: 9, Seconds: 170}},
	}
	kinds := func(o lessons.Options) map[nexus.LessonKind]int {
		o.Sample, o.Usual = 5, func(nexus.Complexity) nexus.Tier { return nexus.Fast }
		found := map[nexus.LessonKind]int{}
		for _, l := range lessons.DescribeLessons(lessons.LearnLessons([]runhistory.RunRecord{run}, o)) {
			found[l.Kind]++
		}
		return found
	}
	whole := kinds(lessons.Options{})
	for _, kind := range []nexus.LessonKind{nexus.RoutingLesson, nexus.RetryLesson, nexus.GateOrder, nexus.TouchLesson, nexus.ContextLesson} {
		if whole[kind] == 0 {
			t.Errorf("nothing is learned about %s", kind)
		}
		want := map[nexus.LessonKind]int{}
		for k, n := range whole {
			if k != kind {
				want[k] = n
			}
		}
		if d := cmp.Diff(want, kinds(lessons.Options{Off: map[nexus.LessonKind]bool{kind: true}})); d != "" {
			t.Errorf("%s is off: %s", kind, d)
		}
		if d := cmp.Diff(want, kinds(lessons.Options{Since: map[nexus.LessonKind]time.Time{kind: day(100)}})); d != "" {
			t.Errorf("%s is forgotten: %s", kind, d)
		}
	}
}
