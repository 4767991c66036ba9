package notify

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/decide/improveloop"
	"github.com/nexus-ai-builder/nexus/internal/face/notify/delivery"
	"github.com/nexus-ai-builder/nexus/internal/face/questionchannel/questionruntest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/webhookpost"
	"github.com/nexus-ai-builder/nexus/internal/view/notice"
)

// phone is a way that remembers what came, and when; faults come first.
type phone struct {
	mu     sync.Mutex // guards what follows
	faults []error
	began  time.Time
	got    []string // "after: titles"
	ids    []string // of messages that came, failed ones too
	hang   bool     // it never answers
}

func (p *phone) Send(ctx context.Context, m delivery.NoticeMessage) error {
	p.mu.Lock()
	hang := p.hang
	p.ids = append(p.ids, m.ID)
	p.mu.Unlock()
	if hang {
		<-ctx.Done()
		return &webhookpost.PostError{Text: "too slow"}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.faults) > 0 {
		err := p.faults[0]
		p.faults = p.faults[1:]
		if err != nil {
			return err
		}
	}
	var titles []string
	for _, n := range m.Notices {
		titles = append(titles, n.Title)
	}
	p.got = append(p.got, fmt.Sprintf("%s: %s", time.Since(p.began).Round(time.Second), strings.Join(titles, "; ")))
	return nil
}

func (p *phone) heard() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.got)
}

func (p *phone) names() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.ids)
}

// house is a repository with a phone.
type house struct {
	t    *testing.T
	j    *questionruntest.InMemoryRunJournal
	dir  string
	p    *phone
	said []string
	mu   sync.Mutex // guards said
}

func enter(t *testing.T) *house {
	t.Helper()
	return &house{t: t, j: questionruntest.NewJournal(time.Now), dir: t.TempDir(), p: &phone{began: time.Now()}}
}

func (h *house) notifier(t notice.NoticeTiming, rules ...notice.DeliveryRule) Notifier {
	return Notifier{
		Journal: h.j, Dir: h.dir, Place: "shop", Ways: []NotificationChannel{{Name: "phone", Sender: h.p, Timing: t}}, Rules: rules, Now: time.Now, Grace: Grace,
		Mask: func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") },
		Say: func(format string, args ...any) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.said = append(h.said, fmt.Sprintf(format, args...))
		},
	}
}

func (h *house) start(d Notifier) (stop func()) {
	h.t.Helper()
	stop, err := d.Start(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	synctest.Wait()
	return stop
}

// wait lets time go by.
func wait(d time.Duration) {
	time.Sleep(d) // of the bubble
	synctest.Wait()
}

func (h *house) want(want ...string) {
	h.t.Helper()
	if d := cmp.Diff(want, h.p.heard()); d != "" {
		h.t.Error(d)
	}
}

var alert = nexus.AlertRaised{Kind: nexus.AlertDisk, Why: "hunter2"}

// TestTells tells what happens from now on, once, masked, and writes it down.
func TestTells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := enter(t)
		h.j.Append(nexus.AlertRaised{Kind: nexus.AlertMemory}) // is old
		stop := h.start(h.notifier(notice.NoticeTiming{}))
		h.j.AskQuestion("q1", humaninput.SecurityTrigger, "may it?")
		wait(time.Second)
		h.j.Append(alert)
		stop()
		h.want("0s: q1 waits for an answer", "1s: alert: disk")
		h.start(h.notifier(notice.NoticeTiming{}))()
		h.want("0s: q1 waits for an answer", "1s: alert: disk")
		log, err := ReadLog(h.dir, "", 20)
		if err != nil || len(log) != 2 || log[1].Result != Sent || log[1].Title != "nexus: shop: alert: disk" || log[0].ID != h.p.names()[0] {
			t.Errorf("%+v, %v", log, err)
		}
		if log, err := ReadLog(h.dir, "mail", 20); err != nil || len(log) != 0 {
			t.Errorf("%+v, %v", log, err)
		}
	})
}

