package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/decide/replan"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view/failurecauses"
)

// DrawReport draws the result of a run: figures, landed tasks, others with their reasons, and, if
// more is set, the next commands.
func DrawReport(s OutputStyle, r RunView, more bool) string {
	var b strings.Builder
	b.WriteString(s.TruncateLine(s.colourStatus(r.Status)+"  "+s.Bold(GoalLine(r.Goal))) + "\n")
	if r.Why != "" && r.Status != nexus.StatusPartial && r.Status != nexus.StatusDone { // those list it below
		b.WriteString(s.Wrap(EscapeForTerminal(r.Why), "  ") + "\n")
	}
	rows := [][]string{
		{"  run", string(r.ID)},
		{"  tasks", s.landedSummary(r.Counts)},
		{"  rounds", FormatNumber(int64(r.Rounds))},
		{"  time", FormatSeconds(r.Seconds)},
		{"  tokens", TokensText(s, r.Usage)},
		{"  money", fmt.Sprintf("%s of %s", r.Money.Spent, r.Money.Limit)},
	}
	for _, text := range windowTexts(r.Windows) {
		rows = append(rows, []string{"  quota", text})
	}
	b.WriteString("\n" + DrawTable(OutputStyle{Color: s.Color, ASCII: s.ASCII, Width: s.Width}, nil, rows))
	section := func(title string, pick func(TaskView) []string) {
		var rows [][]string
		for _, t := range r.Tasks {
			if row := pick(t); row != nil {
				rows = append(rows, row)
			}
		}
		if len(rows) > 0 {
			fmt.Fprintf(&b, "\n%s\n%s", s.Bold(title), DrawTable(OutputStyle{Color: s.Color, ASCII: s.ASCII, Width: s.Width}, nil, rows))
		}
	}
	section("landed"+landedOnText(r), func(t TaskView) []string {
		if t.Status != nexus.Landed {
			return nil
		}
		return []string{"  " + s.StatusGlyph(t.Status), string(t.ID), ShortHash(t.Commit), EscapeForTerminal(t.Title), CountWithNoun(t.Rounds, "round"), string(t.Tier), t.Spent.String()}
	})
	b.WriteString(DrawPlanReaction(s, r.Consent))
	b.WriteString(notLandedSection(s, r))
	b.WriteString(decisionSection(s, r))
	if r.Cover != nil && r.Cover.State != nexus.CoverFull {
		b.WriteString("\n" + DrawPlanCoverage(s, r.Cover))
	}
	b.WriteString(questionSection(s, r))
	b.WriteString(attentionSection(s, r))
	b.WriteString(lateGuidanceSection(s, r))
	if r.Stayed != "" {
		fmt.Fprintf(&b, "\n%s\n", s.Warn(EscapeForTerminal(r.Stayed)))
	}
	if more {
		b.WriteString("\n" + s.Bold("next") + "\n" + nextSteps(s, r))
	}
	return s.Sanitize(b.String())
}

// DeliveryText describes in one line where the landed changes are now, or why they are not there.
func (r RunView) DeliveryText() string { return EscapeForTerminal(r.rawDeliveryText()) }

func (r RunView) rawDeliveryText() string {
	count := CountWithNoun(r.Counts.Landed, "task")
	switch {
	case r.Moved != "":
		return fmt.Sprintf("%s landed on %s, now at %s", count, r.Moved, ShortHash(cmp.Or(r.Merged, r.Commit)))
	case r.Branch != "" && r.Stayed != "":
		return fmt.Sprintf("%s published as %s, at %s; %s", count, r.Branch, ShortHash(r.Commit), r.Stayed)
	case r.Branch != "":
		return fmt.Sprintf("%s published as %s, at %s", count, r.Branch, ShortHash(r.Commit))
	default:
		return "not published: " + r.Stayed
	}
}

// lateGuidanceSection lists guidance that arrived too late for its agent.
func lateGuidanceSection(s OutputStyle, r RunView) string {
	if len(r.Late) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n" + s.Warn("sent too late: the task landed before an agent received it") + "\n")
	for _, l := range r.Late {
		b.WriteString(s.TruncateLine(fmt.Sprintf("  %s  %s", l.Task, EscapeForTerminal(l.Text))) + "\n")
	}
	return b.String()
}

// criteriaShownOnlyByOwnTests lists the criteria of a landed task whose only evidence is tests from the change
// itself, although an independent check was tried.
func criteriaShownOnlyByOwnTests(t *state.TaskState) []string {
	if t.Status != nexus.Landed {
		return nil
	}
	var all []string
	for n, c := range t.Criteria {
		if w, fresh := t.CriterionEvidence(n + 1); fresh && w.Own && w.Tried != "" {
			all = append(all, fmt.Sprintf("%s: shown only by tests that the change itself added: %s; %s", c.Text, strings.Join(w.Tests, ", "), w.Tried))
		}
	}
	return all
}

