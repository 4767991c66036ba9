package page

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"
	"golang.org/x/net/html"

	"github.com/nexus-ai-builder/nexus/internal/face/web/access"
	"github.com/nexus-ai-builder/nexus/internal/face/web/commandjson"
	"github.com/nexus-ai-builder/nexus/internal/face/web/gatererun"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// fill sets every field of a value, and of all that is in it: texts to text,
// lists to two elements.
func fill(v reflect.Value, text string, deep int) {
	switch {
	case !v.CanSet() || deep > 8:
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(1_800_000_000, 0)))
	case v.Kind() == reflect.String:
		v.SetString(text)
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), text, deep+1)
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), text, deep+1)
		}
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), text, deep+1)
		}
	case v.CanInt():
		v.SetInt(3)
	case v.CanFloat():
		v.SetFloat(3)
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	}
}

func filled[T any](text string) T {
	var v T
	fill(reflect.ValueOf(&v).Elem(), text, 0)
	return v
}

// drawn are all screens, with every value a text.
func drawn(v string) map[string]templ.Component {
	f := filled[PageFrame](v)
	f.Person.Role, f.Run.Held = access.Admin, nil
	for i := range f.RunActions {
		f.RunActions[i] = can(v, i)
	}
	items := filled[[]projection.InboxItem](v)
	for i := range items {
		items[i].Actions = []ItemAction{can(v, 0), can(v, 1), filled[ItemAction](v)}
	}
	task := filled[projection.TaskDetailView](v)
	task.Actions = append(items[0].Actions, ItemAction{Name: "tell", Label: v, Role: string(access.Steer), Input: projection.InputText})
	task.Inbox = items
	board := filled[Board](v)
	lanes := board.GroupRows[0].Lanes
	lanes[0].Cards[0].Actions = items[0].Actions
	graph, chart := layOutGraph(filled[projection.PlanGraph](v), []nexus.TaskID{nexus.TaskID(v)}), filled[TimelineChart](v)
	checks := filled[projection.GateResultTable](v)
	return map[string]templ.Component{
		"inbox": inboxScreen(f, items, filled[[]view.RunView](v), filled[[]view.RunView](v)), "board": boardScreen(f, board), "task": taskScreen(f, task, filled[[]TranscriptView](v), v), "session": sessionScreen(f, filled[TranscriptView](v)),
		"review": reviewScreen(f, reviewOf(v, items, false)), "split review": reviewScreen(f, reviewOf(v, items, true)), "no review": reviewScreen(f, ReviewPage{None: v}),
		"graph": graphScreen(f, graph, nexus.TaskID(v), []nexus.TaskID{nexus.TaskID(v)}), "timeline": timelineScreen(f, chart), "checks": checksScreen(f, checks, filled[[]FailedGate](v), filled[[]gatererun.GateRerun](v)),
		"cost": costScreen(f, filled[projection.RunCostView](v), filled[[]ModelCostAlternative](v)), "plan": planScreen(f, plannerOf(v, []projection.TaskDetailView{task}, items)), "runs": runsScreen(f, filled[[]view.RunView](v), v, v),
		"replay": replayScreen(f, filled[ReplayView](v), lanes), "log": logScreen(f, filled[[]projection.EventLogLine](v), "/x"), "memory": memoryScreen(f, filled[[]MemoryEntryRow](v), v, filled[commandjson.RulesOutput](v), ""),
		"settings": settingsScreen(f, shelfOf(v)), "doctor": doctorScreen(f, filled[[]commandjson.DoctorCheck](v), v), "interview": interviewScreen(f, talksOf(v, items)),
		"problem": problemScreen(f, v, v, v),
	}
}

// reviewOf is a change to review, with every value a text.
func reviewOf(v string, items []projection.InboxItem, split bool) ReviewPage {
	d := filled[ReviewPage](v)
	d.None, d.Landed, d.Approved, d.Question, d.Split, d.Inbox, d.Path = "", "", "", "", split, items, "/x"
	for i := range d.Shown {
		for n := range d.Shown[i].Rows {
			r := &d.Shown[i].Rows[n]
			if r.Head = []string{"", v}[n%2]; !split {
				r.B = nil
			}
		}
	}
	return d
}

