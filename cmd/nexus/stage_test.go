package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"

	"github.com/nexus-ai-builder/nexus/internal/face/notify/delivery/smtptest"
	"github.com/nexus-ai-builder/nexus/internal/face/questionchannel/telegram/telegramtest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/forge/forgetest"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree/overlay"
)

// patience is how long a story waits for anything.
const patience = 45 * time.Second

// play is what one story has going on: its model, and what runs beside it.
type play struct {
	model     *scripted
	beside    map[string]*actor
	box       *mailbox
	bot       *telegramtest.Server
	pager     *pager
	browser   *browser
	collector *collector
	mail      *smtptest.Server
	forge     *forgetest.Server
	stalled   <-chan struct{} // closed once somebody waits for the forge's answer
	begun     int64           // events up to this one belong to an earlier act
	ears      map[string]*ear
	wires     map[string]*wire
	texts     atomic.Int64 // that were sent to the endpoint for vectors
}

type playKey struct{}

func playOf(ts *testscript.TestScript) *play {
	p, ok := ts.Value(playKey{}).(*play)
	if !ok {
		ts.Fatalf("the story has no play")
	}
	return p
}

// commands are what stories can do beside what testscript brings. For those
// of a run:
//
//	repo [DIR]             commits the archive's files below DIR (repo) and goes there; a
//	                       directory without nexus.toml gets gates that are shell scripts
//	model FILE             starts the scripted model; reviewers approve unless it says otherwise.
//	                       A new act begins: what happened before does not count below
//	code N COMMAND...      runs a command and wants that exit code
//	start NAME COMMAND...  starts a command beside the story
//	ended NAME N           waits for it and wants that exit code; its output is in $WORK/NAME.out, .err
//	signal NAME SIG        sends it INT, TERM or KILL (at a terminal also to what it started there), or
//	                       STOP and waits until it stands still
//	hangup NAME            closes its terminal
//	says NAME TEXT         waits until it says that on its standard error, or shows it on its terminal
//	terminal NAME COLUMNS COMMAND...  starts a command on a terminal of its own, beside the story;
//	                       what it says on it is in $WORK/NAME.err
//	press NAME KEYS        types there, with ^C, ^D and \r; says waits for what is said after that
//	resize NAME COLUMNS LINES  gives its terminal another size; says waits for what is said after that
//	insist NAME SIG        sends it again and again until it is gone
//	until KIND [TEXT...]   waits for an event of that kind that holds all texts
//	happened N KIND [TEXT...]  wants exactly N such events so far
//	order A B...           wants the first events that match, each "KIND [TEXT]", in that order
//	between A B KIND       wants no event of a kind after the first A and before the next B
//	hold CONVERSATION STEP [half]  holds back the model's answer there, before it says anything, or
//	                       when it has said half of it
//	held                   waits until it is asked for what it holds back
//	release                lets it answer
//	asked N CONVERSATION   wants exactly N requests so far in conversations of that pattern
//	lighter A B            wants fewer requests, and fewer tokens of prompts, in conversations of
//	                       pattern A than in those of B, in all and of those that no cache had
//	refused N              wants at most N requests that the account's limits turned down
//	soon WAIT              wants no call while the first provider that had no quota was parked, and one at
//	                       most that long after
//	sent N CONVERSATION TEXT...  wants exactly N requests so far in conversations of that pattern
//	                       that hold all texts
//	json FILE PATH VALUE   wants that value, as gjson finds and writes it
//	keys FILE PATH NAMES   wants exactly these keys, separated by commas
//	future                 makes the journal one that a newer version wrote
//	needs TOOL...          leaves the story out unless these programs, or paths, are there
//	mounts                 leaves the story out unless something can be mounted
//	disk DIR SIZE          mounts a small disk there, or leaves the story out
//	readonly DIR           makes that disk read only
//	form, overhear, receive, received, reply, call, bot, chat  see channel_test.go
//	shares PATTERN N M     wants that at least N percent of the prompts of all requests, and M of the
//	                       first ones of each session but a role's first, came from the cache
//	vectors                see vectors_test.go
//	hear NAME URL TOKEN    listens to a stream of events, and again where it left off when it is lost
//	heard NAME TEXT FILE   waits for an event with a text, and wants all that was heard until then
//	                       to be the events in FILE, as logs --jsonl prints them
//	learn VAR FILE PATH    sets a variable to a value in a JSON file
//	conforms URL TOKEN N   wants the answers of at least N addresses of the API to be as it describes them
//	browse WHAT URL TOKEN RUN  looks at the web pages in a browser, or answers there by keyboard
//	wire VAR [to ADDR|cut]  is what clients reach a server over, see wire_test.go
//	page, certificate, collect, collected  see page_test.go
//	mark DIR / same DIR    remembers all of a checkout, byte for byte, and compares it
func commands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"repo": repo, "model": model, "code": code, "start": start, "ended": ended, "signal": kill, "says": says, "terminal": terminal, "press": press, "resize": resize, "hangup": hangup, "insist": insist,
		"await": await, "repository": repository, "until": until, "happened": happened, "order": order, "between": between,
		"hold": hold, "held": held, "release": release, "asked": asked, "paid": paid, "lighter": lighter, "shares": shares, "sent": sent, "refused": refused, "soon": soon, "mark": mark, "same": same,
		"needs": needs, "mounts": mounts, "json": jsonAt, "keys": keysAt, "sqlite": onJournal, "disk": disk, "readonly": readonly, "serve": serve, "site": site, "vectors": vectors, "receive": receive, "received": received, "reply": reply, "call": call, "form": form, "bot": bot, "forge": forgeServer, "forgegit": forgeGit, "pull": pullRequest, "registry": registry, "commented": commented, "chat": chat, "overhear": overhear, "hear": hear, "heard": heardAll, "learn": learn, "conforms": conforms, "browse": browse,
		"page": onPage, "certificate": certificate, "collect": collect, "collected": collected, "heed": heed, "noticed": noticed, "postbox": postbox, "mailed": mailed, "wire": onWire,
	}
}

