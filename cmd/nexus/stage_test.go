package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"

	"github.com/nexus-ai-builder/nexus/internal/face/channel/telegram/telegramtest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/forge/forgetest"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree/overlay"
)

// patience is how long a story waits for anything.
const patience = 45 * time.Second

// play is what one story has going on: its model, and what runs beside it.
type play struct {
	model  *scripted
	beside map[string]*actor
	box    *mailbox
	bot    *telegramtest.Server
	forge  *forgetest.Server
	begun  int64        // events up to this one belong to an earlier act
	texts  atomic.Int64 // that were sent to the endpoint for vectors
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
//	signal NAME SIG        sends it INT, TERM or KILL, or STOP and waits until it stands still
//	says NAME TEXT         waits until it says that on its standard error
//	terminal NAME COLUMNS COMMAND...  starts a command on a terminal of its own, beside the story;
//	                       what it says on it is in $WORK/NAME.err
//	press NAME KEYS        types there, with ^C, ^D and \r; says waits for what is said after that
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
//	mark DIR / same DIR    remembers all of a checkout, byte for byte, and compares it
func commands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"repo": repo, "model": model, "code": code, "start": start, "ended": ended, "signal": kill, "says": says, "terminal": terminal, "press": press, "insist": insist,
		"await": await, "repository": repository, "until": until, "happened": happened, "order": order, "between": between,
		"hold": hold, "held": held, "release": release, "asked": asked, "paid": paid, "lighter": lighter, "shares": shares, "sent": sent, "refused": refused, "soon": soon, "mark": mark, "same": same,
		"needs": needs, "mounts": mounts, "json": jsonAt, "keys": keysAt, "sqlite": onJournal, "disk": disk, "readonly": readonly, "serve": serve, "site": site, "vectors": vectors, "receive": receive, "received": received, "reply": reply, "call": call, "form": form, "bot": bot, "forge": forgeServer, "commented": commented, "chat": chat, "overhear": overhear,
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
			_ = a.cmd.Process.Kill()
			<-a.gone
		}
		if p.model != nil {
			p.model.close()
		}
		if left, err := overlay.Below(e.WorkDir); err != nil || len(left) > 0 {
			t.Errorf("mounts are left behind: %v %v %v", left, err, overlay.Clear(e.WorkDir))
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

func model(ts *testscript.TestScript, _ bool, args []string) {
	script, err := llmtest.Parse([]byte(ts.ReadFile(args[0])))
	ts.Check(err)
	for _, tasks := range []string{"T*", "FIX-*"} {
		script.Conversations = append(script.Conversations, llmtest.Conversation{
			Match: tasks + "/reviewer.*", Turns: []llmtest.Turn{{Calls: []llmtest.Call{{
				Tool: "finish", Input: map[string]any{"approved": true, "summary": "Good.", "findings": []any{}},
			}}}},
		})
	}
	server, err := llmtest.New(script, llmtest.Options{Bodies: true, Now: time.Now})
	ts.Check(err)
	p := playOf(ts)
	if p.model != nil {
		p.model.close()
		for _, e := range happenings(ts) {
			p.begun = e.Seq
		}
	}
	m := &scripted{server: server, holds: map[string]*pledge{}, log: ts.Logf}
	m.web = httptest.NewServer(m)
	p.model = m
	for name, value := range map[string]string{
		"ANTHROPIC_API_KEY": "scripted", "ANTHROPIC_BASE_URL": m.web.URL, "OPENAI_API_KEY": "", "OPENAI_BASE_URL": m.web.URL + "/v1", "MODEL_URL": m.web.URL,
	} {
		ts.Setenv(name, value)
	}
}

// scripted is the scripted model, which can be held back.
type scripted struct {
	server *llmtest.Server
	web    *httptest.Server
	log    func(string, ...any)

	mu    sync.Mutex // guards holds
	holds map[string]*pledge
}

type pledge struct {
	asked, freed chan struct{}
	once         sync.Once
	half         bool // of the answer is said before
}

// keep waits until the pledge is freed, and reports whether it was.
func (h *pledge) keep(r *http.Request) bool {
	h.once.Do(func() { close(h.asked) })
	select {
	case <-h.freed:
		return r.Context().Err() == nil // both may be so, where who asked was killed
	case <-r.Context().Done():
		return false
	}
}

// halves holds an answer back when half of it is written.
type halves struct {
	http.ResponseWriter
	r *http.Request
	h *pledge
}

// Write implements [http.ResponseWriter].
func (w halves) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p[:len(p)/2])
	if err == nil {
		err = http.NewResponseController(w.ResponseWriter).Flush()
	}
	if err != nil || !w.h.keep(w.r) {
		return n, err
	}
	m, err := w.ResponseWriter.Write(p[len(p)/2:])
	return n + m, err
}

