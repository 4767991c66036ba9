package tui

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// editSelection edits the selection in an editor, or by typing: the waiting plan, or a criterion of the
// task. In a change it edits the review; see [Model.handleReviewKey].
func (m *Model) editSelection() tea.Cmd {
	t := m.snap.Task
	switch m.editTarget() {
	case editsPlan:
		return m.runInTerminal("attach", string(m.o.Run))
	case "":
		m.showNotice(true, "no plan waits for you, and there is no criterion to change; %s adds a task", m.keyOf("add"))
		return nil
	}
	d := dialog{kind: choiceDialog, title: "which criterion of " + view.EscapeForTerminal(string(t.ID))}
	for _, c := range t.Checks {
		id := fmt.Sprintf("%s/AC-%d", t.ID, c.N)
		d.choices = append(d.choices, dialogChoice{label: view.EscapeForTerminal(id + " " + c.Text), then: func() tea.Cmd {
			m.dialog = dialog{
				kind: inputDialog, title: id, must: true, field: newTextField(c.Text, false),
				then: func(text string) tea.Cmd {
					return m.runCommandLine("revise", []string{"revise", "--run", string(m.o.Run), "--", id, text})
				},
			}
			return nil
		}})
	}
	m.dialog = d
	return nil
}

// The things that an editor can change.
const (
	editsPlan      = "edit the plan"
	editsCriterion = "edit a criterion"
)

// editTarget returns the thing that edit would change; empty: none.
func (m *Model) editTarget() string {
	if slices.ContainsFunc(m.snap.Inbox, func(i projection.InboxItem) bool { return i.Trigger == nexus.PlanTrigger }) {
		return editsPlan
	}
	if t := m.snap.Task; t != nil && len(t.Checks) > 0 {
		return editsCriterion
	}
	return ""
}

// actionMenu offers everything that can be done with the selection: actions, and command lines that
// show more about it.
func (m *Model) actionMenu() dialog {
	d := dialog{kind: choiceDialog, title: "do"}
	for _, a := range m.availableActions() {
		if a.Refused == "" {
			d.choices = append(d.choices, dialogChoice{label: view.EscapeForTerminal(a.Label), then: func() tea.Cmd { return m.startAction(a) }})
		}
	}
	run := string(m.o.Run)
	show := func(label string, args ...string) {
		d.choices = append(d.choices, dialogChoice{label: view.EscapeForTerminal(label), then: func() tea.Cmd { return m.runAndShow(args) }})
	}
	if t := m.snap.Task; t != nil {
		id := string(t.ID)
		show("Find the cause: nexus diagnose "+id, "diagnose", "--run", run, "--", id)
		show("Show all details: nexus status "+id, "status", "--run", run, "--", id)
		show("Run its gates again: nexus check --task "+id, "check", "--run", run, "--task", id)
		show("Show its next prompt: nexus prompt "+id, "prompt", "--run", run, "--", id)
		d.choices = append(d.choices, dialogChoice{label: view.EscapeForTerminal("Change a criterion: nexus revise"), name: "edit"})
	}
	show("Show the evidence: nexus status --evidence", "status", "--evidence", "--run", run)
	show("Show the status: nexus status", "status", "--run", run)
	show("The report: nexus status --report", "status", "--report", "--run", run)
	show("Trace the requirements: nexus status --trace", "status", "--trace", "--run", run)
	show("List the checkpoints: nexus checkpoint list", "checkpoint", "list", "--run", run)
	d.choices = append(d.choices, dialogChoice{label: "Make a checkpoint: nexus checkpoint", then: func() tea.Cmd {
		m.dialog = dialog{kind: inputDialog, title: "name of the checkpoint", must: true, then: func(text string) tea.Cmd {
			return m.runCommandLine("checkpoint", []string{"checkpoint", "--run", run, "--", text})
		}}
		return nil
	}})
	d.choices = append(d.choices, m.runChoices(run)...)
	d.choices = append(d.choices, dialogChoice{label: "Sign off criteria that only a person can judge: nexus verify", then: func() tea.Cmd {
		return m.runInTerminal("verify", "--run", run)
	}})
	return d
}

// runChoices offers actions that start from a point of the run, or are about the whole run.
func (m *Model) runChoices(run string) []dialogChoice {
	ask := func(label, title string, then func(text string) tea.Cmd) dialogChoice {
		return dialogChoice{label: label, then: func() tea.Cmd {
			m.dialog = dialog{kind: inputDialog, title: title, must: true, then: then}
			return nil
		}}
	}
	const point = "a checkpoint, or the number of an event"
	all := []dialogChoice{
		ask("Start another run from a point: nexus checkpoint fork", point, func(text string) tea.Cmd {
			return m.runCommandLine("checkpoint", []string{"checkpoint", "fork", "--hold", "--run", run, "--", text})
		}),
		ask("Write the run to a file: nexus export", "the file", func(text string) tea.Cmd {
			return m.runCommandLine("export", []string{"export", "--", run, text})
		}),
	}
	if m.o.Interrupt == nil { // it stops the run, which this process must not wait for
		all = append(all, ask("Go back to a point: nexus checkpoint restore", point, func(text string) tea.Cmd {
			return m.runInTerminal("checkpoint", "restore", "--run", run, "--", text)
		}))
	}
	return all
}
