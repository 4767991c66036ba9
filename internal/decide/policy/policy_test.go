package policy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/gitread"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/program"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

// tree is where the commands of these tests would run.
func tree() CallerRules { return CallerRules{Dir: "/srv/tree"} }

// lines returns the lines of a file of testdata.
func lines(tb testing.TB, name string) []string {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	var all []string
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && !strings.HasPrefix(line, "# ") {
			all = append(all, strings.ReplaceAll(line, "<NL>", "\n"))
		}
	}
	return all
}

func TestExamples(t *testing.T) {
	all := lines(t, "examples.txt")
	for _, line := range all {
		want, command, ok := strings.Cut(line, " | ")
		if d := JudgeCommand(command, tree()); !ok || string(d.Decision) != want || d.Rule == "" || d.Reason == "" {
			t.Errorf("%s: want %s, got %+v", command, want, d)
		}
	}
	if len(all) < 100 {
		t.Errorf("only %d examples", len(all))
	}
}

func TestHostile(t *testing.T) {
	all := lines(t, "hostile.txt")
	for i, command := range all {
		if d := JudgeCommand(command, tree()); d.IsAllowed() {
			t.Errorf("allowed: %s", command)
		}
		// What is around it does not hide it.
		for k, around := range []string{"ls; %", "(%)", "{ %\n}", "if true; then %\nfi", "true && %", "x=$(%\n)", "cat <(%\n)", "f() { %\n}; f", "! %"} {
			if k%3 != i%3 && !testenv.RunsNightly() {
				continue // a third of them for each, all of them at night
			}
			if d := JudgeCommand(strings.ReplaceAll(around, "%", command), tree()); d.IsAllowed() && !strings.Contains(command, "\n") {
				t.Errorf("allowed: %s", strings.ReplaceAll(around, "%", command))
			}
		}
	}
	t.Logf("%d commands", len(all))
}

func TestAsked(t *testing.T) {
	for _, command := range lines(t, "asked.txt") {
		if d := JudgeCommand(command, tree()); d.Decision != Ask {
			t.Errorf("%s: %+v", command, d)
		}
	}
}

func TestOrdinary(t *testing.T) {
	all := lines(t, "ordinary.txt")
	asked := 0
	for _, command := range all {
		if d := JudgeCommand(command, tree()); !d.IsAllowed() {
			asked++
			t.Logf("%s: %s (%s: %s)", d.Decision, command, d.Rule, d.Reason)
		}
	}
	t.Logf("%d of %d asked about", asked, len(all))
	if asked*100 > len(all)*2 {
		t.Errorf("%d of %d are asked about", asked, len(all))
	}
}

func TestBounds(t *testing.T) {
	nest := "sudo ls"
	for range 10 {
		nest = "sh -c '" + strings.ReplaceAll(nest, "'", `'\''`) + "'"
	}
	for name, command := range map[string]string{
		"shell.empty":     " \n ",
		"shell.long":      "echo " + strings.Repeat("x", maxCommand),
		"shell.parts":     strings.Repeat("ls;", 2000),
		"shell.unparsed":  "echo $((",
		"shell.invisible": "ls \u202e",
	} {
		if d := JudgeCommand(command, tree()); d.Decision != Ask || d.Rule != name {
			t.Errorf("%s: got %+v", name, d)
		}
	}
	if d := JudgeCommand(nest, tree()); d.IsAllowed() {
		t.Errorf("nested: %+v", d)
	}
	if d := JudgeCommand("cat /srv/tree/x", CallerRules{}); d.IsAllowed() {
		t.Errorf("without a tree: %+v", d)
	}
	for _, dir := range []string{"/", "", "rel", "."} {
		if d := JudgeCommand("rm -rf /home/x", CallerRules{Dir: dir}); d.Decision != Deny {
			t.Errorf("in %q: %+v", dir, d)
		}
	}
	if (Decision{}).IsAllowed() || stricterDecision(Decision{Decision: Deny}, Decision{}).Decision != Deny || RuleAnswer("").severity() != 2 {
		t.Error("nothing said is not the safe answer")
	}
}

