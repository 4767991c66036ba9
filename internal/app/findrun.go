package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

// RunChoice is the run that a command is about, and how it was chosen.
type RunChoice struct {
	journal.RecordedRun

	Named  bool // a person named it
	Others int  // if it was not named and is in progress: the other runs in progress
}

// String describes a choice that nobody named, for the line that says which run was meant.
func (c RunChoice) String() string {
	switch {
	case c.Holder == nil:
		return fmt.Sprintf("run %s, the latest", c.ID)
	case c.Others == 1:
		return fmt.Sprintf("run %s, in progress; another one is, too: nexus runs --active", c.ID)
	case c.Others > 1:
		return fmt.Sprintf("run %s, in progress; %d others are, too: nexus runs --active", c.ID, c.Others)
	}
	return fmt.Sprintf("run %s, in progress", c.ID)
}

// FindRun returns the run with a name: its ID, or a part of it that no other run has. For "" it is the
// run in progress that started last, else the latest. Loops are not in progress in this sense, and
// runs that are only shown come last. For a caller that changes runs the latter are an error.
func (p *Repository) FindRun(ctx context.Context, name string) (journal.RecordedRun, error) {
	c, err := p.ChooseRun(ctx, name)
	return c.RecordedRun, err
}

// ChooseRun is [Repository.FindRun], and says how the run was chosen.
func (p *Repository) ChooseRun(ctx context.Context, name string) (RunChoice, error) {
	all, err := p.Runs(ctx)
	if err != nil {
		return RunChoice{}, err
	}
	if len(all) == 0 {
		return RunChoice{}, &nexus.Error{
			Code: nexus.CodeNotFound, Message: "this repository has no runs yet", Hint: "Start one with nexus run GOAL, or try nexus demo.",
		}
	}
	c := RunChoice{Named: name != ""}
	if c.Named {
		c.RecordedRun, err = findByName(all, name)
	} else {
		c, err = p.chooseUnnamed(ctx, all)
	}
	if err == nil && p.want == ChangeAccess {
		err = p.checkRunContinuesHere(c.ID)
	}
	return c, err
}

// chooseUnnamed returns the run that a command is about if it names none.
func (p *Repository) chooseUnnamed(ctx context.Context, all []journal.RecordedRun) (RunChoice, error) {
	var active []journal.RecordedRun
	for _, r := range slices.Backward(all) {
		if r.Holder == nil {
			continue
		}
		loop, err := p.isLoop(ctx, r.ID)
		if err != nil {
			return RunChoice{}, err
		}
		if !loop {
			active = append(active, r)
		}
	}
	if len(active) > 0 {
		return RunChoice{RecordedRun: active[0], Others: len(active) - 1}, nil
	}
	for _, r := range slices.Backward(all) {
		if !p.IsViewOnly(r.ID) {
			return RunChoice{RecordedRun: r}, nil
		}
	}
	return RunChoice{RecordedRun: all[len(all)-1]}, nil
}

// findByName returns the run with an ID, or the only one whose ID has the text.
func findByName(all []journal.RecordedRun, name string) (journal.RecordedRun, error) {
	var found []journal.RecordedRun
	for _, r := range all {
		if string(r.ID) == name {
			return r, nil
		}
		if strings.Contains(string(r.ID), name) {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return journal.RecordedRun{}, NotFoundError("run", name, "The latest runs: "+latestIDs(all)+". nexus runs lists all.")
	default:
		return journal.RecordedRun{}, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("%d runs have %s in their names", len(found), quoteTruncated(name)),
			Hint: "Give more of the name: " + latestIDs(found) + ". nexus runs lists all.",
		}
	}
}

// mostCandidates limits the names that an error lists.
const mostCandidates = 5

// latestIDs lists the IDs of runs, the latest first.
func latestIDs(all []journal.RecordedRun) string {
	var ids []string
	for _, r := range slices.Backward(all) {
		ids = append(ids, string(r.ID))
	}
	return listCandidates(ids)
}

func listCandidates(names []string) string {
	if more := len(names) - mostCandidates; more > 0 {
		names = append(slices.Clone(names[:mostCandidates]), fmt.Sprintf("%d more", more))
	}
	return nexus.JoinWords(names)
}

// RunSubject is a run, or a thing in it, that a command is about.
type RunSubject struct {
	RunChoice

	State   *state.State
	Task    nexus.TaskID    // of the attempt, too; empty: the whole run, or a session
	Attempt nexus.AttemptID // empty: none was named
	Session nexus.SessionID // as named; whether the run has it is not checked
}

