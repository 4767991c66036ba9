package access

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/face/common/projectionhub"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// WebBackend is the data of the pages and the API, and their way to change something.
type WebBackend struct {
	Hub     *projectionhub.ProjectionHub
	Journal EventJournal
	Blob    func(hash string) ([]byte, error) // blobs of facts
	Act     PersonCommandFunc
	Now     func() time.Time
	Place   string // the repository, for people
}

// EventJournal is the part of a journal that is read.
type EventJournal interface {
	Events(ctx context.Context, run nexus.RunID, after int64) iter.Seq2[nexus.Event, error]
	Follow(ctx context.Context, run nexus.RunID, after int64) iter.Seq2[nexus.Event, error]
}

// PersonCommandFunc runs a command line on behalf of a person, as the program would, and waits for it. It
// refuses commands that the person's role does not allow. The command is interrupted when the
// context ends, so a command that must complete needs a context that does not end.
type PersonCommandFunc func(ctx context.Context, by TokenOwner, o CommandInput) CommandLineResult

// CommandInput is a command line.
type CommandInput struct {
	Args  []string // without the program
	Stdin string
}

// CommandLineResult is the result of a command line.
type CommandLineResult struct {
	Text    string          // for people: its output, or why it failed
	Hint    string          // next step after a failure
	Code    string          // of the failure, such as not_found; empty: success
	Data    json.RawMessage // the JSON object that it printed; nil: none
	Exit    int             // exit code of the command
	Refused bool            // the person's role does not allow it
}

// Failed reports whether the command failed.
func (r CommandLineResult) Failed() bool { return r.Code != "" || r.Exit != 0 }

// FailureText describes the failure of a command, with the next step.
func (r CommandLineResult) FailureText() string {
	return strings.TrimSpace(cmp.Or(r.Text, "The command printed nothing.") + "\n" + r.Hint)
}

// Read decodes the object that a command printed, or returns why there is none.
func (r CommandLineResult) Read(to any) (why string) {
	if len(r.Data) > 0 && json.Unmarshal(r.Data, to) == nil {
		return ""
	}
	return r.FailureText()
}

// QuoteListValue quotes a value of a flag with several values, separated by commas, as in CSV.
func QuoteListValue(value string) string {
	if strings.ContainsAny(value, ",\"\n\r") {
		return `"` + strings.ReplaceAll(value, `"`, `""`) + `"`
	}
	return value
}

// Events is the address of the event stream of a page, with ?run=RUN, and ?task=, ?kind= and
// ?after= as filters. Each message has the number of its event as its ID, the kind of the fact as
// its name, and the event as JSON.
const Events = "/api/v1/events"
