package console

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// The exit codes of every command.
const (
	CodeOK          = 0
	CodeFailed      = 1
	CodeUsage       = 2
	CodePartial     = 3
	CodeLimit       = 4
	CodePerson      = 5
	CodeHeld        = 6
	CodeInterrupted = 130

	CodeOfSignal = 128 // plus the number of the signal that killed the process
)

// codesKey is the annotation that lists a command's exit codes.
const codesKey = "codes"

func codeList(codes []int) string {
	words := make([]string, len(codes))
	for i, c := range codes {
		words[i] = strconv.Itoa(c)
	}
	return strings.Join(words, " ")
}

// CodeMeaning describes an exit code in a few words.
func CodeMeaning(code string) string {
	switch n, _ := strconv.Atoi(code); n {
	case CodeOK:
		return "done"
	case CodeFailed:
		return "failed"
	case CodeUsage:
		return "wrong usage or invalid input"
	case CodePartial:
		return "partly done, something is parked"
	case CodeLimit:
		return "a limit was reached: money, time or quota"
	case CodePerson:
		return "a person is needed"
	case CodeHeld:
		return "another process is running the run"
	case CodeInterrupted:
		return "interrupted"
	default:
		return "ended by a signal or by the command that ran"
	}
}

// ExitError is an exit code without a message: the command has printed the reason already.
type ExitError int

func (e ExitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// RunEndError returns the exit of a command whose run has the status.
func RunEndError(s nexus.RunStatus) error {
	switch s {
	case nexus.StatusDone:
		return nil
	case nexus.StatusPartial:
		return ExitError(CodePartial)
	case nexus.StatusLimit:
		return ExitError(CodeLimit)
	case nexus.StatusStopped:
		return ExitError(CodeInterrupted)
	case nexus.StatusPaused, nexus.StatusWaiting:
		return ExitError(CodePerson)
	default:
		return ExitError(CodeFailed)
	}
}

// ExitCode returns the process's exit code for a command's error.
func ExitCode(ctx context.Context, err error) int {
	if err == nil {
		return CodeOK
	}
	if e, ok := errors.AsType[ExitError](err); ok {
		return int(e)
	}
	if ctx.Err() != nil {
		return CodeInterrupted
	}
	if e, ok := errors.AsType[*nexus.Error](err); ok {
		return ErrorExitCode(e.Code)
	}
	return CodeFailed
}

// ErrorExitCode returns the exit code of an error's code.
func ErrorExitCode(code nexus.ErrorCode) int {
	for _, k := range ErrorKinds() {
		if k.Code == code {
			return k.Exit
		}
	}
	return CodeFailed
}

// ErrorKind documents one code of [nexus.Error].
type ErrorKind struct {
	Code nexus.ErrorCode
	Exit int
	Text string // its description, for docs/errors.md
}

// ErrorKinds returns every code with its exit code.
func ErrorKinds() []ErrorKind {
	return []ErrorKind{
		{nexus.CodeInternal, CodeFailed, "An internal error: a bug in Nexus."},
		{nexus.CodeInvalidInput, CodeUsage, "A command line, file or request is invalid."},
		{nexus.CodeInvalidConfig, CodeUsage, "A configuration file, variable or flag is wrong; the message names it and the nearest key."},
		{nexus.CodeInvalidPlan, CodeUsage, "A plan breaks its schema or its rules; the message names the task."},
		{nexus.CodeCycle, CodeUsage, "Tasks depend on each other in a cycle; the message names it."},
		{nexus.CodeOversize, CodeUsage, "A task is larger than 30 minutes, 5 files, 6 criteria or 2,000 characters."},
		{nexus.CodeNotRepository, CodeUsage, "The directory is not inside a git repository."},
		{nexus.CodeNoCommits, CodeUsage, "The repository has no commit to start from."},
		{nexus.CodeNoGit, CodeFailed, "git is not installed, or older than 2.38."},
		{nexus.CodeNotFound, CodeUsage, "There is no run, task, attempt or file of that name."},
		{nexus.CodeRunHeld, CodeHeld, "Another process is running the run; the message names it."},
		{nexus.CodeLeaseLost, CodeHeld, "Another process took over the run."},
		{nexus.CodeJournalNewer, CodeFailed, "The journal was written by a newer Nexus."},
		{nexus.CodeJournalCorrupt, CodeFailed, "The journal is damaged; the message says where."},
		{nexus.CodeStorage, CodeFailed, "Writing or reading the state failed."},
		{nexus.CodeDiskFull, CodeFailed, "The disk is full; nothing that was recorded is lost."},
		{nexus.CodeReadOnly, CodeFailed, "The state directory is not writable."},
		{nexus.CodeSandbox, CodeFailed, "No sandbox works on this machine, so no agent was started."},
		{nexus.CodePlugin, CodeFailed, "A plugin that is required cannot answer; the message says which, and why. nexus plugins test NAME shows more."},
		{nexus.CodeEnvironment, CodeFailed, "The dependencies of the project cannot be installed, so no gate can run; the message shows the command and its output."},
		{nexus.CodeModelUnknown, CodeUsage, "No provider has a model of that name."},
		{nexus.CodeNoProvider, CodeUsage, "No provider is set up."},
		{nexus.CodeNoKey, CodeUsage, "The provider's key is not set."},
		{nexus.CodeUntrusted, CodePerson, "The repository changes how agents behave or what runs for them, and you have not trusted it yet; see nexus trust."},
		{nexus.CodeHalted, CodePerson, "The kill switch is on: nothing starts or continues until nexus stop --lift."},
		{nexus.CodeNotReady, CodeFailed, "A requirement of a run is missing; the message names it, and nexus doctor shows how to fix it."},
		{nexus.CodeForbidden, CodeUsage, "The goal contains a phrase that goals.deny forbids; the message names it and where it is set."},
		{nexus.CodeKeyUnsafe, CodeUsage, "Others can read or change the key file, so its keys are not used; the message says why."},
		{nexus.CodeAuth, CodePerson, "The provider refused the key."},
		{nexus.CodeProvider, CodeFailed, "The provider failed, and retries did not help."},
		{nexus.CodeNotRecorded, CodeFailed, "A replayed run sent a request that is not in the recording; the message says what differs."},
		{nexus.CodeBudget, CodeLimit, "The next model call could exceed the budget."},
		{nexus.CodeLimit, CodeLimit, "A limit of time, turns or quota was reached."},
		{nexus.CodeTransition, CodeFailed, "The run's state does not allow this change."},
		{nexus.CodeTargetMoved, CodePartial, "The target branch could not be moved; the result is on its own branch."},
		{nexus.CodeNeedsPerson, CodePerson, "A person has to decide."},
		{nexus.CodeNothingProposed, CodeFailed, "The planner made no valid plan."},
	}
}
