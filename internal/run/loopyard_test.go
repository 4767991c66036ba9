package run_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/improveloop"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run"
)

// errKilled is what a process sees that is killed: nothing that it does counts any more.
var errKilled = errors.New("killed")

// row is an event as a ledger keeps it.
type row struct {
	Seq  int64           `json:"s"`
	Run  nexus.RunID     `json:"r"`
	At   time.Time       `json:"t"`
	Kind string          `json:"k"`
	Data json.RawMessage `json:"d"`
}

// ledger is a journal in a file, so that what a loop keeps in memory shows. It can be told
// to die after some more facts.
type ledger struct {
	run  nexus.RunID
	file *os.File
	seq  int64
	left int // facts until it dies; negative: it does not
}

// Append implements [run.Journal].
func (j *ledger) Append(_ context.Context, facts ...nexus.Fact) ([]nexus.Event, error) {
	if j.left == 0 {
		return nil, errKilled
	}
	j.left--
	var all []nexus.Event
	w := bufio.NewWriter(j.file)
	for _, f := range facts {
		j.seq++
		e := nexus.Event{Seq: j.seq, Run: j.run, At: time.Now(), Fact: f}
		kind, data, err := nexus.EncodeFact(f)
		if err != nil {
			return nil, err
		}
		line, err := json.Marshal(row{e.Seq, e.Run, e.At, kind, data})
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(w, "%s\n", line)
		all = append(all, e)
	}
	return all, w.Flush()
}

// Events implements [run.Journal].
func (j *ledger) Events(_ context.Context, after int64) iter.Seq2[nexus.Event, error] {
	return func(yield func(nexus.Event, error) bool) {
		f, err := os.Open(j.file.Name())
		if err != nil {
			yield(nexus.Event{}, err)
			return
		}
		defer f.Close()
		d := json.NewDecoder(bufio.NewReader(f))
		for d.More() {
			var r row
			if err := d.Decode(&r); err != nil {
				yield(nexus.Event{}, err)
				return
			}
			fact, err := nexus.DecodeFact(r.Kind, r.Data)
			if r.Seq > after && !yield(nexus.Event{Seq: r.Seq, Run: r.Run, At: r.At, Fact: fact}, err) {
				return
			}
		}
	}
}

// yardRun is what the world knows of one piece of work.
type yardRun struct {
	want    nexus.CandidateWorkItem
	done    bool
	spent   nexus.Money
	worked  int // times that its model was paid
	start   int // commit that it began from
	was, is string
	landed  int // commits that it made on the target
	kept    bool
	stale   bool // the line that it began from is not the one that was found
}

// theme is a branch on which results wait: lines that are others than where it left the target.
type theme struct {
	at      []string // the target where it left it
	changes map[int]string
}

// change is one line that changed on the target.
type change struct {
	at       time.Time
	strategy string // empty: a person did it
	line     int
	was, is  string
}

// yard is a made-up repository of one-line files with people who commit, a model that
// never agrees with itself, and tools that fail. A line that ends in "a" or "b" is found to
// be better the other way round, always; "x" is a mistake.
type yard struct {
	mu    sync.Mutex
	rnd   *rand.Rand
	lines []string
	tip   int
	log   []change // on the target, in order
	runs  map[nexus.RunID]*yardRun
	spent nexus.Money

	themes map[string]*theme
	seen   int // results that people merged

	faults float64 // how often something fails that is asked of the machinery
	people float64 // how often a person commits while something is done
	blind  float64 // how often a finding does not say where it is
	spoils float64 // how often a landing spoils another line
	fails  float64 // how often work comes to nothing
	stuck  bool    // work never ends by itself
	price  nexus.Money
	quiet  improveloop.WeeklyHours
}

func newYard(seed uint64, lines int) *yard {
	y := &yard{themes: map[string]*theme{}, rnd: rand.New(rand.NewPCG(seed, 1)), runs: map[nexus.RunID]*yardRun{}, price: nexus.Dollar / 100, fails: 0.05}
	for n := range lines {
		y.lines = append(y.lines, fmt.Sprintf("line %d version 0 a", n))
	}
	return y
}

// DecisionInputs implements [run.LoopIntentExecutor].
func (y *yard) DecisionInputs() improveloop.LoopDecisionInputs {
	return improveloop.LoopDecisionInputs{Now: time.Now().UTC(), Quiet: y.quiet}
}