// TestBacksOff tries again after 1 to 30 seconds, and as long as the receiver
// wants, always the same message; what is refused is not tried again, and holds up
// nothing.
func TestBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := enter(t)
		no := &webhookpost.PostError{Text: "503"}
		h.p.faults = []error{no, no, &webhookpost.PostError{Text: "429 hunter2", Wait: 47 * time.Second}, no, nil, &webhookpost.PostError{Text: "404", Final: true}}
		stop := h.start(h.notifier(notice.NoticeTiming{}))
		h.j.Append(alert)
		wait(40 * time.Second)
		h.want()
		wait(40 * time.Second) // 1 + 2 + 47 + 8 = 58
		h.want("58s: alert: disk")
		for _, id := range h.p.names() {
			if id != h.p.names()[0] {
				t.Errorf("another message: %q", h.p.names())
			}
		}
		h.j.AskQuestion("q1", humaninput.AmbiguityTrigger, "refused?")
		wait(time.Second)
		h.j.AskQuestion("q2", humaninput.AmbiguityTrigger, "which?")
		stop()
		h.want("58s: alert: disk", "1m21s: q2 waits for an answer")
		var all []string
		log, err := ReadLog(h.dir, "phone", 20)
		for _, e := range log {
			all = append(all, fmt.Sprintf("%s %d %s", e.Result, e.Try, e.Why))
		}
		want := []string{"failed 1 503", "failed 2 503", "failed 3 429 ***", "failed 4 503", "sent 5 ", "refused 1 404", "sent 1 "}
		if d := cmp.Diff(want, all); d != "" || err != nil {
			t.Error(d, err)
		}
		if d := cmp.Diff([]string{"notifications, phone: 503; trying again", "notifications, phone: 404; not sent"}, h.said); d != "" {
			t.Error(d)
		}
	})
}

// TestBatches sends what comes within the window as one message, at most so many in
// one; the end of the process does not wait for the window.
func TestBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := enter(t)
		stop := h.start(h.notifier(notice.NoticeTiming{Window: time.Minute, Most: 2, Through: humaninput.Red}))
		for i := range 3 {
			h.j.AskQuestion(fmt.Sprintf("q%d", i), humaninput.AmbiguityTrigger, "which?")
			wait(10 * time.Second)
		}
		h.want()
		wait(time.Minute)
		h.want("1m0s: q0 waits for an answer; q1 waits for an answer", "1m20s: q2 waits for an answer")
		h.j.AskQuestion("q3", humaninput.AmbiguityTrigger, "which?")
		wait(time.Second)
		h.j.AskQuestion("q4", humaninput.SecurityTrigger, "may it?")
		wait(time.Second)
		h.j.AskQuestion("q5", humaninput.AmbiguityTrigger, "which?")
		stop()
		want := []string{"1m31s: q3 waits for an answer; q4 waits for an answer", "1m32s: q5 waits for an answer"}
		if d := cmp.Diff(want, h.p.heard()[2:]); d != "" {
			t.Error(d)
		}
	})
}

// TestQuiet keeps what does not break through until quiet hours are over, also
// across processes.
func TestQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // at midnight UTC
		h := enter(t)
		quiet, err := improveloop.ParseWeeklyHours("22:00-07:00")
		if err != nil {
			t.Fatal(err)
		}
		timing := notice.NoticeTiming{Quiet: quiet, Through: humaninput.Red}
		stop := h.start(h.notifier(timing))
		h.j.AskQuestion("q1", humaninput.AmbiguityTrigger, "which?")
		wait(time.Hour)
		h.j.AskQuestion("q2", humaninput.SecurityTrigger, "may it?")
		wait(time.Second)
		h.j.Append(alert)
		wait(time.Second)
		stop()
		h.want("1h0m0s: q2 waits for an answer")
		wait(time.Hour)
		stop = h.start(h.notifier(timing))
		wait(10 * time.Hour)
		h.want("1h0m0s: q2 waits for an answer", "7h0m0s: q1 waits for an answer; alert: disk")
		h.j.Append(nexus.AlertCleared{Kind: nexus.AlertDisk, Why: "it is well"})
		stop()
		if len(h.p.heard()) != 3 || len(h.said) != 0 {
			t.Errorf("%q, %q", h.p.heard(), h.said)
		}
	})
}

// TestKilled repeats the message that was on its way, as it was, and no other,
// whatever came meanwhile.
func TestKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := enter(t)
		stop := h.start(h.notifier(notice.NoticeTiming{}))
		h.j.Append(alert)
		wait(time.Second)
		h.p.hang = true
		h.j.AskQuestion("q1", humaninput.AmbiguityTrigger, "which?")
		wait(time.Second)
		kept, err := os.ReadFile(filepath.Join(h.dir, "phone.json")) // all that a killed process leaves
		if err != nil {
			t.Fatal(err)
		}
		stop() // the grace is over before it is sent
		if err := os.WriteFile(filepath.Join(h.dir, "phone.json"), kept, 0o600); err != nil {
			t.Fatal(err)
		}
		h.p.hang = false
		h.j.AskQuestion("q2", humaninput.AmbiguityTrigger, "which?")
		h.start(h.notifier(notice.NoticeTiming{Window: time.Minute}))()
		if len(h.p.heard()) != 3 || len(h.p.names()) != 4 || h.p.names()[1] != h.p.names()[2] {
			t.Errorf("%q, %q", h.p.heard(), h.p.names())
		}
		h.start(h.notifier(notice.NoticeTiming{}))()
		if len(h.p.heard()) != 3 {
			t.Errorf("it comes again: %q", h.p.heard())
		}
	})
}

