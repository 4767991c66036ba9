package cli

import (
	"encoding/json"
	"fmt"
	"html"
	"iter"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/budget"
	"github.com/nexus-ai-builder/nexus/internal/decide/runhistory"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/statusfile"
	"github.com/nexus-ai-builder/nexus/internal/face/tui"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run/sim"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/estimatetext"
	"github.com/nexus-ai-builder/nexus/internal/view/health"
	"github.com/nexus-ai-builder/nexus/internal/view/linemode"
	"github.com/nexus-ai-builder/nexus/internal/view/notice"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
	"github.com/nexus-ai-builder/nexus/internal/view/runquality"
	"github.com/nexus-ai-builder/nexus/internal/view/runreport"
	"github.com/nexus-ai-builder/nexus/internal/view/taskdetail"
)

// TestFacesAgreeOnSimulatedRuns cuts simulated runs at random points, which are parallel, failing, parked,
// paused, killed, resumed, rewound and undone, shows each once as in progress and once as dead, and compares
// every figure and every word of all faces.
func TestFacesAgreeOnSimulatedRuns(t *testing.T) {
	seeds := uint64(24)
	if testenv.RunsNightly() {
		seeds = 400
	}
	seen := map[string]int{}
	for seed := range seeds {
		events := sim.RecordRun(seed)
		dice := rand.New(rand.NewPCG(seed, 3)) //nolint:gosec // a seed must give the same cuts
		paused := 1 + slices.IndexFunc(events, func(e nexus.Event) bool { _, ok := e.Fact.(nexus.RunPaused); return ok })
		for _, n := range []int{len(events), max(paused, 1), 1 + dice.IntN(len(events)), 1 + dice.IntN(len(events)), 1 + dice.IntN(len(events))} {
			for _, held := range []bool{true, false} {
				c := newShownRun(t, seed, events[:n], held)
				c.compareFaces()
				seen[string(c.run.Status)]++
				for _, task := range c.run.Tasks {
					seen[string(task.Status)]++
				}
				if t.Failed() {
					t.FailNow()
				}
			}
		}
	}
	for _, word := range []string{"executing", "interrupted", "done", "paused", "landed", "running", "parked", "failed", "pending", "blocked", "skipped", "boarding", "split"} {
		if seen[word] == 0 {
			t.Errorf("no run and no task was ever %s: %v", word, seen)
		}
	}
}

// shownRun is a run at one moment, as the faces show it.
type shownRun struct {
	t          *testing.T
	name       string
	held       bool
	events     []nexus.Event
	state      *state.State
	projection *projection.RunProjection
	run        view.RunView
	now        time.Time
}

