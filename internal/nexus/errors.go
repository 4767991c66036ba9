package nexus

import "strings"

// Code is a stable name for a kind of error, for programs that branch on it.
type Code string

// The codes. Each maps to one exit status; see docs/errors.md.
const (
	CodeInternal        Code = "internal"
	CodeInvalidInput    Code = "invalid_input"
	CodeInvalidConfig   Code = "invalid_config"
	CodeInvalidPlan     Code = "invalid_plan"
	CodeCycle           Code = "dependency_cycle"
	CodeOversize        Code = "task_oversize"
	CodeNotRepository   Code = "not_a_repository"
	CodeNoCommits       Code = "no_commits"
	CodeNoGit           Code = "git_missing"
	CodeNotFound        Code = "not_found"
	CodeRunHeld         Code = "run_held"
	CodeLeaseLost       Code = "lease_lost"
	CodeJournalNewer    Code = "journal_newer"
	CodeJournalCorrupt  Code = "journal_corrupt"
	CodeStorage         Code = "storage_failed"
	CodeDiskFull        Code = "disk_full"
	CodeReadOnly        Code = "read_only"
	CodeSandbox         Code = "sandbox_unavailable"
	CodeEnvironment     Code = "environment_unavailable"
	CodePlugin          Code = "plugin_failed"
	CodeModelUnknown    Code = "model_unknown"
	CodeNoProvider      Code = "provider_missing"
	CodeNoKey           Code = "key_missing"
	CodeKeyUnsafe       Code = "key_unsafe"
	CodeAuth            Code = "provider_auth"
	CodeProvider        Code = "provider_failed"
	CodeNotRecorded     Code = "not_recorded"
	CodeBudget          Code = "budget_exhausted"
	CodeLimit           Code = "limit_reached"
	CodeTransition      Code = "illegal_transition"
	CodeTargetMoved     Code = "target_moved"
	CodeNeedsPerson     Code = "needs_person"
	CodeUntrusted       Code = "untrusted"
	CodeHalted          Code = "halted"
	CodeNotReady        Code = "not_ready"
	CodeForbidden       Code = "goal_denied"
	CodeNothingProposed Code = "no_plan"
)

// Error is an error with a hint for the next step.
type Error struct {
	Code    Code
	Message string // lower case, without the cause
	Hint    string // the next step, as a sentence
	Cause   error  // nil if there is no cause
}

// Error returns the message and its cause, without the hint.
func (e *Error) Error() string {
	if e.Cause == nil {
		return e.Message
	}
	return strings.TrimSuffix(e.Message, ":") + ": " + e.Cause.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Is reports whether target is an [Error] with the same code, so that errors.Is(err,
// &Error{Code: CodeBudget}) tests for the code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code && t.Message == ""
}