// TestGrace leaves to the next process what could not be sent in time, and says so.
func TestGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := enter(t)
		h.p.faults = []error{&webhookpost.PostError{Text: "down", Wait: time.Minute}}
		stop := h.start(h.notifier(notice.NoticeTiming{}))
		h.j.Append(alert)
		wait(time.Second)
		began := time.Now()
		stop()
		if d := time.Since(began); d != Grace {
			t.Errorf("it took %s", d)
		}
		want := []string{"notifications, phone: down; trying again", "notifications, phone: 1 not sent yet; the next nexus run, resume or serve sends them"}
		if d := cmp.Diff(want, h.said); d != "" {
			t.Error(d)
		}
		h.start(h.notifier(notice.NoticeTiming{}))()
		if len(h.p.heard()) != 1 {
			t.Errorf("%q", h.p.heard())
		}
	})
}

// TestOneDelivers lets one of two processes send; the other takes over.
func TestOneDelivers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := enter(t)
		first := h.start(h.notifier(notice.NoticeTiming{}))
		second := h.start(h.notifier(notice.NoticeTiming{}))
		h.j.Append(alert)
		wait(time.Second)
		h.want("0s: alert: disk")
		first()
		wait(5 * time.Second)
		h.j.AskQuestion("q1", humaninput.AmbiguityTrigger, "which?")
		wait(time.Second)
		if len(h.p.heard()) != 2 {
			t.Errorf("%q", h.p.heard())
		}
		second()
		if len(h.p.heard()) != 2 {
			t.Errorf("%q", h.p.heard())
		}
	})
}

// TestRules sends a way what the rules send there, and nothing that is old.
func TestRules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := enter(t)
		rule := notice.DeliveryRule{Kinds: []notice.NoticeKind{notice.Alert}, Ways: []string{"phone"}}
		h.start(h.notifier(notice.NoticeTiming{}, rule))()
		h.j.Append(alert)
		wait(8 * 24 * time.Hour) // nobody runs anything
		stop := h.start(h.notifier(notice.NoticeTiming{}, rule))
		h.j.AskQuestion("q1", humaninput.SecurityTrigger, "may it?")
		h.j.Append(nexus.AlertCleared{Kind: nexus.AlertDisk, Why: "it is well"})
		stop()
		h.want("192h0m0s: alert is over: disk")
	})
}

// TestOtherRules does not wait for a message that does not go this way any more.
func TestOtherRules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := enter(t)
		h.p.hang = true
		stop := h.start(h.notifier(notice.NoticeTiming{}))
		h.j.Append(alert)
		wait(time.Second)
		stop()
		h.p.hang = false
		stop = h.start(h.notifier(notice.NoticeTiming{}, notice.DeliveryRule{Kinds: []notice.NoticeKind{notice.Question}}))
		h.j.AskQuestion("q1", humaninput.AmbiguityTrigger, "which?")
		wait(time.Second)
		if len(h.p.heard()) != 1 || !strings.HasSuffix(h.p.heard()[0], "q1 waits for an answer") {
			t.Errorf("%q", h.p.heard())
		}
		stop()
	})
}

// TestAttend rings at the terminal for what happens from now on.
func TestAttend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := enter(t)
		h.j.Append(nexus.AlertRaised{Kind: nexus.AlertMemory})
		stop := h.notifier(notice.NoticeTiming{}).NotifyTerminal(t.Context(), questionruntest.Run, h.p)
		synctest.Wait()
		h.j.Append(alert)
		stop()
		h.want("0s: alert: disk")
	})
}

// FuzzMark takes what is in the file of a way's place, whatever it is.
func FuzzMark(f *testing.F) {
	f.Add([]byte(`{"after":7,"done":["r1/8/end"],"flight":["r1/9/end"],"until":9}`))
	f.Add([]byte(`{"after":-1}`))
	f.Add([]byte(`[`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, ok := parseCursor(data)
		if m.After < 0 || !ok && (m.After != 0 || m.Done != nil || m.Flight != nil) {
			t.Errorf("%+v", m)
		}
		for _, e := range parseLog(data) {
			if e.Way == "" {
				t.Errorf("%+v", e)
			}
		}
	})
}
