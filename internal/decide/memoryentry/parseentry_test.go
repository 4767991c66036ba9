package memoryentry_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/memoryentry"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

const hash = "0123456789abcdef0123456789abcdef01234567"

func full() memoryentry.MemoryEntry {
	return memoryentry.MemoryEntry{
		ID: "gotcha-a", Kind: memoryentry.Gotcha, State: memoryentry.Approved, By: memoryentry.ByRun,
		Learned: memoryentry.DayOf(time.Date(2026, 11, 25, 13, 0, 0, 0, time.UTC)),
		From:    []memoryentry.EntryOrigin{{Run: "r1"}, {Run: "r2", Task: "T1", Commit: hash}},
		Files:   []memoryentry.SubjectFile{{Path: "a b.go", Blob: hash}, {Path: "c/d.go"}},
		Symbols: []string{"Parse", "Tree.Walk"},
		Text:    "Run make first.\n\n---\nkind: is a word here.",
	}
}

// TestString reads what was written.
func TestString(t *testing.T) {
	e := full()
	text := e.String()
	for name, text := range map[string]string{
		"as written": text, "with line ends of Windows": strings.ReplaceAll(text, "\n", "\r\n"), "with a byte order mark": "\ufeff" + text,
		"with space": strings.Replace(text, "kind: gotcha\n", "\n  kind :  gotcha  \n\n", 1), "without an end of the last line": strings.TrimRight(text, "\n"),
	} {
		got, err := memoryentry.ParseEntry(".nexus/memory/gotcha-a.md", []byte(text))
		if err != nil || !reflect.DeepEqual(got, e) {
			t.Errorf("%s: %v\n%+v\nwant\n%+v", name, err, got, e)
		}
	}
}

// TestMistakes names the line of what people mistype, and what to write there.
func TestMistakes(t *testing.T) {
	const head = "---\nkind: fix\nstate: approved\n"
	for _, c := range []struct{ name, text, want, hint string }{
		{"empty", "", "1: the file does not start", "Start with ---"},
		{"only a text", "Run make first.\n", "1: the file does not start", "Start with ---"},
		{"no end", "---\nkind: fix\nstate: approved\n\nRun make.\n", "5: \"Run make.\" is not a field", "after the second ---"},
		{"cut off", "---\nkind: fix", "2: the head has no end", "Write a line ---"},
		{"nothing", "---\n---\n", "2: kind is missing", "decision, pattern"},
		{"no kind", "---\nstate: approved\n---\nText\n", "3: kind is missing", "decision, pattern"},
		{"no state", "---\nkind: fix\n---\nText\n", "3: state is missing", "only approved episodes"},
		{"no text", head + "---\n\n \n", "5: there is no text", "below the head"},
		{"another kind", "---\nkind: bug\n", "2: unknown kind \"bug\"", "decision, pattern, gotcha, fix, review"},
		{"capitals", "---\nkind: Fix\n", "2: unknown kind \"Fix\"", "fix"},
		{"another state", "---\nstate: yes\n", "2: unknown state \"yes\"", "approved"},
		{"another source", "---\nby: me\n", "2: unknown by \"me\"", "person"},
		{"unknown field", head + "files: a.go\n", "4: unknown field \"files\"", "file, blob"},
		{"a field of capitals", "---\nKind: fix\n", "2: unknown field \"Kind\"", "kind"},
		{"a list", head + "symbol:\n  - Parse\n", "4: symbol has no value", "remove the line"},
		{"no colon", head + "file a.go\n", "4: \"file a.go\" is not a field", "name: value"},
		{"twice", head + "kind: gotcha\n", "4: kind is there twice; it was set in line 2", "Remove"},
		{"a day", head + "learned: 25.11.2026\n", "4: learned is not a day", "2006-01-02"},
		{"no such day", head + "learned: 2026-02-30\n", "4: learned is not a day", "2006-01-02"},
		{"an absolute path", head + "file: /etc/passwd\n", "4: file \"/etc/passwd\" is not relative", "root of the repository"},
		{"a pattern of git", head + "file: :(icase)x\n", "4: file \":(icase)x\" starts with a colon", "root of the repository"},
		{"a drive", head + "file: C:/a.go\n", "4: file \"C:/a.go\" is not relative", "root of the repository"},
		{"out of it", head + "file: ../a.go\n", "4: file \"../a.go\" is not a path within", "root of the repository"},
		{"not clean", head + "file: ./a.go\n", "4: file \"./a.go\" is not a path within", "root of the repository"},
		{"backslashes", head + "file: a\\b.go\n", "has a backslash", "slashes"},
		{"a file twice", head + "file: a.go\nfile: a.go\n", "5: file \"a.go\" is there twice", "Remove"},
		{"a blob alone", head + "blob: " + hash + "\n", "4: blob does not follow", "after its file"},
		{"two blobs", head + "file: a\nblob: " + hash + "\nblob: " + hash + "\n", "6: blob does not follow", "after its file"},
		{"a short blob", head + "file: a\nblob: 0123456\n", "5: \"0123456\" is not the hash of a file", "git rev-parse"},
		{"a short commit", head + "from: r1 T1 0123456\n", "4: \"0123456\" is not the hash of a commit", "leave it out"},
		{"too many words", head + "from: r1 T1 " + hash + " x\n", "4: from has more", "RUN TASK COMMIT"},
		{"two symbols", head + "symbol: Parse Walk\n", "4: symbol \"Parse Walk\" is not one name", "a line for each"},
		{"many files", head + strings.Repeat("file: a\n", 1) + lines("file: a%c\n", 20), "24: there are more than 20 lines file", "matter most"},
		{"not text", head + "---\na\x00b\n", "5: the line has characters that are not text", "UTF-8"},
		{"not UTF-8", head + "---\nfine\na\xffb\n", "6: the line has characters that are not text", "UTF-8"},
		{"a long text", head + "---\n" + strings.Repeat("word ", 1000), "5: the text has", "few sentences"},
		{"a long file", head + "---\n" + strings.Repeat("word ", 10000), "1: the file has more than", "few sentences"},
	} {
		_, err := memoryentry.ParseEntry("m.md", []byte(c.text))
		e, ok := errors.AsType[*nexus.Error](err)
		if !ok || e.Code != nexus.CodeInvalidConfig || !strings.HasPrefix(err.Error(), "m.md:") || !strings.Contains(err.Error(), c.want) || !strings.Contains(e.Hint, c.hint) {
			t.Errorf("%s: %v (%+v), want %q and %q", c.name, err, e, c.want, c.hint)
		}
	}
}