// attentionSection lists the points for a person to check before the result is used: earlier
// failures, files, and tests that are the only evidence of a criterion.
func attentionSection(s OutputStyle, r RunView) string {
	var b strings.Builder
	for _, text := range r.Red {
		b.WriteString(s.Wrap("result  "+EscapeForTerminal(text), "  ") + "\n")
	}
	for _, t := range r.Tasks {
		for _, text := range t.Own {
			b.WriteString(s.Wrap(fmt.Sprintf("%s  %s", t.ID, EscapeForTerminal(text)), "  ") + "\n")
		}
		for i, f := range t.Critical {
			if i == 10 {
				fmt.Fprintf(&b, "  %s  and %s\n", t.ID, CountWithNoun(len(t.Critical)-i, "more file"))
				break
			}
			b.WriteString(s.TruncateLine(fmt.Sprintf("  %s  %s  %s", t.ID, EscapeForTerminal(f.File), EscapeForTerminal(f.Message))) + "\n")
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n" + s.Bold("look at") + "\n" + b.String()
}

// questionSection lists the open questions.
func questionSection(s OutputStyle, r RunView) string {
	if len(r.Asks) == 0 {
		return ""
	}
	text := "\n" + s.Bold("asks you") + "\n"
	for _, q := range r.Asks {
		text += s.Wrap("?  "+q.ID+ofTaskText(q.Task)+"  "+EscapeForTerminal(q.Text), "  ") + "\n"
	}
	return text
}

// notLandedSection lists the tasks that did not land, with the reasons.
func notLandedSection(s OutputStyle, r RunView) string {
	var b strings.Builder
	for _, t := range r.Tasks {
		if t.Status == nexus.Landed {
			continue
		}
		b.WriteString(s.TruncateLine(fmt.Sprintf("  %s  %s  %s  %s", s.StatusGlyph(t.Status), t.ID, t.Status, EscapeForTerminal(t.Title))) + "\n")
		if t.Why != "" {
			b.WriteString(s.Wrap(EscapeForTerminal(t.Why), "       ") + "\n")
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n" + s.Bold("not landed") + "\n" + b.String()
}

// decisionSection lists the continuations of tasks that reached a threshold.
func decisionSection(s OutputStyle, r RunView) string {
	var b strings.Builder
	for _, t := range r.Tasks {
		for _, d := range t.Decisions {
			b.WriteString(s.Wrap(string(t.ID)+": "+EscapeForTerminal(replan.DecisionText(d)), "  ") + "\n")
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n" + s.Bold("decisions during the run") + "\n" + b.String()
}

func (s OutputStyle) landedSummary(c TaskCounts) string {
	text := fmt.Sprintf("%d of %d landed", c.Landed, c.Total)
	for _, part := range []struct {
		n    int
		word string
	}{{c.Parked, "parked"}, {c.Failed, "failed"}, {c.Blocked, "blocked"}, {c.Skipped, "skipped"}, {c.Active + c.Pending, "open"}} {
		if part.n > 0 {
			text += fmt.Sprintf("%s%d %s", s.Separator(), part.n, part.word)
		}
	}
	if c.Helped > 0 {
		text += fmt.Sprintf("%sa person helped with %d", s.Separator(), c.Helped)
	}
	return text
}

// TokensText formats the input and output tokens.
func TokensText(s OutputStyle, u nexus.Usage) string {
	text := fmt.Sprintf("%s in%s%s out", FormatNumber(u.PromptTokens()), s.Separator(), FormatNumber(u.Output))
	if u.CacheRead > 0 {
		text += s.Separator() + FormatPercent(CacheShare(u)) + " from the cache"
	}
	return text
}

func landedOnText(r RunView) string {
	switch {
	case r.Moved != "":
		return fmt.Sprintf(" on %s, now at %s", r.Moved, ShortHash(cmp.Or(r.Merged, r.Commit)))
	case r.Branch != "":
		return fmt.Sprintf(" on %s, at %s", r.Branch, ShortHash(r.Commit))
	default:
		return ""
	}
}

// needsResume reports whether the run must be resumed after an answer.
func needsResume(q OpenQuestion) bool {
	return q.Task != "" || q.Trigger == humaninput.PlanTrigger || q.Trigger == nexus.AddTrigger || q.Trigger == nexus.StepTrigger
}

// rejectCommand returns the command that refuses a question's request.
func rejectCommand(q OpenQuestion) string {
	if q.Trigger == humaninput.PlanTrigger {
		return "nexus reject " + q.ID + " --why TEXT"
	}
	return "nexus reject " + q.ID
}

// mostRemedies limits the listed remedies. nexus diagnose lists all.
const mostRemedies = 3

// remedyLines lists the necessary fixes before a retry, in the words of nexus diagnose.
func remedyLines(s OutputStyle, r RunView) string {
	var b strings.Builder
	for i, c := range r.Causes {
		if i == mostRemedies {
			fmt.Fprintf(&b, "  and %d more: nexus diagnose %s\n", len(r.Causes)-i, r.ID)
			break
		}
		text := EscapeForTerminal(c.Fix)
		if c.Task != "" {
			text = string(c.Task) + ": " + text
		}
		b.WriteString(s.Wrap(text, "  ") + "\n")
	}
	return b.String()
}

// nextSteps lists the next steps for a person.
func nextSteps(s OutputStyle, r RunView) string { return remedyLines(s, r) + nextCommands(s, r) }

// nextCommands lists the next commands for a person.
func nextCommands(s OutputStyle, r RunView) string {
	var rows [][]string
	add := func(command, why string) { rows = append(rows, []string{"  " + command, "# " + why}) }
	for _, q := range r.Asks {
		add(answerCommand(r, q))
	}
	for _, t := range r.Tasks {
		if slices.ContainsFunc(r.Asks, func(q OpenQuestion) bool { return q.Task == t.ID }) {
			continue
		}
		if t.Status == nexus.Parked || t.Status == nexus.Failed {
			add("nexus status "+string(t.ID), "see the attempts and the reason")
			again := "retry it"
			if slices.ContainsFunc(r.Causes, func(c failurecauses.KnownCause) bool { return c.Task == t.ID || c.Task == "" }) {
				again = "then retry it"
			}
			add(fmt.Sprintf("nexus retry %s && nexus resume", t.ID), again)
			break
		}
	}
	open := r.Counts.Total == 0 || r.Counts.Active+r.Counts.Pending > 0
	switch {
	case r.Held != nil:
		add("nexus status", "see the progress")
	case r.Mode == nexus.Draft && r.Status == nexus.StatusDone && r.Counts.Total > 0:
		add(fmt.Sprintf("nexus plan --run %s --markdown >plan.md && nexus run --plan plan.md", r.ID), "run the plan; edit it first if you like")
	case !r.Mode.WorksOnTasks() && r.Status == nexus.StatusDone:
	case !r.Status.HasEnded() || open && r.Status != nexus.StatusLimit:
		add("nexus resume", "continue where it stopped")
	}
	if r.Status == nexus.StatusLimit {
		add(raiseLimitCommand(r.OverCap), "continue with a higher limit")
	}
	if r.Branch != "" && r.Moved == "" {
		add("git log --oneline "+ShortHash(r.Base)+".."+r.Branch, "see the landed commits")
		add("nexus land", "bring the result into your branch")
	}
	if len(rows) == 0 {
		add("nexus cost", "see the costs")
	}
	if !s.Plain && s.Width > 0 && slices.ContainsFunc(rows, func(row []string) bool { return columnWidths(rows)[0]+2+len(row[1]) > s.Width }) {
		text := ""
		for _, row := range rows { // a cut or broken command is useless
			text += s.Dim(s.WrapWords(strings.TrimPrefix(row[1], "# "), "  # ")) + "\n" + row[0] + "\n"
		}
		return text
	}
	return DrawTable(OutputStyle{}, nil, rows)
}

// answerCommand returns the command that answers a question, and its effect.
func answerCommand(r RunView, q OpenQuestion) (command, why string) {
	switch {
	case q.Trigger == nexus.StepTrigger && r.Status.HasEnded():
		return fmt.Sprintf("nexus answer %s yes && nexus resume", q.ID), "let it start; or answer skip, stop, or a message for its agent"
	case len(q.Choices) == 0:
		return fmt.Sprintf("nexus answer %s TEXT", q.ID), "answer the question"
	case r.Status.HasEnded() && needsResume(q):
		return "nexus approve " + q.ID + " && nexus resume", "approve; or refuse with " + rejectCommand(q)
	default:
		return "nexus approve " + q.ID, "approve; or refuse with " + rejectCommand(q)
	}
}

// raiseLimitCommand returns the command that continues a run that reached a limit.
func raiseLimitCommand(c *nexus.BudgetRefused) string {
	switch {
	case c == nil || c.Cap == "run":
		return "nexus resume --budget USD"
	case c.Of != "":
		return fmt.Sprintf("nexus resume  # after raising budget.%ss.%s in nexus.toml", c.Cap, EscapeForTerminal(c.Of))
	default:
		return fmt.Sprintf("NEXUS_BUDGET_%s=AMOUNT nexus resume", strings.ToUpper(c.Cap))
	}
}