// TestCheckoutOfAFile undoes the changes of files without --, where their names
// can mean nothing else.
func TestCheckoutOfAFile(t *testing.T) {
	r := tree()
	r.Undoes = func(word, file string) bool {
		return word != "both.go" && (file == "a.go" || file == "sub/b.go" || file == "both.go")
	}
	for command, want := range map[string]RuleAnswer{
		"git checkout a.go": Allow, "git checkout a.go sub/b.go": Allow, "cd sub && git checkout b.go": Allow, "git checkout ./a.go": Allow,
		"git checkout main": Ask, "git checkout both.go": Ask, "git checkout a.go main": Ask, "git checkout HEAD~1 a.go": Ask, "git checkout -f a.go": Ask,
		"git checkout $X": Ask, "git checkout .": Ask, "git checkout '*.go'": Ask, "cd / && git checkout a.go": Deny,
	} {
		if d := JudgeCommand(command, r); d.Decision != want {
			t.Errorf("%s: want %s, got %+v", command, want, d)
		}
	}
	if d := JudgeCommand("git checkout a.go", tree()); d.IsAllowed() || !strings.Contains(d.Way, "`git checkout -- FILE`") {
		t.Errorf("nobody can tell: %+v", d)
	}
	locked := tree()
	locked.Locked = true
	for _, command := range []string{"git checkout a.go", "git reset --hard", "rm -rf *", "git switch main", "git commit", "git push"} {
		if d := JudgeCommand(command, locked); d.IsAllowed() || d.Way == "" || strings.Contains(d.Way, "`git ") {
			t.Errorf("%s where git cannot be written: %+v", command, d)
		}
	}
}

// TestWayOfCd says where commands start.
func TestWayOfCd(t *testing.T) {
	for _, command := range []string{"cd /repo && ls", "cd", "cd ..", "cd /repo", "cd /repo && go test ./...", "cd /repo && npm test > out.log"} {
		if d := JudgeCommand(command, tree()); d.IsAllowed() || !strings.Contains(d.Way, "each command starts at the root of the worktree") {
			t.Errorf("%s: %+v", command, d)
		}
	}
}

func TestOwnRules(t *testing.T) {
	r := tree()
	r.Allow, r.Ask, r.Deny = []string{"frobnicate --all", "sudo"}, []string{"make deploy", "rm"}, []string{"npm run release"}
	for command, want := range map[string]RuleAnswer{
		"frobnicate --all x": Allow, "frobnicate x": Ask, "make deploy": Ask, "make test": Allow, "npm run release": Deny, "timeout 5 npm run release": Deny,
		"make -j 4 deploy": Ask, "make --silent deploy": Ask, "npm --prefix web run release": Deny, "/usr/bin/npm run release": Deny, "make -s test": Allow, "make $X": Ask, "find . -name '*.log' -exec rm {} +": Ask, "npm run $X": Ask,
		"sudo ls": Deny, "frobnicate --all ~/.ssh/id_rsa": Deny, "frobnicate --all $(sudo ls)": Deny,
	} {
		if d := JudgeCommand(command, r); d.Decision != want {
			t.Errorf("%s: want %s, got %+v", command, want, d)
		}
	}
}

// TestShow lets agents see files that are named as those with secrets, where
// people say so, however they look at them.
func TestShow(t *testing.T) {
	r := tree()
	r.Show = []string{"config/secrets.yml", "fake/*"}
	for command, want := range map[string]RuleAnswer{
		"cat config/secrets.yml": Allow, "git show HEAD:config/secrets.yml": Allow, "git diff -- config/secrets.yml": Allow, "git log -p -L1,9:config/secrets.yml": Allow,
		"cat fake/id_rsa": Allow, "git show HEAD:fake/id_rsa": Allow, "cat fake/deep/id_rsa": Allow,
		"cat other/secrets.yml": Ask, "git show HEAD:other/secrets.yml": Ask, "git diff -- .env": Ask, "git show HEAD:.git/config": Allow,
		"cat /home/ada/fake/id_rsa": Deny, "cat ../fake/id_rsa": Deny,
	} {
		if d := JudgeCommand(command, r); d.Decision != want {
			t.Errorf("%s: want %s, got %+v", command, want, d)
		}
		if d := JudgeCommand(command, tree()); d.IsAllowed() && command != "git show HEAD:.git/config" {
			t.Errorf("%s where nobody says so: %+v", command, d)
		}
	}
}

