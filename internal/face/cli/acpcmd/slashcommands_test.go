package acpcmd

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/host"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/acp/acpserver"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/secret"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

func TestTyped(t *testing.T) {
	for in, want := range map[string]string{
		"/status": "status|", " /tell T1 a b ": "tell|T1 a b", "/run\nall of it": "run|all of it", "/run a\nb": "run|a\nb",
		"/statusx": "", "status": "", "/": "", "/fix 12": "", "/etc/passwd is odd": "", "": "",
	} {
		c, rest, ok := parseSlashCommand(in)
		if got := c.name + "|" + rest; ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q %t", in, got, ok)
		}
	}
}

// TestDated holds that only what begins with a day is taken for the name of a run.
func TestDated(t *testing.T) {
	for in, want := range map[string]bool{
		"261121-104125-k3f": true, "261121-": true, "261121": false, "3": false, "3rd": false, "26112-1": false, "2611211-1": false, "T1": false, "": false, "x61121-1": false,
	} {
		if beginsLikeRunID(in) != want {
			t.Errorf("%q: %t", in, !want)
		}
	}
}

// TestBeside holds that what spends or lands does not go on beside a prompt.
func TestBeside(t *testing.T) {
	for _, c := range slashCommands() {
		if c.beside == slices.Contains(append(config.EditorConsentNames(), "resume"), c.name) {
			t.Errorf("%s: %t", c.name, c.beside)
		}
	}
}

// TestApproval offers no level that is laxer than the configured one.
func TestApproval(t *testing.T) {
	for least, want := range map[nexus.ApprovalMode]string{"none": "none destructive commits all", "commits": "commits all", "all": "all"} {
		s := &editorSession{least: least, approval: least}
		var got []string
		for _, c := range s.Options()[1].Choices {
			got = append(got, c.Value)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s", least, got)
		}
	}
}

// TestChosen holds that nothing makes a run laxer than it is, or than is configured now.
func TestChosen(t *testing.T) {
	for in, want := range map[[3]nexus.ApprovalMode]string{ // the session's, the configured one, the run's
		{"none", "", "commits"}: "commits ", {"none", "commits", "none"}: "commits --approval=commits", {"all", "commits", ""}: "all --approval=all",
		{"none", "none", "none"}: "none ", {"none", "", ""}: "none ", {"destructive", "none", "from a later version"}: "all --approval=all",
	} {
		s := &editorSession{approval: in[0], tier: anyTier}
		var c config.Config
		c.Limits.Approval = in[1]
		o := s.chosenOptions(c, in[2])
		if got := string(o.approval) + " " + strings.Join(append(o.tierFlags(), o.approvalFlags()...), " "); got != want {
			t.Errorf("%v: %q, want %q", in, got, want)
		}
		s.approval, s.tier = "all", "strong"
		if strings.Join(append(o.tierFlags(), o.approvalFlags()...), " ") != strings.TrimSpace(want[strings.Index(want, " "):]) {
			t.Errorf("%v: it changed with the session", in)
		}
	}
	c := config.Config{Editors: []string{"plan"}}
	if s := (&editorSession{approval: "none"}); !s.chosenOptions(c).isPreapproved(c, "plan") || s.chosenOptions(c, "all").isPreapproved(c, "plan") || s.chosenOptions(c).isPreapproved(c, "run") {
		t.Error("what is allowed beforehand")
	}
	if c.Limits.Approval = "all"; (&editorSession{approval: "none"}).chosenOptions(c).isPreapproved(c, "plan") {
		t.Error("what is configured now does not count")
	}
}

// TestContinues holds that the advice is that for how the run stands.
func TestContinues(t *testing.T) {
	here := &nexus.RunProcess{}
	for _, c := range []struct {
		v    view.RunView
		want string
	}{
		{view.RunView{Status: nexus.StatusExecuting, Held: here}, "The run is in progress outside"},
		{view.RunView{Status: nexus.StatusPaused, Held: here}, "`/resume`"},
		{view.RunView{Status: nexus.StatusInterrupted}, "Nothing is lost. `/resume`"},
		{view.RunView{Status: nexus.StatusLimit}, "`/resume` continues the run. Raise"},
		{view.RunView{Status: nexus.StatusStopped, Counts: view.TaskCounts{Pending: 1}}, "`/resume`"},
		{view.RunView{Status: nexus.StatusWaiting, Asks: []view.OpenQuestion{{ID: "q1"}}}, ""},
		{view.RunView{Status: nexus.StatusDone}, ""},
	} {
		if got := strings.TrimSpace(continuationHint(c.v)); c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s", c.v.Status, got)
		}
	}
}