// Part returns the name of the thing in the run; "" for the whole run.
func (s RunSubject) Part() string {
	return cmp.Or(string(s.Session), string(s.Attempt), string(s.Task))
}

// FindSubject returns what a name means. It is the rule for the arguments of all commands, in this
// order:
//
//  1. The whole ID of a run means that run.
//  2. A task, an attempt or a session of the run that is named beside it, or of the default run.
//  3. A part of a run's ID means that run, if no run is named beside it and the caller only reads.
//
// For a caller that changes runs, a part of an ID is a mistyped task: "9" meant T9 and not the run
// of the ninth, which must not end for it. Beside the name, as in --run 9, a part is enough.
func (p *Repository) FindSubject(ctx context.Context, run, name string) (RunSubject, error) {
	if run == "" && name != "" {
		if c, err := p.ChooseRun(ctx, name); err == nil && string(c.ID) == name {
			return p.subjectOf(ctx, c)
		}
	}
	c, err := p.ChooseRun(ctx, run)
	if err != nil {
		return RunSubject{}, err
	}
	s, err := p.subjectOf(ctx, c)
	if err != nil || name == "" || s.findPart(name) {
		return s, err
	}
	named, err := p.ChooseRun(ctx, name)
	part := run == "" && p.want != ChangeAccess
	whole := err == nil && (part || string(named.ID) == name)
	switch {
	case whole && (run == "" || named.ID == c.ID):
		return p.subjectOf(ctx, named)
	case whole:
		return RunSubject{}, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("two runs are named: %s and %s", c.ID, named.ID), Hint: "Name one.",
		}
	case part && !errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}):
		return RunSubject{}, err
	case err == nil && run == "":
		return RunSubject{}, s.partOfRunError(name, named.ID)
	}
	return RunSubject{}, s.notFoundError(name, run == "")
}

func (p *Repository) subjectOf(ctx context.Context, c RunChoice) (RunSubject, error) {
	s, err := p.Replay(ctx, c.ID)
	return RunSubject{RunChoice: c, State: s}, err
}

// findPart sets the task, the attempt or the session with this name; false if there is none.
func (s *RunSubject) findPart(name string) bool {
	if t := s.State.TaskByID(nexus.TaskID(name)); t != nil {
		s.Task = t.ID
		return true
	}
	if a := s.State.AttemptByID(nexus.AttemptID(name)); a != nil && s.State.TaskByID(a.Task) != nil {
		s.Task, s.Attempt = a.Task, a.ID
		return true
	}
	if strings.Contains(name, "/") {
		s.Session = nexus.SessionID(name)
		return true
	}
	return false
}

// RequireTask returns an error unless the subject is a task, or an attempt at one.
func (s RunSubject) RequireTask(name string) error {
	if s.Task == "" {
		return s.notFoundError(name, false)
	}
	return nil
}

// taskHint names the tasks of the run.
func (s RunSubject) taskHint() string {
	var tasks []string
	for _, t := range s.State.Tasks {
		tasks = append(tasks, string(t.ID))
	}
	if len(tasks) == 0 {
		return fmt.Sprintf("Run %s has no tasks yet.", s.ID)
	}
	return fmt.Sprintf("The tasks of run %s: %s.", s.ID, listCandidates(tasks))
}

// partOfRunError refuses a name that is no task, and would change the whole of another run or of this
// one because it is a part of its ID.
func (s RunSubject) partOfRunError(name string, run nexus.RunID) error {
	return &nexus.Error{
		Code: nexus.CodeNotFound, Message: fmt.Sprintf("run %s has no task or attempt %s", s.ID, quoteTruncated(name)),
		Hint: fmt.Sprintf("%s To mean the whole of run %s, write all of its ID.", s.taskHint(), run),
	}
}

// notFoundError names the candidates for a name that means nothing.
func (s RunSubject) notFoundError(name string, runs bool) error {
	hint := s.taskHint()
	if !runs {
		return &nexus.Error{
			Code: nexus.CodeNotFound, Message: fmt.Sprintf("run %s has no task or attempt %s", s.ID, quoteTruncated(name)), Hint: hint,
		}
	}
	return &nexus.Error{
		Code: nexus.CodeNotFound, Message: fmt.Sprintf("there is no run %s, and run %s has no such task or attempt", quoteTruncated(name), s.ID),
		Hint: hint + " nexus runs lists runs.",
	}
}