func newShownRun(t *testing.T, seed uint64, events []nexus.Event, held bool) *shownRun {
	t.Helper()
	c := &shownRun{t: t, held: held, events: events, projection: projection.NewProjection("sim", projection.Options{}), state: state.NewState("sim")}
	last := events[len(events)-1]
	c.name = fmt.Sprintf("seed %d, event %d, %s, held %v", seed, last.Seq, nexus.FactKind(last.Fact), held)
	for _, e := range events {
		if err := c.state.Apply(e); err != nil {
			t.Fatal(err)
		}
		if err := c.projection.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	about := projection.RunFactsOutsideJournal{Known: true}
	if held {
		about.Held = &nexus.RunProcess{PID: 7, Host: "h"}
	}
	c.projection.SetConductor(about.Held)
	c.now = last.At.Add(90 * time.Minute)
	c.run = projection.BuildRunView(c.state, about, c.now)
	return c
}

// equal compares what a face says with what the run's view says.
func (c *shownRun) equal(face string, got, want any) {
	c.t.Helper()
	if x, y := asJSON(c.t, got), asJSON(c.t, want); x != y {
		c.t.Errorf("%s: %s says %s, the run %s", c.name, face, x, y)
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// contains compares the words in a text.
func (c *shownRun) contains(face, text string, words ...string) {
	c.t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			c.t.Errorf("%s: %s does not say %q:\n%s", c.name, face, w, text)
		}
	}
}

func (c *shownRun) compareFaces() {
	c.compareRun()
	c.compareTexts()
	c.compareTasks()
	c.compareBill()
	c.compareReport()
	c.compareOthers()
}

// compareRun compares the run with itself: counts are sums, times are parts of the whole.
func (c *shownRun) compareRun() {
	r, n := c.run, c.run.Counts
	c.equal("the projection", c.projection.Run(c.now), r)
	c.equal("the sum of the counts", n.Landed+n.Active+n.Pending+n.Blocked+n.Parked+n.Failed+n.Skipped, n.Total)
	if r.Money.Spent > r.Money.Limit+r.Money.Limit/2 {
		c.t.Errorf("%s: %s of %s is spent", c.name, r.Money.Spent, r.Money.Limit)
	}
	if !r.Started.IsZero() && !c.state.Started.IsZero() {
		until := c.now
		if r.Status.HasEnded() {
			until = r.Ended
		} else if r.Status == nexus.StatusInterrupted {
			until = c.state.Updated
		}
		if whole := until.Sub(c.state.Started).Seconds(); math.Abs(r.Seconds+r.Waited-whole) > 0.01 {
			c.t.Errorf("%s: worked %v s and waited %v s of %v s", c.name, r.Seconds, r.Waited, whole)
		}
	}
	if dead := r.Status.HasEnded() || r.Status == nexus.StatusInterrupted; !dead {
		return
	}
	c.equal("active tasks of a run that is not in progress", n.Active, 0)
	for _, t := range r.Tasks {
		c.equal("the present of "+string(t.ID), []any{t.Now, t.Left, t.Doing}, []any{nil, nil, ""})
	}
	later := projection.BuildRunView(c.state, projection.RunFactsOutsideJournal{Held: r.Held, Known: true}, c.now.Add(24*time.Hour))
	c.equal("a day later", []any{later.Seconds, later.Waited, later.Tasks}, []any{r.Seconds, r.Waited, r.Tasks})
}

// compareTexts compares what the commands print.
func (c *shownRun) compareTexts() {
	r, plain := c.run, view.OutputStyle{Plain: true}
	status, time := string(r.Status), view.FormatSeconds(r.Seconds)
	landed, fraction := fmt.Sprintf("%d of %d landed", r.Counts.Landed, r.Counts.Total), fmt.Sprintf("%d/%d", r.Counts.Landed, r.Counts.Total)
	money := fmt.Sprintf("%s of %s", r.Money.Spent, r.Money.Limit)
	c.contains("status", view.DrawStatus(view.OutputStyle{}, r), status, time, landed, money)
	c.contains("show", view.DrawReport(view.OutputStyle{}, r, true), status, time, landed, money)
	c.contains("runs", view.DrawRunOverview(plain, []view.RunView{r}), status, "\t"+time+"\t", fraction, r.Money.Spent.String())
	c.contains("ps", view.DrawUnfinishedRuns(plain, []view.UnfinishedRunRow{{RunView: r}}, false), status, "\t"+time+"\t", fraction, r.Money.Spent.String())
	c.contains("the heartbeat", (&linemode.EventLogDrawer{Style: plain}).HeartbeatLine(r, c.now), status, time, money)
	if len(r.Tasks) > 0 {
		c.contains("the summary", (&linemode.EventLogDrawer{Style: plain}).EndTable(r), status, time, landed, r.Money.Spent.String())
	}
	if r.Status.HasEnded() && r.Status != nexus.StatusDone {
		c.contains("the comment on the issue", view.IssueComment(r), status, landed[:strings.Index(landed, " of ")]+" of "+view.CountWithNoun(r.Counts.Total, "task")+" landed")
	}
}

// compareTasks compares the faces of each task.
func (c *shownRun) compareTasks() {
	cards := map[nexus.TaskID]projection.TaskCard{}
	for _, card := range c.projection.TaskCards(c.now) {
		cards[card.ID] = card
	}
	lanes := map[nexus.TaskID]projection.BoardLane{}
	for _, n := range c.projection.PlanGraph(c.now).Nodes {
		lanes[n.ID] = n.Lane
	}
	for _, t := range c.run.Tasks {
		d := taskdetail.NewTaskDetail(c.state, c.run, c.state.TaskByID(t.ID), "")
		page, _ := c.projection.TaskDetailView(t.ID, c.now)
		c.equal("show "+string(t.ID), d.Task, t)
		c.equal("the page of "+string(t.ID), page.TaskView, t)
		c.contains("show "+string(t.ID), taskdetail.DrawTaskDetail(view.OutputStyle{Plain: true}, d), string(t.Status), t.Spent.String(), view.CountWithNoun(t.Rounds, "round"))
		var attempts, pages float64
		var paid nexus.Money
		for i, a := range d.Attempts {
			attempts, pages = attempts+a.Seconds, pages+page.Tries[i].Seconds
			for _, s := range a.Sessions {
				paid += s.Spent
			}
		}
		if math.Abs(attempts-t.Seconds) > 0.01 || math.Abs(pages-t.Seconds) > 0.01 {
			c.t.Errorf("%s: %s took %v s, its attempts %v s, on its page %v s", c.name, t.ID, t.Seconds, attempts, pages)
		}
		if paid > t.Spent { // it also paid for the sessions that merged or split it
			c.t.Errorf("%s: %s cost %s, and its sessions %s", c.name, t.ID, t.Spent, paid)
		}
		if t.Status == nexus.Split {
			continue
		}
		card := cards[t.ID]
		c.equal("the board on "+string(t.ID), card.TaskView, t)
		c.equal("the graph on "+string(t.ID), lanes[t.ID], card.Lane)
		moving := slices.Contains([]projection.BoardLane{projection.LaneRunning, projection.LaneVerifying, projection.LaneReview, projection.LaneLanding}, card.Lane)
		if c.run.Counts.Active == 0 && moving || card.Met > card.Criteria {
			c.t.Errorf("%s: %s is %s in %s, with %d of %d criteria", c.name, t.ID, t.Status, card.Lane, card.Met, card.Criteria)
		}
	}
}

// compareBill holds that each breakdown of the bill adds up to what the run shows, and each call
// counts once, at the tier at which it ran.
func (c *shownRun) compareBill() {
	bill, r := view.BillOf(c.state), c.run
	c.equal("cost", []any{bill.Money, bill.Usage}, []any{r.Money, r.Usage})
	tiers, calls, open := map[string]nexus.Money{}, 0, map[string]nexus.BudgetReserved{}
	for _, e := range c.events {
		switch f := e.Fact.(type) {
		case nexus.BudgetReserved:
			open[f.ID] = f
		case nexus.BudgetSettled:
			if reserved, ok := open[f.ID]; ok {
				tier := string(reserved.Tier)
				if a := c.state.AttemptByID(attemptOf(reserved.Session)); tier == "" && a != nil {
					tier = string(a.Tier)
				}
				if tier == "" {
					tier = "none"
				}
				tiers[tier] += f.Money
				calls++
				delete(open, f.ID)
			}
		default:
		}
	}
	for name, all := range map[string][]view.CostShare{
		"task": bill.Tasks, "attempt": bill.Attempts, "session": bill.Sessions, "role": bill.Roles, "purpose": bill.Purposes,
		"tier": bill.Tiers, "model": bill.Models, "provider": bill.Providers,
	} {
		var sum budget.CostTotal
		for _, s := range all {
			sum.Money, sum.Calls, sum.Usage = sum.Money+s.Money, sum.Calls+s.Calls, sum.Usage.Add(s.Usage)
			if name == "tier" && tiers[s.Name] != s.Money {
				c.t.Errorf("%s: %s at tier %s, and %s ran at it", c.name, s.Money, s.Name, tiers[s.Name])
			}
		}
		c.equal("the bill by "+name, []any{sum.Money, sum.Calls, sum.Usage}, []any{r.Money.Spent, calls, r.Usage})
	}
	for _, s := range bill.Tasks {
		if t, ok := r.TaskByID(nexus.TaskID(s.Name)); ok {
			c.equal("the bill of "+s.Name, s.Money, t.Spent)
		}
	}
	cost := c.projection.Cost(c.now)
	c.equal("the page of the cost", []any{cost.RunMoney, cost.Cached, len(cost.Tasks)}, []any{bill.Money, bill.Cached, len(bill.Tasks)})
	for name, all := range map[string][]projection.RunCostPart{"stage": cost.Stages, "day": cost.Days, "role": cost.Roles} {
		var sum nexus.Money
		for _, s := range all {
			sum += s.Spent
		}
		c.equal("the page of the cost by "+name, sum, r.Money.Spent)
	}
	c.contains("cost", view.DrawBill(view.OutputStyle{Plain: true}, bill, budget.ByTask), r.Money.Spent.String())
}

// attemptOf returns the attempt that a session works on, or merges.
func attemptOf(id nexus.SessionID) nexus.AttemptID {
	attempt, _, _ := strings.Cut(string(id), "/")
	return nexus.AttemptID(strings.TrimSuffix(attempt, "-merge"))
}

// compareReport compares the reports in all forms.
func (c *shownRun) compareReport() {
	r := c.run
	q := runquality.NewRunQuality(c.state, r, accept.BuildCriteriaTable(c.state, nil))
	report := runreport.NewRunReport(runreport.ReportInput{
		State: c.state, Run: r, Criteria: accept.BuildCriteriaTable(c.state, nil), Quality: q,
		Graph: c.projection.PlanGraph(c.now), Timeline: c.projection.Timeline(c.now), Now: c.now,
	})
	m := report.Metrics
	c.equal("the report", []any{report.Status, report.Why, m.Landed, m.Tasks, m.Parked, m.Helped, report.Money.Spent, report.Money.Limit, report.Time.Worked},
		[]any{r.Status, r.Why, r.Counts.Landed, r.Counts.Total, r.Counts.Parked + r.Counts.Failed, r.Counts.Helped, r.Money.Spent, r.Money.Limit, r.Seconds})
	for i, t := range report.Tasks {
		row := r.Tasks[i]
		c.equal("the report on "+string(t.ID), []any{t.Status, t.Why, t.Commit, t.Attempts, t.Rounds, t.Spent, t.Seconds},
			[]any{row.Status, row.Why, row.Commit, row.Attempts, row.Rounds, row.Spent, row.Seconds})
	}
	for _, share := range []float64{m.FirstAttempt, m.FirstRound, m.Escalated, m.Person, m.Rejected, report.Money.Cached} {
		if share < 0 || share > 1 {
			c.t.Errorf("%s: the report says %.0f %%: %+v", c.name, 100*share, m)
		}
	}
	landed := fmt.Sprintf("%d of %d", r.Counts.Landed, r.Counts.Total)
	words := []string{string(r.Status), landed, r.Money.Spent.String()}
	if r.Seconds > 0 {
		words = append(words, view.FormatSeconds(r.Seconds))
	}
	c.contains("the report in Markdown", runreport.MarkdownReport(report), words...)
	c.contains("the report as a page", html.UnescapeString(runreport.HTMLReport(report)), words...)
	c.contains("the report for a pull request", runreport.PullRequestText(report, runreport.PullLimit), landed)
}

// compareOthers compares the status file, notices, the terminal interface, the history and the metrics.
func (c *shownRun) compareOthers() {
	r, n := c.run, c.run.Counts
	if c.held || r.Status.HasEnded() {
		file := statusfile.NewStatusFile(c.state, statusfile.Options{}, c.now)
		p := file.Progress
		c.equal("the status file", []any{p.Total, p.Passed, p.Failed, p.Blocked, file.Cost.Spent, file.Cost.Limit, file.DurationMs, len(file.Parallel.ActiveStories), len(file.Questions)},
			[]any{n.Total, n.Landed, n.Failed, n.Blocked, r.Money.Spent, r.Money.Limit, int64(math.Round(r.Seconds * 1000)), n.Active, len(r.Asks)})
	}
	snap, err := tui.TakeSnapshot(c.projection, tui.SnapshotRequest{Run: "sim", View: tui.CostView}, c.now)
	if err != nil {
		c.t.Fatal(err)
	}
	c.equal("the terminal interface", []any{snap.Run, snap.Interrupted, snap.Cost.RunMoney}, []any{r, r.Status == nexus.StatusInterrupted, r.Money})
	c.equal("waiting items", projection.CountWaiting(snap.Inbox), r.Waiting)
	measured := measured(r)
	c.equal("the metrics", []any{measured.landed, measured.open, measured.waiting, measured.worked}, []any{n.Landed, n.Active + n.Pending, r.Waiting, view.FormatSeconds(r.Seconds)})
	f := runhistory.SummarizeRuns([]runhistory.RunRecord{runhistory.SummarizeRun(c.state)})
	c.equal("the history", []any{f.Money, f.Of.Tasks, f.Of.Landed, f.Of.Failed, f.Of.Parked}, []any{r.Money.Spent, n.Total, n.Landed, n.Failed, n.Parked})
	vitals := health.ReportFor(c.state, nil, c.held, c.now)
	c.equal("the health of a run without a conductor", len(vitals.Attempts) > 0 && !c.held, false)
	if e := projection.PlanEstimate(c.state); e != nil {
		if e.Most > max(r.Money.Limit, r.Money.Spent) || e.Most < r.Money.Spent {
			c.t.Errorf("%s: at the worst %s, with %s of %s spent", c.name, e.Most, r.Money.Spent, r.Money.Limit)
		}
		for _, amount := range regexp.MustCompile(`\$[0-9.]+`).FindAllString(estimatetext.DescribeEstimate(*e).Money, -1) {
			var dollars float64
			if _, err := fmt.Sscanf(amount, "$%f", &dollars); err != nil || dollars > e.Most.Dollars()+0.005 && e.Money <= e.Most {
				c.t.Errorf("%s: %s is more than the worst: %s", c.name, amount, estimatetext.DescribeEstimate(*e).Money)
			}
		}
	}
	c.compareNotices()
}

// compareNotices compares the notice about the end of a run.
func (c *shownRun) compareNotices() {
	last := c.events[len(c.events)-1]
	if _, over := last.Fact.(nexus.RunEnded); !over {
		return
	}
	collector := notice.NoticeCollector{Past: func(nexus.RunID) iter.Seq2[nexus.Event, error] {
		return func(yield func(nexus.Event, error) bool) {
			for _, e := range c.events {
				if !yield(e, nil) {
					return
				}
			}
		}
	}}
	all, err := collector.Apply(last)
	if err != nil || len(all) != 1 {
		c.t.Fatalf("%s: %v, %v", c.name, all, err)
	}
	c.contains("the notice", all[0].Title, string(c.run.Status))
	c.contains("the notice", all[0].Text, fmt.Sprintf("%d of %d tasks landed", c.run.Counts.Landed, c.run.Counts.Total))
}
