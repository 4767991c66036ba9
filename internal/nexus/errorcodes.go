package nexus

import "strings"

// ErrorCode is a stable name for a kind of error, for programs that branch on it.
type ErrorCode string

// The codes. Each maps to one exit status; see docs/errors.md.
const (
	CodeInternal        ErrorCode = "internal"
	CodeInvalidInput    ErrorCode = "invalid_input"
	CodeInvalidConfig   ErrorCode = "invalid_config"
	CodeInvalidPlan     ErrorCode = "invalid_plan"
	CodeCycle           ErrorCode = "dependency_cycle"
	CodeOversize        ErrorCode = "task_oversize"
	CodeNotRepository   ErrorCode = "not_a_repository"
	CodeNoCommits       ErrorCode = "no_commits"
	CodeNoGit           ErrorCode = "git_missing"
	CodeNotFound        ErrorCode = "not_found"
	CodeRunHeld         ErrorCode = "run_held"
	CodeLeaseLost       ErrorCode = "lease_lost"
	CodeJournalNewer    ErrorCode = "journal_newer"
	CodeJournalCorrupt  ErrorCode = "journal_corrupt"
	CodeStorage         ErrorCode = "storage_failed"
	CodeDiskFull        ErrorCode = "disk_full"
	CodeReadOnly        ErrorCode = "read_only"
	CodeSandbox         ErrorCode = "sandbox_unavailable"
	CodeEnvironment     ErrorCode = "environment_unavailable"
	CodePlugin          ErrorCode = "plugin_failed"
	CodeModelUnknown    ErrorCode = "model_unknown"
	CodeNoProvider      ErrorCode = "provider_missing"
	CodeNoKey           ErrorCode = "key_missing"
	CodeKeyUnsafe       ErrorCode = "key_unsafe"
	CodeAuth            ErrorCode = "provider_auth"
	CodeProvider        ErrorCode = "provider_failed"
	CodeNotRecorded     ErrorCode = "not_recorded"
	CodeBudget          ErrorCode = "budget_exhausted"
	CodeLimit           ErrorCode = "limit_reached"
	CodeTransition      ErrorCode = "illegal_transition"
	CodeTargetMoved     ErrorCode = "target_moved"
	CodeNeedsPerson     ErrorCode = "needs_person"
	CodeUntrusted       ErrorCode = "untrusted"
	CodeHalted          ErrorCode = "halted"
	CodeNotReady        ErrorCode = "not_ready"
	CodeForbidden       ErrorCode = "goal_denied"
	CodeNothingProposed ErrorCode = "no_plan"
)

// Error is an error with a hint for the next step.
type Error struct {
	Code    ErrorCode
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
