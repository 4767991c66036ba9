package llm

import "slices"

// Class is the class of a failed call.
type Class string

// The classes of failure.
const (
	Transient Class = "transient" // retry after a while
	Overload  Class = "overload"  // retry later
	Quota     Class = "quota"     // wait for the end of the window
	Billing   Class = "billing"   // needs a payment by a person; never retried
	Auth      Class = "auth"      // needs a new key from a person; never retried
	Invalid   Class = "invalid"   // the request is wrong; never retried
	Context   Class = "context"   // the conversation is too long
	Safety    Class = "safety"    // the provider refuses to answer this
	Fatal     Class = "fatal"     // no remedy
)

// Remedy is the action after a failed call.
type Remedy string

// The remedies. All but the first end the call.
const (
	Again   Remedy = "again"   // the same call again, after a wait, until the retries are used up
	Shorten Remedy = "shorten" // the conversation is compacted and continues; if that does not help, the session ends
	GiveUp  Remedy = "give up" // the session ends: this model cannot do this
	Person  Remedy = "person"  // the run stops until a person has fixed the cause
	Halt    Remedy = "stop"    // the run stops, because the remedy is unknown
)

// Reaction defines how a class of failure is handled.
type Reaction struct {
	Class Class
	When  string // cause, for people
	Do    Remedy
	Then  Remedy // remedy when the retries are used up
	How   string // description, for people
}

// Reactions returns the reactions to all classes, starting with the ones that a retry can fix. No
// other place decides about the consequences of a failed call.
func Reactions() []Reaction {
	return []Reaction{
		{Transient, "The connection or the server broke, or the answer was cut off or damaged.", Again, Halt, "waits 1 s, doubled each time, with jitter, or as long as the provider asks. If the server reports an error (5xx): waits up to 5 min, then tries again as for overload. If it is not reached: waits up to 1 min, 20 calls at most. If the answer is damaged or does not come: waits up to 1 min, 4 calls at most. `models.*` may name others to ask instead after a minute of waiting"},
		{Overload, "The provider is busy.", Again, Halt, "waits as for transient, up to 5 min; tries again for four hours, or as long as the provider asks, up to a day; then the run stops at that limit and says when to try again; the account makes half as many calls at once, then slowly more; `models.*` as for transient"},
		{Quota, "A limit of requests or tokens a minute or a day is reached.", Again, Halt, "half as many calls at once, as for overload; waits up to 1 min; if the provider asks for more, or a window is used up, no call is made until the window ends, up to a day in all; `models.*` may name others to ask meanwhile"},
		{Context, "The conversation is too long for the model.", Shorten, Shorten, "older results are replaced by a line each, then older turns by a summary, and the session continues; after two of these in a row without progress it ends as exhausted, and the next attempt starts with a fresh conversation"},
		{Safety, "The provider blocked the prompt or the answer.", GiveUp, GiveUp, "the session ends as given up; the same text is not sent again"},
		{Invalid, "The request is wrong, or there is no such model or address.", Halt, Halt, "the error says what the provider said"},
		{Auth, "The key is wrong, has expired, or may not do this.", Person, Person, "the error says to check the key; nexus doctor says which is set and whether the provider accepts it"},
		{Billing, "The account must be paid.", Person, Person, "the error says so"},
		{Fatal, "The certificate is not trusted, or the caller has gone.", Halt, Halt, "the error names the reason"},
	}
}

// Reaction returns the reaction to the class. The zero Class and unknown ones stop the run.
func (c Class) Reaction() Reaction {
	all := Reactions()
	if i := slices.IndexFunc(all, func(r Reaction) bool { return r.Class == c }); i >= 0 {
		return all[i]
	}
	return Reaction{Class: c, Do: Halt, Then: Halt}
}

// Retryable reports whether the same call may succeed later without any change.
func (c Class) Retryable() bool { return c.Reaction().Do == Again }
