package foreign_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/plan/foreign"
)

var update = flag.Bool("update", false, "write what is read into testdata")

// TestRead reads each archive of testdata: the file that its comment names, or
// the folder with all its files. The file want says what comes of it.
func TestRead(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			for _, f := range a.Files {
				if f.Name == "want" {
					continue
				}
				path := filepath.Join(dir, f.Name)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, f.Data, 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			have := strings.ReplaceAll(tell(t, dir, strings.Fields(string(a.Comment))), dir+"/", "")
			have = strings.ReplaceAll(have, dir, ".")
			i := slices.IndexFunc(a.Files, func(f txtar.File) bool { return f.Name == "want" })
			if *update {
				a.Files = append(slices.DeleteFunc(a.Files, func(f txtar.File) bool { return f.Name == "want" }),
					txtar.File{Name: "want", Data: []byte(have)})
				if err := os.WriteFile(name, txtar.Format(a), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if i < 0 {
				t.Fatal("the archive has no file want")
			}
			if d := cmp.Diff(string(a.Files[i].Data), have); d != "" {
				t.Error(d)
			}
		})
	}
}

// tell reads what the words say: a file below dir, or dir itself for a dot,
// and maybe a format.
func tell(t *testing.T, dir string, words []string) string {
	t.Helper()
	path := filepath.Join(dir, words[0])
	s := foreign.NewFolderSource(path)
	if data, err := os.ReadFile(path); err == nil {
		s = foreign.NewFileSource(path, data)
	}
	f, s, err := foreign.RecogniseFormat(s)
	tag := ""
	if len(words) > 1 {
		f, tag, err = foreign.ParseFormat(words[1], foreign.SupportedFormats())
	}
	if err != nil {
		return told(err)
	}
	if f == "" || f == foreign.Nexus {
		return fmt.Sprintf("format %q\n", f)
	}
	read, err := foreign.ReadPlan(t.Context(), s, f, tag, nexus.TaskSizeLimits{})
	if err != nil {
		return fmt.Sprintf("format %s\n", f) + told(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "format %s\ngoal %s\n", read.Format, read.Plan.Goal)
	for _, k := range read.Plan.Tasks {
		fmt.Fprintf(&b, "\n%s %s\n", k.ID, k.Title)
		for _, f := range []struct{ name, value string }{
			{"needs", nexus.JoinWords(k.Needs)},
			{"wants", nexus.JoinWords(k.Wants)},
			{"priority", string(k.Priority)},
			{"files", strings.Join(k.Files, " ")},
			{"group", k.Group},
			{"kind", string(k.Kind)},
			{"tags", strings.Join(k.Tags, " ")},
			{"complexity", string(k.Complexity)},
			{"tier", string(k.Tier)},
			{"strategy", string(k.Strategy)},
			{"reason", k.Reason},
			{"brief", fmt.Sprintf("%q", k.Brief)},
		} {
			if f.value != "" && f.value != `""` {
				fmt.Fprintf(&b, "  %s: %s\n", f.name, f.value)
			}
		}
		if k.Minutes > 0 {
			fmt.Fprintf(&b, "  minutes: %d\n", k.Minutes)
		}
		for _, c := range k.Criteria {
			fmt.Fprintf(&b, "  - %s", c.Text)
			if c.Check != "" {
				fmt.Fprintf(&b, " [%s]", c.Check)
			}
			b.WriteString("\n")
		}
	}
	b.WriteString("\n")
	for _, r := range read.Remarks {
		fmt.Fprintf(&b, "%s %s:%d %s: %s | %s\n", r.Kind, r.File, r.Line, r.Item, r.What, r.Why)
	}
	if err := read.Check(nexus.TaskSizeLimits{}); err != nil {
		b.WriteString(told(err))
	}
	return b.String()
}

func told(err error) string {
	text := err.Error() + "\n"
	if e, ok := errors.AsType[*nexus.Error](err); ok {
		text = fmt.Sprintf("error %s: %s\nhint: %s\n", e.Code, e.Message, e.Hint)
	}
	return text
}

func TestParseFormat(t *testing.T) {
	if f, tag, err := foreign.ParseFormat("taskmaster:v2", foreign.SupportedFormats()); f != foreign.TaskMaster || tag != "v2" || err != nil {
		t.Error(f, tag, err)
	}
	for _, name := range []string{"", "jira", "ralph:x", "gsd"} {
		_, _, err := foreign.ParseFormat(name, foreign.SupportedFormats())
		e, ok := errors.AsType[*nexus.Error](err)
		if !ok || e.Code != nexus.CodeInvalidInput || !strings.Contains(e.Hint,
			"nexus, nax, ralph, taskmaster, spec-kit, polka, stories") {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, _, err := foreign.ParseFormat("polka", []foreign.PlanFormat{foreign.Nax}); err == nil {
		t.Error("polka is not among those asked for")
	}
}