// TestHeld holds that a session continues no run beside the one that it conducts, also
// where that was paused when the prompt was let in.
func TestHeld(t *testing.T) {
	s := &editorSession{run: "r"}
	s.setCurrentRun("r", true, "")
	if !s.Beside("/resume") || !s.Beside("/resume r") || s.Beside("/resume other") || s.Beside("resume") {
		t.Error("what continues a paused run")
	}
	s.setCurrentRun("r", false, "")
	if s.Beside("/resume") {
		t.Error("a run that is not paused is continued beside its prompt")
	}
	if _, err := s.resumeRun(t.Context(), ""); !errors.Is(err, &nexus.Error{Code: nexus.CodeRunHeld}) {
		t.Error(err)
	}
}

// TestRaised holds that a run which ended at a limit gets the one that is configured
// now, where that is higher, and that who agrees to it is told.
func TestRaised(t *testing.T) {
	for _, c := range []struct {
		status    nexus.RunStatus
		run, now  nexus.Limits
		args, say string
		planning  nexus.Money
	}{
		{nexus.StatusLimit, nexus.Limits{RunMoney: nexus.MoneyFromDollars(1), RunTime: time.Hour}, nexus.Limits{RunMoney: nexus.MoneyFromDollars(2.5), RunTime: 2 * time.Hour}, "--budget=2.5 --max-time=2h0m0s", "raised to $2.50", 0},
		{nexus.StatusLimit, nexus.Limits{RunMoney: nexus.MoneyFromDollars(1), RunTime: time.Hour}, nexus.Limits{RunMoney: nexus.MoneyFromDollars(1)}, "--max-time=0s", "no longer has a time limit", 0},
		{nexus.StatusLimit, nexus.Limits{RunMoney: nexus.MoneyFromDollars(2)}, nexus.Limits{RunMoney: nexus.MoneyFromDollars(1), RunTime: time.Hour}, "", "", 0},
		{nexus.StatusStopped, nexus.Limits{RunMoney: nexus.MoneyFromDollars(1)}, nexus.Limits{RunMoney: nexus.MoneyFromDollars(2)}, "", "", 0},
		{nexus.StatusLimit, nexus.Limits{RunMoney: nexus.MoneyFromDollars(0.75)}, nexus.Limits{RunMoney: nexus.MoneyFromDollars(1)}, "", "", nexus.MoneyFromDollars(0.25)}, // what its plan cost
		{nexus.StatusLimit, nexus.Limits{RunMoney: nexus.MoneyFromDollars(0.75)}, nexus.Limits{RunMoney: nexus.MoneyFromDollars(2)}, "--budget=2", "raised to $2.00", nexus.MoneyFromDollars(0.25)},
	} {
		st := state.NewState("r")
		for i, f := range []nexus.Fact{nexus.GoalAccepted{Limits: c.run, Planning: c.planning}, nexus.RunEnded{Status: c.status}} {
			if err := st.Apply(nexus.Event{Seq: int64(i) + 1, Fact: f}); err != nil {
				t.Fatal(err)
			}
		}
		l := readRaisedLimits(config.Config{Limits: c.now}, st)
		if got := strings.Join(l.flags(), " "); got != c.args || !strings.Contains(l.String(), c.say) || c.say == "" && l.String() != "" {
			t.Errorf("%+v: %s, %s", c, got, l)
		}
	}
}