// stageSetup gives a story its play.
func stageSetup(t *testing.T, e *testscript.Env) error {
	t.Helper()
	exe, err := exec.LookPath("nexus")
	if err != nil {
		return err
	}
	e.Vars = append(e.Vars, "NEXUS="+exe)
	p := &play{beside: map[string]*actor{}}
	e.Values[playKey{}], e.Values[testKey{}], e.Values[storyKey{}] = p, t, e.T()
	e.Defer(func() {
		if p.model != nil {
			p.model.free()
		}
		for _, a := range p.beside {
			a.kill()
			a.wait()
		}
		if p.model != nil {
			p.model.close()
		}
		if left, err := overlay.MountsBelow(e.WorkDir); err != nil || len(left) > 0 {
			t.Errorf("mounts are left behind: %v %v %v", left, err, overlay.UnmountAll(e.WorkDir))
		}
	})
	return nil
}

// texts returns the files of a project whose gates are shell scripts.
func texts() map[string]string {
	return map[string]string{
		"nexus.toml":   "[gates]\nbuild = \"sh build.sh\"\ntest = \"sh test.sh\"\n",
		"build.sh":     "if grep -n BROKEN *.txt; then exit 1; fi\n",
		"base_test.sh": "true\n",
		"base.txt":     "base\n",
		"test.sh": `pass=0 fail=0
for t in *_test.sh; do
	if test ! -e "$t"; then continue; fi
	if sh "$t"; then pass=$((pass+1)); else fail=$((fail+1)); echo "not ok $((pass+fail)) - $t"; fi
done
echo "# pass $pass"
echo "# fail $fail"
test $fail = 0
`,
	}
}