// TimerAt implements [run.LoopIntentExecutor].
func (y *yard) TimerAt(t time.Time) <-chan time.Time { return time.After(time.Until(t)) }

// ExecuteIntent implements [run.LoopIntentExecutor].
func (y *yard) ExecuteIntent(ctx context.Context, intent nexus.Fact, l *improveloop.ImproveLoop, tell run.LoopRecordFunc) ([]nexus.Fact, error) {
	y.mu.Lock()
	pause := time.After(time.Duration(2+y.rnd.IntN(12)) * time.Second)
	if _, work := intent.(nexus.LoopItemWorkStarted); work && y.stuck {
		pause = nil
	}
	y.mu.Unlock()
	select {
	case <-pause:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.rnd.Float64() < y.people {
		y.commit()
	}
	if y.rnd.Float64() < y.faults {
		return nil, errors.New("the machinery failed")
	}
	switch f := intent.(type) {
	case nexus.ImproveCycleStarted:
		return y.look(f, l), nil
	case nexus.LoopItemWorkStarted:
		return y.work(f), nil
	case nexus.LoopItemLandingStarted:
		return y.land(f, l), nil
	case nexus.CheckAfterLandingStarted:
		return y.weigh(f, l), nil
	case nexus.LoopItemRevertStarted:
		return y.revert(f, l), nil
	default:
		return nil, fmt.Errorf("no worker does %T", intent)
	}
}

// commit changes a line as a person does.
func (y *yard) commit() {
	n := y.rnd.IntN(len(y.lines))
	y.set("", n, fmt.Sprintf("line %d version %d %c", n, y.tip+1, "abx"[y.rnd.IntN(3)]))
}

func (y *yard) set(strategy string, n int, text string) {
	y.log = append(y.log, change{time.Now(), strategy, n, y.lines[n], text})
	y.lines[n] = text
	y.tip++
}

// at is where a file is, by its name.
func at(file string) int {
	var n int
	_, _ = fmt.Sscanf(file, "f%d", &n)
	return n
}

func (y *yard) wanted(n int) (nexus.CandidateWorkItem, bool) {
	text := y.lines[n]
	strategy := map[byte]string{'a': "taste", 'b': "taste", 'x': "mistakes"}[text[len(text)-1]]
	if strategy == "" {
		return nexus.CandidateWorkItem{}, false
	}
	w := nexus.CandidateWorkItem{
		Finding: fmt.Sprintf("%s/%d%c", strategy, n, text[len(text)-1]), Strategy: strategy, Title: text,
		Files: []string{fmt.Sprintf("f%d", n)}, Mark: text,
	}
	if y.rnd.Float64() >= y.blind {
		w.Lines = []string{strategy + " " + text}
	}
	return w, true
}

func (y *yard) look(f nexus.ImproveCycleStarted, l *improveloop.ImproveLoop) []nexus.Fact {
	looked := nexus.ImproveCycleSearched{Cycle: f.Cycle, Tip: fmt.Sprint(y.tip)}
	var facts []nexus.Fact
	for _, i := range l.ItemsWaitingForPerson() { // people look at results now and then
		if y.rnd.Float64() < y.people/4 {
			facts = append(facts, y.settle(l, i)...)
		}
	}
	for _, f := range facts {
		l.Apply(nexus.Event{Run: l.Run, At: time.Now(), Fact: f})
	}
	if l.HasNoFreeSlot() {
		return append(facts, looked)
	}
	first := y.rnd.IntN(len(y.lines))
	for n := range y.lines {
		w, ok := y.wanted((first + n) % len(y.lines))
		if !ok {
			continue
		}
		if len(looked.Wanted) == 20 {
			break
		}
		if rule, _ := l.BlockingRule(w, time.Now().UTC()); rule == "" && y.renew(l.BaseBranch(w.Strategy)) {
			looked.Wanted = append(looked.Wanted, w)
		}
	}
	return append(facts, looked)
}

func (y *yard) work(f nexus.LoopItemWorkStarted) []nexus.Fact {
	r := y.runs[f.Item]
	if r == nil {
		n := at(f.Wanted.Files[0])
		r = &yardRun{want: f.Wanted, start: y.tip, was: y.line(f.Base, n)}
		r.stale = r.was != f.Wanted.Mark && y.lines[n] == f.Wanted.Mark
		y.runs[f.Item] = r
	}
	if !r.done {
		r.done, r.spent = true, min(y.price, f.Reserved)
		r.worked++
		y.spent += r.spent
		to := map[byte]string{'a': "b", 'b': "a", 'x': "ok"}[r.was[len(r.was)-1]]
		if to == "" || y.rnd.Float64() < y.fails {
			r.is = "" // it came to nothing
		} else {
			r.is = r.was[:len(r.was)-1] + to
		}
	}
	if r.is == "" {
		return []nexus.Fact{nexus.LoopItemWorkEnded{Item: f.Item, Status: nexus.StatusFailed, Spent: r.spent, Why: "no idea"}}
	}
	s := f.Wanted.Strategy
	return []nexus.Fact{nexus.LoopItemWorkEnded{
		Item: f.Item, Status: nexus.StatusDone, Spent: r.spent, Branch: "nexus/" + string(f.Item), Start: fmt.Sprint(r.start), Commit: string(f.Item),
		Change: nexus.LoopItemChange{Files: f.Wanted.Files, Lines: 2, Touched: []string{s + " " + r.was, s + " " + r.is}},
	}}
}

func (y *yard) land(f nexus.LoopItemLandingStarted, l *improveloop.ImproveLoop) []nexus.Fact {
	i, r := l.ItemByID(f.Item), y.runs[f.Item]
	n := at(i.Wanted.Files[0])
	landed := []nexus.Fact{nexus.LoopItemLanded{Item: f.Item, Target: f.Target, Before: fmt.Sprint(y.tip), Commit: fmt.Sprint(y.tip + 1)}}
	switch {
	case r.landed > 0:
		return landed // a process that died did it
	case f.Target != l.Target:
		return y.wait(f, i, r, landed)
	case y.lines[n] != r.was:
		r.kept = true
		return []nexus.Fact{nexus.LoopItemLandingConfirmed{Item: f.Item, Rule: string(improveloop.Yielded), Why: "somebody changed it"}}
	}
	y.set(i.Wanted.Strategy, n, r.is)
	r.landed++
	if m := y.rnd.IntN(len(y.lines)); y.rnd.Float64() < y.spoils && m != n {
		y.lines[m] = fmt.Sprintf("line %d version %d x", m, y.tip)
	}
	return landed
}

// line is a line as a branch has it.
func (y *yard) line(branch string, n int) string {
	if t := y.themes[branch]; t != nil {
		if text, ok := t.changes[n]; ok {
			return text
		}
		return t.at[n]
	}
	return y.lines[n]
}

// renew brings the newest commits of the target to the branch of a theme, and reports whether it could.
func (y *yard) renew(branch string) bool {
	t := y.themes[branch]
	if t == nil {
		return true
	}
	for n := range t.changes {
		if t.at[n] != y.lines[n] {
			return false
		}
	}
	t.at = slices.Clone(y.lines)
	return true
}

// wait puts a result on the branch of its theme.
func (y *yard) wait(f nexus.LoopItemLandingStarted, i *improveloop.LoopItem, r *yardRun, landed []nexus.Fact) []nexus.Fact {
	n := at(i.Wanted.Files[0])
	if y.themes[f.Target] == nil {
		y.themes[f.Target] = &theme{at: slices.Clone(y.lines), changes: map[int]string{}}
	}
	if y.line(f.Target, n) != r.was {
		r.kept = true
		return []nexus.Fact{nexus.LoopItemLandingConfirmed{Item: f.Item, Rule: string(improveloop.Yielded), Why: "somebody changed it"}}
	}
	y.themes[f.Target].changes[n] = r.is
	r.landed++
	return landed
}

// settle lets a person merge or delete the branch of a result, and says what became of all results that waited there.
func (y *yard) settle(l *improveloop.ImproveLoop, i *improveloop.LoopItem) (facts []nexus.Fact) {
	branch := i.Target
	t := y.themes[branch]
	if t == nil && !strings.HasPrefix(branch, nexus.Theme) {
		return []nexus.Fact{nexus.WaitingResultDecided{Item: i.ID, How: []string{nexus.ResultMerged, nexus.ResultRejected}[y.rnd.IntN(2)]}}
	}
	if t == nil { // it was settled with another result
		return nil
	}
	how, left := nexus.ResultMerged, false
	switch merges := y.renew(branch); {
	case !merges || y.rnd.IntN(3) == 0:
		how = nexus.ResultRejected
	default:
		left = y.rnd.IntN(2) == 0 // as one commit, and the branch stays
		for n, text := range t.changes {
			y.set(strings.TrimPrefix(branch, nexus.Theme), n, text)
		}
	}
	for _, i := range l.LandedItemsOn(branch) {
		facts = append(facts, nexus.WaitingResultDecided{Item: i.ID, How: how, Left: left})
		if how == nexus.ResultMerged {
			y.seen++
		}
	}
	delete(y.themes, branch)
	return facts
}

func (y *yard) weigh(f nexus.CheckAfterLandingStarted, _ *improveloop.ImproveLoop) []nexus.Fact {
	w := nexus.LandingCheckEnded{Item: f.Item}
	if y.rnd.Float64() < y.spoils {
		w.Worse = []nexus.WorsenedFinding{{Finding: "mistakes/new", Strategy: "mistakes", Title: "new", After: 1}}
	}
	return []nexus.Fact{w}
}

func (y *yard) revert(f nexus.LoopItemRevertStarted, l *improveloop.ImproveLoop) []nexus.Fact {
	i, r := l.ItemByID(f.Item), y.runs[f.Item]
	n := at(i.Wanted.Files[0])
	switch t := y.themes[i.Target]; {
	case r.landed == 2: // taken back before
	case t != nil && t.changes[n] == r.is && t.at[n] == r.was:
		delete(t.changes, n)
		r.landed = 2
	case i.Target != l.Target:
		return []nexus.Fact{nexus.LoopItemRevertFailed{Item: f.Item, Why: "somebody changed it since"}}
	case y.lines[n] != r.is:
		return []nexus.Fact{nexus.LoopItemRevertFailed{Item: f.Item, Why: "somebody changed it since"}}
	default:
		y.set("", n, r.was)
		r.landed = 2
	}
	return []nexus.Fact{nexus.LoopItemReverted{Item: f.Item, Commit: fmt.Sprint(y.tip)}}
}

// again returns the changes of a line for the same reason within a week that no person's
// change came between.
func (y *yard) again() []string {
	last := map[int]change{}
	var all []string
	for _, c := range y.log {
		if c.strategy == "" {
			delete(last, c.line)
			continue
		}
		if l, ok := last[c.line]; ok && l.strategy == c.strategy && c.at.Sub(l.at) < improveloop.Week {
			all = append(all, fmt.Sprintf("line %d: %s at %s, and %s at %s", c.line, l.is, l.at, c.is, c.at))
		}
		last[c.line] = c
	}
	return all
}

// account says what of the world the journal does not know, or tells otherwise.
func (y *yard) account(events iter.Seq2[nexus.Event, error]) (all []string, facts int) {
	taken, ended, landed := map[nexus.RunID]int{}, map[nexus.RunID]int{}, map[nexus.RunID]int{}
	unknown := map[nexus.RunID]bool{} // a process died before it could record the landing, and the next one's machinery failed
	var spent nexus.Money
	for e, err := range events {
		if err != nil {
			return []string{err.Error()}, facts
		}
		facts++
		switch f := e.Fact.(type) {
		case nexus.LoopItemWorkStarted:
			taken[f.Item]++
		case nexus.LoopItemWorkEnded:
			ended[f.Item]++
			spent += f.Spent
		case nexus.LoopItemLanded:
			landed[f.Item]++
		case nexus.LoopItemLandingConfirmed:
			unknown[f.Item] = strings.Contains(f.Why, "it is unknown whether it landed")
		default:
		}
	}
	for id, r := range y.runs {
		if r.stale {
			all = append(all, fmt.Sprintf("%s was done on a line that was another one when it was found", id))
		}
		if r.worked > 1 {
			all = append(all, fmt.Sprintf("%s was paid for %d times", id, r.worked))
		}
		if taken[id] != 1 || ended[id] > 1 || landed[id] > 1 {
			all = append(all, fmt.Sprintf("%s was taken %d times, ended %d times, landed %d times", id, taken[id], ended[id], landed[id]))
		}
		if r.landed > 0 && landed[id] == 0 && r.want.Strategy != "" && !r.kept && !unknown[id] {
			all = append(all, fmt.Sprintf("%s landed, and nobody knows", id))
		}
	}
	if spent < y.spent {
		all = append(all, fmt.Sprintf("%s were spent, and %s are known", y.spent, spent))
	}
	slices.Sort(all)
	return all, facts
}

// head returns the first of some complaints.
func head(all []string) string { return strings.Join(all[:min(len(all), 5)], "\n") }
