package policy

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTyped counts what is refused of what models type, and holds every refusal
// to its word: it quotes a part of the command, and what it names instead is
// allowed.
func TestTyped(t *testing.T) {
	rules := tree()
	rules.Caches = []string{"/home/ada/go/pkg/mod"}
	for _, file := range []struct {
		name string
		most int // refused, in thousandths
	}{{"typed.txt", 30}, {"typed-hard.txt", 600}} {
		all, no := map[string]int{}, map[string]int{}
		n, refused := 0, 0
		for _, line := range lines(t, file.name) {
			kind, command, ok := strings.Cut(line, " | ")
			if !ok {
				t.Fatal(line)
			}
			n++
			all[kind]++
			if d := JudgeCommand(command, rules); !d.IsAllowed() {
				refused++
				no[kind]++
				t.Logf("%s: %s (%s)", d.Decision, command, d.Rule)
				holds(t, command, d)
			}
		}
		for _, kind := range slices.Sorted(maps.Keys(all)) {
			t.Logf("%s: %-12s %3d, refused %d", file.name, kind, all[kind], no[kind])
		}
		t.Logf("%s: %d of %d refused", file.name, refused, n)
		if refused*1000 > n*file.most || n < 50 {
			t.Errorf("%s: %d of %d are refused", file.name, refused, n)
		}
	}
}

// holds checks one refusal.
func holds(t *testing.T, command string, d Decision) {
	t.Helper()
	part := strings.TrimSuffix(d.Part, "...")
	if part == "" || !strings.Contains(command, part) {
		t.Errorf("%s: the part %q is not part of it", command, d.Part)
	}
	named := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(d.Way, -1)
	if len(named) == 0 {
		t.Errorf("%s: no way (%s)", command, d.Rule)
	}
	for _, m := range named {
		if !works(m[1]) {
			t.Errorf("%s: it names %q instead, which is %+v", command, m[1], JudgeCommand(example(m[1]), tree()))
		}
	}
}

// example returns a command of a way with something for what it leaves open.
func example(way string) string {
	way = strings.NewReplacer("FILE", "a.txt", "DIR", "sub", "COMMAND", "ls", "NAME", "fix", "NEW", "b.txt", "MESSAGE", "'Fix it'", "MODULE", "example.com/x").Replace(way)
	if strings.HasSuffix(way, "<<'EOF'") {
		way += "\nls\nEOF"
	}
	return way
}

func works(way string) bool {
	tools := []string{"write_file", "edit_file", "read_file", "search_code", "list_files", "finish", "ask", "job", "git", "background"}
	rules := tree()
	rules.Caches = []string{"/home/ada/go/pkg/mod"}
	return slices.Contains(tools, way) || JudgeCommand(example(way), rules).IsAllowed()
}

// TestWays checks that every rule there is names a way that works.
func TestWays(t *testing.T) {
	for _, w := range permittedAlternatives() {
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(w.way, -1) {
			if !works(m[1]) {
				t.Errorf("%s: %s: %+v", w.rule, m[1], JudgeCommand(example(m[1]), tree()))
			}
		}
	}
	for _, name := range []string{"hostile.txt", "asked.txt"} {
		for _, command := range lines(t, name) {
			d := JudgeCommand(command, tree())
			if part := strings.TrimSuffix(d.Part, "..."); part == "" || d.Way == "" || !strings.Contains(command, part) && d.Rule != "path.secret" && !strings.HasPrefix(d.Rule, "path.agent") && d.Rule != "path.git" {
				if !regexp.MustCompile(`\b(sh|bash|zsh|dash|ksh|ash|fish|eval|trap|busybox|concurrently|nodemon|hyperfine|watch|find|xargs|start-server-and-test)\b`).MatchString(command) { // those are judged as lines of their own
					t.Errorf("%q: %+v", command, d)
				}
			}
		}
	}
}