func repo(ts *testscript.TestScript, _ bool, args []string) {
	dir := "repo"
	if len(args) > 0 {
		dir = args[0]
	}
	dir = ts.MkAbs(dir)
	ts.Check(os.MkdirAll(dir, 0o755))
	if _, err := os.Stat(filepath.Join(dir, "nexus.toml")); err != nil {
		for name, text := range texts() {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				ts.Check(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
			}
		}
	}
	ts.Check(ts.Chdir(dir))
	ts.Check(ts.Exec("git", "init", "-q", "-b", "main"))
	ts.Check(ts.Exec("git", "add", "-A"))
	ts.Check(ts.Exec("git", "commit", "-q", "-m", "Begin"))
}

func code(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := exitCode(ts.Exec(args[1], args[2:]...))
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func exitCode(err error) int {
	var e *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		return e.ExitCode()
	default:
		return -1
	}
}

// theJournal opens the only journal of the story, once it is there.
func theJournal(ctx context.Context, ts *testscript.TestScript) *journal.Journal {
	for {
		found, _ := filepath.Glob(filepath.Join(ts.Getenv("XDG_STATE_HOME"), "nexus", "*", "journal.db"))
		if len(found) == 1 {
			if j, err := journal.Open(ctx, found[0], journal.Options{Now: time.Now, ReadOnly: true, Poll: 5 * time.Millisecond}); err == nil {
				return j
			}
		}
		select {
		case <-ctx.Done():
			ts.Fatalf("there is no journal: %v", found)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// fits reports whether an event is of a kind and its JSON holds all texts.
func fits(e nexus.Event, want []string) bool {
	if nexus.FactKind(e.Fact) != want[0] {
		return false
	}
	data, err := json.Marshal(e.Fact)
	for _, text := range want[1:] {
		if err != nil || !strings.Contains(string(data), text) {
			return false
		}
	}
	return true
}

func until(ts *testscript.TestScript, _ bool, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	j := theJournal(ctx, ts)
	defer j.Close()
	for e, err := range j.Follow(ctx, "", playOf(ts).begun) {
		if err != nil {
			break
		}
		if fits(e, args) {
			return
		}
	}
	ts.Fatalf("no event %q", args)
}

func happenings(ts *testscript.TestScript) []nexus.Event {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	j := theJournal(ctx, ts)
	defer j.Close()
	var all []nexus.Event
	for e, err := range j.Events(ctx, "", playOf(ts).begun) {
		ts.Check(err)
		all = append(all, e)
	}
	return all
}

func list(ts *testscript.TestScript, all []nexus.Event) {
	for _, e := range all {
		data, _ := json.Marshal(e.Fact)
		ts.Logf("%4d %s %.400s", e.Seq, nexus.FactKind(e.Fact), data)
	}
}

func happened(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	all, n := happenings(ts), 0
	for _, e := range all {
		if fits(e, args[1:]) {
			n++
		}
	}
	if n != want {
		list(ts, all)
		ts.Fatalf("%d events %q, want %d", n, args[1:], want)
	}
}

func order(ts *testscript.TestScript, _ bool, args []string) {
	all, at := happenings(ts), -1
	for _, want := range args {
		i := slices.IndexFunc(all, func(e nexus.Event) bool { return fits(e, strings.Fields(want)) })
		if i <= at {
			list(ts, all)
			ts.Fatalf("%q is at %d, the one before at %d", want, i, at)
		}
		at = i
	}
}

func between(ts *testscript.TestScript, _ bool, args []string) {
	all := happenings(ts)
	inside, from, to := false, false, false
	for _, e := range all {
		switch {
		case !from && fits(e, strings.Fields(args[0])):
			inside, from = true, true
		case inside && fits(e, strings.Fields(args[1])):
			inside, to = false, true
		case inside && fits(e, strings.Fields(args[2])):
			list(ts, all)
			ts.Fatalf("event %d is a %s between %s and %s", e.Seq, args[2], args[0], args[1])
		}
	}
	if !from || !to {
		list(ts, all)
		ts.Fatalf("there is no %q, or no %q after it", args[0], args[1])
	}
}

func soon(ts *testscript.TestScript, _ bool, args []string) {
	wait, err := time.ParseDuration(args[0])
	ts.Check(err)
	var until time.Time
	for _, e := range happenings(ts) {
		switch f := e.Fact.(type) {
		case nexus.QuotaExhausted:
			if until.IsZero() {
				until = f.Until
			}
		case nexus.BudgetReserved:
			switch after := e.At.Sub(until); {
			case until.IsZero():
			case after < 0 || after > wait:
				ts.Fatalf("a call %s after the reset", after)
			default:
				return
			}
		default:
		}
	}
	ts.Fatalf("no call after a reset")
}

func jsonAt(ts *testscript.TestScript, neg bool, args []string) {
	text := ts.ReadFile(args[0])
	got := gjson.Get(text, args[1]).String()
	var flat bytes.Buffer
	if json.Compact(&flat, []byte(got)) == nil {
		got = flat.String()
	}
	if (got == args[2]) == neg {
		ts.Fatalf("%s of %s is %q:\n%s", args[1], args[0], got, text)
	}
}

func keysAt(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[0])
	at := gjson.Parse(text)
	if args[1] != "." {
		at = at.Get(args[1])
	}
	var names []string
	for name := range at.Map() {
		names = append(names, name)
	}
	want := strings.Split(args[2], ",")
	slices.Sort(names)
	slices.Sort(want)
	if !slices.Equal(names, want) {
		ts.Fatalf("%s of %s has the keys %s:\n%s", args[1], args[0], names, text)
	}
}

func mark(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(os.WriteFile(markFile(ts, args), []byte(printOf(ts, args[0])), 0o600))
}

func same(ts *testscript.TestScript, _ bool, args []string) {
	want, err := os.ReadFile(markFile(ts, args))
	ts.Check(err)
	if got := printOf(ts, args[0]); got != string(want) {
		ts.Fatalf("%s changed", args[0])
	}
}

func markFile(ts *testscript.TestScript, args []string) string {
	return filepath.Join(ts.Getenv("WORK"), ".mark-"+strings.ReplaceAll(args[0], "/", "_"))
}

func printOf(ts *testscript.TestScript, dir string) string {
	t, ok := ts.Value(testKey{}).(*testing.T)
	if !ok {
		ts.Fatalf("the story has no test")
	}
	return fingerprint(t, ts.MkAbs(dir))
}

type testKey struct{}

type storyKey struct{}

// storyOf returns the test of one story.
func storyOf(ts *testscript.TestScript) testing.TB {
	tb, ok := ts.Value(storyKey{}).(testing.TB)
	if !ok {
		ts.Fatalf("the story has no test of its own")
	}
	return tb
}

// condition tells whether a part of a story can be told on this machine.
func condition(name string) (bool, error) {
	tool, ok := strings.CutPrefix(name, "tool:")
	if !ok {
		return false, fmt.Errorf("unknown condition %q", name)
	}
	if testenv.IsInstalled(tool) {
		return true, nil
	}
	if testenv.RequiresTools() {
		return false, fmt.Errorf("%s%s", testenv.NoTool, tool)
	}
	fmt.Fprintln(os.Stderr, testenv.NoTool+tool) // a part is left out, and the summary says so
	return false, nil
}

func needs(ts *testscript.TestScript, _ bool, args []string) { testenv.NeedTool(storyOf(ts), args...) }

// onJournal runs statements on the journal behind the program's back.
func onJournal(ts *testscript.TestScript, _ bool, statements []string) {
	found, _ := filepath.Glob(filepath.Join(ts.Getenv("XDG_STATE_HOME"), "nexus", "*", "journal.db"))
	if len(found) != 1 {
		ts.Fatalf("there is no one journal: %v", found)
	}
	db, err := sql.Open("sqlite", "file:"+found[0])
	ts.Check(err)
	defer db.Close()
	for _, s := range statements {
		_, err = db.Exec(s)
		ts.Check(err)
	}
}
