package llm

import "slices"

// CallFailureClass is the class of a failed call.
type CallFailureClass string

// The classes of failure.
const (
	Transient CallFailureClass = "transient" // retry after a while
	Overload  CallFailureClass = "overload"  // retry later
	Quota     CallFailureClass = "quota"     // wait for the end of the window
	Billing   CallFailureClass = "billing"   // needs a payment by a person; never retried
	Auth      CallFailureClass = "auth"      // needs a new key from a person; never retried
	Invalid   CallFailureClass = "invalid"   // the request is wrong; never retried
	Context   CallFailureClass = "context"   // the conversation is too long
	Safety    CallFailureClass = "safety"    // the provider refuses to answer this
	Fatal     CallFailureClass = "fatal"     // no remedy
)

// CallFailureRemedy is the action after a failed call.
type CallFailureRemedy string

// The remedies. All but the first end the call.
const (
	RemedyRetry     CallFailureRemedy = "again"   // the same call again, after a wait, until the retries are used up
	RemedyShorten   CallFailureRemedy = "shorten" // the conversation is compacted and continues; if that does not help, the session ends
	RemedyGiveUp    CallFailureRemedy = "give up" // the session ends: this model cannot do this
	RemedyAskPerson CallFailureRemedy = "person"  // the run stops until a person has fixed the cause
	RemedyHalt      CallFailureRemedy = "stop"    // the run stops, because the remedy is unknown
)

// CallFailureReaction defines how a class of failure is handled.
type CallFailureReaction struct {
	Class CallFailureClass
	When  string // cause, for people
	Do    CallFailureRemedy
	Then  CallFailureRemedy // remedy when the retries are used up
	How   string            // description, for people
}

// FailureReactions returns the reactions to all classes, starting with the ones that a retry can fix. No
// other place decides about the consequences of a failed call.
func FailureReactions() []CallFailureReaction {
	return []CallFailureReaction{
		{Transient, "The connection or the server broke, or the answer was cut off or damaged.", RemedyRetry, RemedyHalt, "waits 1 s, doubled each time, with jitter, or as long as the provider asks. If the server reports an error (5xx): waits up to 5 min, then tries again as for overload. If it is not reached: waits up to 1 min, 20 calls at most. If the answer is damaged or does not come: waits up to 1 min, 4 calls at most. `models.*` may name others to ask instead after a minute of waiting"},
		{Overload, "The provider is busy.", RemedyRetry, RemedyHalt, "waits as for transient, up to 5 min; tries again for four hours, or as long as the provider asks, up to a day; then the run stops at that limit and says when to try again; the account makes half as many calls at once, then slowly more; `models.*` as for transient"},
		{Quota, "A limit of requests or tokens a minute or a day is reached.", RemedyRetry, RemedyHalt, "half as many calls at once, as for overload; waits up to 1 min; if the provider asks for more, or a window is used up, no call is made until the window ends, up to a day in all; `models.*` may name others to ask meanwhile"},
		{Context, "The conversation is too long for the model.", RemedyShorten, RemedyShorten, "older results are replaced by a line each, then older turns by a summary, and the session continues; after two of these in a row without progress it ends as exhausted, and the next attempt starts with a fresh conversation"},
		{Safety, "The provider blocked the prompt or the answer.", RemedyGiveUp, RemedyGiveUp, "the session ends as given up; the same text is not sent again"},
		{Invalid, "The request is wrong, or there is no such model or address.", RemedyHalt, RemedyHalt, "the error says what the provider said"},
		{Auth, "The key is wrong, has expired, or may not do this.", RemedyAskPerson, RemedyAskPerson, "the error says to check the key; nexus doctor says which is set and whether the provider accepts it"},
		{Billing, "The account must be paid.", RemedyAskPerson, RemedyAskPerson, "the error says so"},
		{Fatal, "The certificate is not trusted, or the caller has gone.", RemedyHalt, RemedyHalt, "the error names the reason"},
	}
}

// ReactionTo returns the reaction to the class. The zero Class and unknown ones stop the run.
func (c CallFailureClass) ReactionTo() CallFailureReaction {
	all := FailureReactions()
	if i := slices.IndexFunc(all, func(r CallFailureReaction) bool { return r.Class == c }); i >= 0 {
		return all[i]
	}
	return CallFailureReaction{Class: c, Do: RemedyHalt, Then: RemedyHalt}
}

// IsRetryable reports whether the same call may succeed later without any change.
func (c CallFailureClass) IsRetryable() bool { return c.ReactionTo().Do == RemedyRetry }