// lines writes a line n times, each with another letter.
func lines(line string, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(line, "%c", string(rune('b'+i))))
	}
	return b.String()
}

// TestRevise changes the state, and nothing else of what people wrote.
func TestRevise(t *testing.T) {
	old := "---\r\n\r\nstate : proposed\r\nkind: fix\r\n---\r\nstate: is a word here\r\n"
	if got, want := string(memoryentry.ReplaceState([]byte(old), memoryentry.Approved)), strings.Replace(old, "state : proposed", "state: approved", 1); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// FuzzParse holds that what is read is written and read again as it was, and
// that a mistake is in a line of the file.
func FuzzParse(f *testing.F) {
	f.Add(full().String())
	f.Add("---\nkind: fix\nstate: proposed\n---\nA text.\n")
	f.Add("---\n---\n")
	f.Fuzz(func(t *testing.T, text string) {
		e, err := memoryentry.ParseEntry("m.md", []byte(text))
		if err != nil {
			if failure, ok := errors.AsType[*nexus.Error](err); !ok || failure.Hint == "" || !strings.HasPrefix(failure.Message, "m.md:") {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		again, err := memoryentry.ParseEntry("m.md", []byte(e.String()))
		if err != nil || !reflect.DeepEqual(again, e) {
			t.Errorf("%q became %q: %v\n%+v\n%+v", text, e.String(), err, e, again)
		}
		revised, err := memoryentry.ParseEntry("m.md", memoryentry.ReplaceState([]byte(text), memoryentry.Forgotten))
		if e.State = memoryentry.Forgotten; err != nil || !reflect.DeepEqual(revised, e) {
			t.Errorf("%q is not revised: %v\n%+v\n%+v", text, err, revised, e)
		}
	})
}