// TestWhatIsQuoted of a command that is refused is the part that would be refused
// alone, and all of it where none would be.
func TestWhatIsQuoted(t *testing.T) {
	for command, rule := range map[string]string{
		"base64 -d a.txt > b.sh; bash b.sh": "shell.decoded",
		`read X; [ "$X" -lt 3 ]; ls`:        "shell.hidden-code",
	} {
		if d := JudgeCommand(command, tree()); d.Rule != rule || d.Part != command {
			t.Errorf("%s: %+v", command, d)
		}
	}
	for command, part := range map[string]string{
		"ls; touch a.txt /home/ada/x": "/home/ada/x", "ls; cat a.txt /home/ada/x": "/home/ada/x", `D=/srv && rm -rf a "$D"`: `"$D"`, "ls; sudo cat a": "sudo cat a", "ls >/home/ada/x; pwd": "/home/ada/x",
	} {
		if d := JudgeCommand(command, tree()); d.IsAllowed() || d.Part != part {
			t.Errorf("%s: %+v, and not for %s", command, d, part)
		}
	}
}

func TestPath(t *testing.T) {
	for _, c := range []struct {
		name  string
		write bool
		want  RuleAnswer
	}{
		{"main.go", true, Allow},
		{"a/.gitignore", true, Allow},
		{".github/workflows/ci.yml", true, Allow},
		{".env.example", true, Allow},
		{".env", false, Ask},
		{"a/.ENV.local", true, Ask},
		{".git/config", false, Deny},
		{"a/.GIT./hooks", true, Deny},
		{"git~1/x", true, Deny},
		{".g\u200dit/x", true, Deny},
		{"nexus.toml", false, Allow},
		{"nexus.toml", true, Deny},
		{"sub/.claude/settings.json", true, Deny},
		{"sub/.claude/settings.json", false, Allow},
	} {
		if d := JudgePath(c.name, c.write); d.Decision != c.want {
			t.Errorf("%s, write %v: %+v", c.name, c.write, d)
		}
	}
}

func TestTablesAreWellFormed(t *testing.T) {
	for _, name := range []string{"cat", "rm", "sudo", "wget", "pytest", "[", "nosuch"} {
		e, ok := program.FindProgram(name)
		if ok != (name != "nosuch" && name != "[") {
			t.Errorf("%s: %v", name, ok)
		}
		if ok && (e.Rule == "" || RuleAnswer(e.Answer).severity() == 2 && e.Answer != "deny") {
			t.Errorf("%s: %+v", name, e)
		}
	}
	if !program.IsPowerfulVariable("LD_PRELOAD") || !program.IsPowerfulVariable("http_proxy") || program.IsPowerfulVariable("x") || !program.IsHarmlessVariable("GOOS") || program.IsHarmlessVariable("CC") || !program.IsHiddenVariable("SOME_API_KEY") {
		t.Error("variables")
	}
}

func TestGitRead(t *testing.T) {
	for _, args := range []string{
		"status --short", "diff HEAD~1 -- a.go", "log --oneline -5", "log -n3 --format=%h", "log -Sfoo", "show HEAD:a.go", "blame -L10,20 a.go", "ls-files -o --exclude-standard",
		"show -3", "diff -U5 main...HEAD", "log --since=yesterday --author=x", "diff a..b",
	} {
		if _, err := gitread.CheckReadOnly(strings.Fields(args)); err != nil {
			t.Errorf("%s: %v", args, err)
		}
	}
	for _, args := range []string{
		"push", "diff -5 a.go", "-c x=y status", "diff --output=x", "diff --outp=x", "diff --ext-diff", "log --textconv", "diff --no-index a b", "diff /etc/passwd a", "diff a ../b", "show -O x",
		"blame --contents=/etc/passwd a", "log -o x", "ls-files --with-tree=x", "diff -", "status --help", "log --exec=x", "diff -Oorder", "log --no-walk=x --stdin",
	} {
		if got, err := gitread.CheckReadOnly(strings.Fields(args)); err == nil {
			t.Errorf("%s: runs %q", args, got)
		}
	}
}

func FuzzRule(f *testing.F) {
	for _, name := range []string{"hostile.txt", "ordinary.txt"} {
		for _, command := range lines(f, name) {
			f.Add(command)
		}
	}
	f.Add("/0/{,}") // a program and an argument that are the same
	f.Fuzz(func(t *testing.T, command string) {
		d := JudgeCommand(command, tree())
		if d.Rule == "" || d.Reason == "" || d.Decision != Allow && d.Decision != Ask && d.Decision != Deny {
			t.Errorf("%q: %+v", command, d)
		}
		if d.IsAllowed() && JudgeCommand("sudo ls\n"+command, tree()).IsAllowed() {
			t.Errorf("%q hides what is before it", command)
		}
		if again := JudgeCommand(command, tree()); again != d {
			t.Errorf("%q: first %+v, then %+v", command, d, again)
		}
	})
}