// shelfOf is all settings and one that somebody changes, with every value a text.
func shelfOf(v string) SettingsPage {
	s := filled[SettingsPage](v)
	s.Editor.Values = nil
	return s
}

// talksOf is an interview, with every value a text.
func talksOf(v string, items []projection.InboxItem) projection.InterviewQuestions {
	t := filled[projection.InterviewQuestions](v)
	t.Next = &items[0]
	return t
}

// plannerOf is a plan that somebody edits, with every value a text.
func plannerOf(v string, tasks []projection.TaskDetailView, items []projection.InboxItem) PlanEditorPage {
	p := filled[PlanEditorPage](v)
	p.Tasks, p.Waiting = tasks, items
	return p
}

// can is an action that can be done, at once or after a question.
func can(v string, n int) ItemAction {
	a := filled[ItemAction](v)
	a.Refused, a.Role = "", string(access.Answer)
	if n == 0 {
		a.Input, a.Confirm = projection.InputNone, ""
	}
	return a
}

// shownMark begins those values that are text of a page.
const shownMark = "shown: "

// readPage returns the elements of a page and the names of their attributes, and
// all that a reader, a form or an address gets of it.
func readPage(t *testing.T, c templ.Component) (names, values []string) {
	t.Helper()
	var b bytes.Buffer
	if err := c.Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	for z := html.NewTokenizer(&b); ; {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			return names, values
		case html.TextToken:
			values = append(values, shownMark+z.Token().Data)
		default:
			token := z.Token()
			names = append(names, kind.String()+" "+token.Data)
			for _, a := range token.Attr {
				names, values = append(names, a.Key), append(values, a.Val)
				if (a.Key == "href" || a.Key == "action") && !strings.HasPrefix(a.Val, "/") && !strings.HasPrefix(a.Val, "#") {
					t.Errorf("an address that leads elsewhere: %q", a.Val)
				}
				if strings.HasPrefix(a.Key, "on") || a.Key == "style" {
					t.Errorf("the policy does not allow %s=%q", a.Key, a.Val)
				}
			}
		}
	}
}

// TestNoValueIsMarkup draws every screen with values that would be markup in
// every field, and finds the same elements as with harmless ones.
func TestNoValueIsMarkup(t *testing.T) {
	harmless := drawn("x")
	for _, evil := range []string{
		`"><script>alert(1)</script>`, `' onclick=alert(1) x='`, `</pre></title></textarea></svg><b>`, `<!--`, `javascript:alert(1)`, `//evil.example/`, "../../evil", `{{.}}%s%d`,
	} {
		for name, c := range drawn(evil) {
			want, _ := readPage(t, harmless[name])
			got, values := readPage(t, c)
			if !slices.Equal(want, got) {
				t.Errorf("%q changes the elements of %s", evil, name)
			}
			if n := strings.Count(strings.Join(values, "\n"), evil); n < 2 {
				t.Errorf("%q is there %d times in %s", evil, n, name)
			}
		}
	}
}

// TestHiddenCharacters draws what a terminal or a reader would obey, and finds
// none of it in what is read.
func TestHiddenCharacters(t *testing.T) {
	for name, c := range drawn("a\x1b[2J\u202eb\u200bc\x07d\U000e0041" + strings.Repeat("w", 2000)) {
		_, values := readPage(t, c)
		for _, v := range values {
			if text, is := strings.CutPrefix(v, shownMark); is && strings.ContainsAny(text, "\x1b\u202e\u200b\x07\U000e0041") {
				t.Errorf("%s shows %.60q", name, v)
				break
			}
		}
	}
}

// TestGenerated holds the code and the files of the pages against what they are
// generated from: make generate writes them.
func TestGenerated(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(".")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "make", "-C", "../../../..", "generate", "PAGES="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make generate: %v\n%s", err, out)
	}
	for _, pattern := range []string{"*_templ.go", "static/*.js", "static/*.css"} {
		files, _ := filepath.Glob(pattern)
		if len(files) == 0 {
			t.Errorf("no %s", pattern)
		}
		for _, name := range files {
			is, _ := os.ReadFile(name)
			want, _ := os.ReadFile(filepath.Join(dir, name))
			if !bytes.Equal(is, want) {
				t.Errorf("%s is out of date: run make generate", name)
			}
		}
	}
}