func (m *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	name, step := conversation(body)
	m.mu.Lock()
	h := m.holds[fmt.Sprint(name, " ", step)]
	m.mu.Unlock()
	switch {
	case h != nil && h.half:
		w = halves{w, r, h}
	case h != nil && !h.keep(r):
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	m.server.ServeHTTP(w, r)
}

// conversation returns the name of a request's conversation, and the step.
func conversation(body []byte) (name string, step int) {
	for _, m := range gjson.GetBytes(body, "messages").Array() {
		if m.Get("role").String() == "assistant" {
			step++
		}
		if strings.Contains(m.Raw, `"Next task: `) { // it goes on with another one's
			name, step = "", 0
		}
		if _, after, ok := strings.Cut(m.Raw, "Conversation: "); ok && name == "" {
			name = after[:strings.IndexAny(after, "\\\" ")]
		}
	}
	return name, step
}

func (m *scripted) free() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k, h := range m.holds {
		close(h.freed)
		delete(m.holds, k)
	}
}

func (m *scripted) close() {
	m.web.CloseClientConnections()
	m.web.Close()
}

func theModel(ts *testscript.TestScript) *scripted {
	m := playOf(ts).model
	if m == nil {
		ts.Fatalf("no model was started")
	}
	return m
}

func hold(ts *testscript.TestScript, _ bool, args []string) {
	m := theModel(ts)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.holds[strings.Join(args[:2], " ")] = &pledge{asked: make(chan struct{}), freed: make(chan struct{}), half: len(args) > 2}
}

func held(ts *testscript.TestScript, _ bool, _ []string) {
	m := theModel(ts)
	m.mu.Lock()
	var all []*pledge
	for _, h := range m.holds {
		all = append(all, h)
	}
	m.mu.Unlock()
	for _, h := range all {
		select {
		case <-h.asked:
		case <-time.After(patience):
			ts.Fatalf("the model was not asked for what it holds back")
		}
	}
}

func release(ts *testscript.TestScript, _ bool, _ []string) { theModel(ts).free() }

// paid waits until so many answers of a conversation are on their way.
func paid(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	for end := time.Now().Add(patience); theModel(ts).server.Calls(args[1]) < want; runtime.Gosched() {
		if time.Now().After(end) {
			ts.Fatalf("%d answers in %s were sent, want %d", theModel(ts).server.Calls(args[1]), args[1], want)
		}
	}
}

func asked(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	n := 0
	for _, q := range theModel(ts).server.Requests() {
		if ok, _ := path.Match(args[1], q.Conversation); ok {
			n++
		}
		ts.Logf("asked: %s step %d %s %s", q.Conversation, q.Step, q.Model, q.Fault)
	}
	if n != want {
		ts.Fatalf("%d requests in %s, want %d", n, args[1], want)
	}
}

func lighter(ts *testscript.TestScript, _ bool, args []string) {
	count := func(pattern string) (n [3]int64) {
		for _, q := range theModel(ts).server.Requests() {
			if ok, _ := path.Match(pattern, q.Conversation); ok {
				n[0]++
				n[1] += q.Usage.Prompt()
				n[2] += q.Usage.Prompt() - q.Usage.CacheRead
			}
		}
		ts.Logf("%s: %d requests, %d tokens of prompts, %d of them from no cache", pattern, n[0], n[1], n[2])
		return n
	}
	a, b := count(args[0]), count(args[1])
	if a[0] == 0 || a[0] >= b[0] || a[1] >= b[1] || a[2] >= b[2] {
		ts.Fatalf("%s is not lighter than %s: %v, %v", args[0], args[1], a, b)
	}
}

func shares(ts *testscript.TestScript, _ bool, args []string) {
	share := func(part, of int64) int64 { return 100 * part / max(of, 1) }
	var all, later, roles [2]int64 // read from the cache, and sent
	add := func(to *[2]int64, u nexus.Usage) { to[0], to[1] = to[0]+u.CacheRead, to[1]+u.Prompt() }
	seen, begun := map[string]bool{}, map[string]bool{}
	for _, q := range theModel(ts).server.Requests() {
		if ok, _ := path.Match(args[0], q.Conversation); !ok {
			continue
		}
		add(&all, q.Usage)
		role, _, _ := strings.Cut(path.Base(q.Conversation), ".")
		switch {
		case seen[q.Conversation]:
		case begun[role]:
			add(&later, q.Usage)
		default:
			add(&roles, q.Usage)
		}
		seen[q.Conversation], begun[role] = true, true
	}
	ts.Logf("%s: %d sessions of %d roles; from the cache: %d %% of %d tokens in all, %d %% of %d in first requests of a role's further sessions, %d %% of %d in those of its first",
		args[0], len(seen), len(begun), share(all[0], all[1]), all[1], share(later[0], later[1]), later[1], share(roles[0], roles[1]), roles[1])
	for i, got := range []int64{share(all[0], all[1]), share(later[0], later[1])} {
		least, err := strconv.ParseInt(args[i+1], 10, 64)
		ts.Check(err)
		if got < least {
			ts.Fatalf("%d %% came from the cache, want %d %%", got, least)
		}
	}
}

func refused(ts *testscript.TestScript, _ bool, args []string) {
	most, err := strconv.Atoi(args[0])
	ts.Check(err)
	n := 0
	for _, q := range theModel(ts).server.Requests() {
		if q.Status == http.StatusTooManyRequests {
			n++
			ts.Logf("refused: %s step %d, over %s", q.Conversation, q.Step, q.Over)
		}
	}
	if n > most {
		ts.Fatalf("%d requests were refused, more than %d", n, most)
	}
}