// TestEscaped holds that nothing of what others wrote is a link, a picture or markup, and
// that what is usual stays readable.
func TestEscaped(t *testing.T) {
	for in, want := range map[string]string{
		"![x](http://evil/?q) [y](command:z)": `!\[x\](http://evil/?q) \[y\](command:z)`,
		"<img src=x> `a` **b** ~~c~~ \\[":     "\\<img src=x> \\`a\\` \\*\\*b\\*\\* \\~\\~c\\~\\~ \\\\\\[",
		"_you agreed_ to foo_bar":             `\_you agreed\_ to foo_bar`,
		"a && b &lt; &#60;":                   `a && b \&lt; \&#60;`,
		"# a\n- b":                            `\# a - b`,
		"12. a 3. b":                          `12\. a 3. b`,
		"T1: Do T1 (at $5.00), 100%!":         "T1: Do T1 (at $5.00), 100%!",
		"> a":                                 `\> a`,
		"na\u00efve_x \x1b[2J":                "na\u00efve_x \\\\x1b\\[2J",
	} {
		if got := escapeMarkdown(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
	m := secret.NewMasker([]string{"DEPLOY_TOKEN=orange_*_banana-7"})
	s := &editorSession{agent: &editorAgent{host.Host{Console: &console.Console{App: app.App{Mask: m}}}}}
	if got := s.escapeText("it is orange_*_banana-7"); strings.Contains(got, "banana") {
		t.Errorf("a key is shown: %s", got)
	}
}

// TestPrinted holds that a client is not sent more than it can take.
func TestPrinted(t *testing.T) {
	if got := formatOutput("diff", "+a\n"); got != "```diff\n+a\n```" {
		t.Error(got)
	}
	got := formatOutput("status", strings.Repeat("0123456\n", 1<<20))
	if len(got) > maxPrinted+200 || !strings.Contains(got, "\n...\n```\n\nThat is the start of 8,388,608 bytes. `nexus status`") {
		t.Errorf("%d bytes: %s", len(got), got[max(0, len(got)-200):])
	}
}

func TestFirstLine(t *testing.T) {
	old := "a\nb\nc\n"
	for now, want := range map[string]int{"x": 1, "a\nx": 2, "a\nb\nc\nd\n": 4, old: 4} {
		if got := firstLine(acpserver.FileDiff{Old: &old, New: now}); got != want {
			t.Errorf("%q: %d", now, got)
		}
	}
}

// FuzzTyped reads what a person types as a command line: what they type is behind
// "--", or behind the "=" of a flag, and nothing of it is taken for a flag.
func FuzzTyped(f *testing.F) {
	for _, seed := range []string{"/diff T1", "/tell T1 --now", "/answer q1 ", "/show --raw", "/land x", "/stop --all", "/status -C /"} {
		f.Add(seed)
	}
	lines := map[string]string{
		"show": "show --json --run=RUN -- WORD", "diff": "diff --json --run=RUN -- WORD", "tell": "tell --json --run=RUN -- WORD REST",
		"answer": "answer --json --run=RUN -- WORD REST", "status": "status --json -- RUN", "stop": "stop --json --run=RUN",
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, rest, ok := parseSlashCommand(text)
		line := lines[c.name]
		if !ok || line == "" {
			return
		}
		s := &editorSession{run: "251125-120000-abc"}
		args, err := s.fillCommandLine(c.name, c.hint, line, rest)
		if err != nil {
			return
		}
		if !strings.Contains(line, "WORD") && rest != "" {
			s.run = nexus.RunID(rest)
		}
		for word := range strings.FieldsSeq(rest) {
			if !strings.Contains(strings.Join(args, " "), word) {
				t.Errorf("%q is left out of %q", word, args)
			}
		}
		if len(args) != len(strings.Fields(line)) {
			t.Fatalf("%q: %q", text, args)
		}
		for i, want := range strings.Fields(line) {
			fixed := strings.ReplaceAll(want, "RUN", string(s.run))
			if words := want == "WORD" || want == "REST"; !words && args[i] != fixed || words && !slices.Contains(args[:i], "--") {
				t.Errorf("%q: %q", text, args)
			}
		}
	})
}

// TestStill holds that a run which is not paused any more as it was shown is not
// continued.
func TestStill(t *testing.T) {
	s := &editorSession{}
	s.setCurrentRun("r1", true, "3 tool calls were refused")
	if err := s.pauseChangedError("r1", "3 tool calls were refused"); err != nil {
		t.Error(err)
	}
	for _, now := range []struct {
		held   nexus.RunID
		paused bool
		alarm  string
	}{{"", false, ""}, {"r1", false, ""}, {"r1", true, ""}, {"r1", true, "4"}, {"r2", true, "3"}} {
		s.setCurrentRun(now.held, now.paused, now.alarm)
		if err := s.pauseChangedError("r1", "3"); !errors.Is(err, &nexus.Error{Code: nexus.CodeInvalidInput}) {
			t.Errorf("%s %t %q: %v", now.held, now.paused, now.alarm, err)
		}
	}
}