func sent(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	n := 0
	for _, q := range theModel(ts).server.Requests() {
		if ok, _ := path.Match(args[1], q.Conversation); !ok {
			continue
		}
		if !slices.ContainsFunc(args[2:], func(text string) bool { return !bytes.Contains(q.Body, []byte(text)) }) {
			n++
		}
	}
	if n != want {
		ts.Fatalf("%d requests in %s hold %q, want %d", n, args[1], args[2:], want)
	}
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

// actor is a command that runs beside the story.
type actor struct {
	cmd      *exec.Cmd
	out, err heard
	gone     chan struct{} // closed once it was waited for
	end      error
	keys     *os.File // where a person types; nil where it has no terminal
	from     int      // bytes of err that it had said when something was typed last
}

// heard is what a command says, while it says it.
type heard struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(p)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

func says(ts *testscript.TestScript, _ bool, args []string) {
	a := actorOf(ts, args[0])
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if strings.Contains(a.err.String()[a.from:], args[1]) {
			return
		}
	}
	ts.Fatalf("%s does not say %q:\n%s", args[0], args[1], a.err.String())
}

func start(ts *testscript.TestScript, _ bool, args []string) {
	a := actorFor(ts, args[1:])
	a.cmd.Stdout, a.cmd.Stderr = &a.out, &a.err
	ts.Check(a.cmd.Start())
	playOf(ts).beside[args[0]] = a
	go func() {
		a.end = a.cmd.Wait()
		close(a.gone)
	}()
}

// actorFor returns what is going to run a command where the story stands.
func actorFor(ts *testscript.TestScript, args []string) *actor {
	ts.Check(ts.Exec("env", "-0"))
	env := strings.Split(strings.TrimSuffix(ts.ReadFile("stdout"), "\x00"), "\x00")
	exe := ""
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if at := filepath.Join(dir, args[0]); exe == "" {
			if info, err := os.Stat(at); err == nil && info.Mode()&0o111 != 0 {
				exe = at
			}
		}
	}
	a := &actor{cmd: exec.Command(exe, args[1:]...), gone: make(chan struct{})}
	a.cmd.Dir, a.cmd.Env = ts.MkAbs("."), env
	return a
}

func actorOf(ts *testscript.TestScript, name string) *actor {
	a := playOf(ts).beside[name]
	if a == nil {
		ts.Fatalf("nothing of the name %s was started", name)
	}
	return a
}

func ended(ts *testscript.TestScript, _ bool, args []string) {
	a := actorOf(ts, args[0])
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	select {
	case <-a.gone:
	case <-time.After(patience):
		_ = a.cmd.Process.Signal(syscall.SIGQUIT)
		<-a.gone
		ts.Fatalf("%s does not end:\n%s\n%s", args[0], a.out.String(), a.err.String())
	}
	work := ts.Getenv("WORK")
	ts.Check(os.WriteFile(filepath.Join(work, args[0]+".out"), []byte(a.out.String()), 0o644))
	ts.Check(os.WriteFile(filepath.Join(work, args[0]+".err"), []byte(a.err.String()), 0o644))
	delete(playOf(ts).beside, args[0])
	ts.Logf("[%s out]\n%s[%s err]\n%s", args[0], a.out.String(), args[0], a.err.String())
	if got := exitCode(a.end); got != want {
		ts.Fatalf("%s: exit code %d, want %d", args[0], got, want)
	}
}

func kill(ts *testscript.TestScript, _ bool, args []string) {
	sig := map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL, "STOP": syscall.SIGSTOP}[args[1]]
	p := actorOf(ts, args[0]).cmd.Process
	if err := p.Signal(sig); !errors.Is(err, os.ErrProcessDone) {
		ts.Check(err)
	}
	for end := time.Now().Add(patience); sig == syscall.SIGSTOP && !stopped(p.Pid); runtime.Gosched() {
		if time.Now().After(end) {
			ts.Fatalf("%s does not stop", args[0])
		}
	}
}

// stopped reports whether all threads of a process stand still: the signal
// that stops them is sent before they are.
func stopped(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, t := range threads {
		stat, err := os.ReadFile(t)
		_, rest, _ := bytes.Cut(stat, []byte(") "))
		if err == nil && !bytes.HasPrefix(rest, []byte("T")) {
			return false
		}
	}
	return true
}

func insist(ts *testscript.TestScript, _ bool, args []string) {
	a := actorOf(ts, args[0])
	for end := time.Now().Add(patience); time.Now().Before(end); {
		kill(ts, false, args)
		select {
		case <-a.gone:
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
	ts.Fatalf("%s does not mind %s", args[0], args[1])
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
	if nexus.Kind(e.Fact) != want[0] {
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
		ts.Logf("%4d %s %.400s", e.Seq, nexus.Kind(e.Fact), data)
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
		case nexus.QuotaHit:
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
	if testenv.Installed(tool) {
		return true, nil
	}
	if testenv.Strict() {
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
