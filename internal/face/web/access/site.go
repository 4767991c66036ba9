package access

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/face/view/hub"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Site is what the pages and the API show, and how they change something.
type Site struct {
	Hub     *hub.Hub
	Journal Journal
	Blob    func(hash string) ([]byte, error) // contents that facts name
	Act     Act
	Now     func() time.Time
	Place   string // the repository, for people
}

// Journal is what is read of a journal.
type Journal interface {
	Events(ctx context.Context, run nexus.RunID, after int64) iter.Seq2[nexus.Event, error]
	Follow(ctx context.Context, run nexus.RunID, after int64) iter.Seq2[nexus.Event, error]
}

// Act runs a command line in the name of a person, as the program would, and
// waits for it. It refuses what the person's role may not do. The command is
// interrupted when the context ends: what must be done to its end gets one that
// does not.
type Act func(ctx context.Context, by Person, o Order) Result

// Order is a command line.
type Order struct {
	Args  []string // without the program
	Stdin string
}

// Result is what a command line came to.
type Result struct {
	Text    string          // for people: what it printed, or why it failed
	Hint    string          // what to do next, where it failed
	Code    string          // of the failure, such as not_found; empty: it was done
	Data    json.RawMessage // the object that it printed; nil: none
	Exit    int             // exit code of the command
	Refused bool            // the person's role does not allow it
}

// Failed reports whether the command was not done.
func (r Result) Failed() bool { return r.Code != "" || r.Exit != 0 }

// Why says what a command that failed came to, with what to do next.
func (r Result) Why() string {
	return strings.TrimSpace(cmp.Or(r.Text, "The command printed nothing.") + "\n" + r.Hint)
}

// Read reads the object that a command printed, and says why there is none.
func (r Result) Read(to any) (why string) {
	if len(r.Data) > 0 && json.Unmarshal(r.Data, to) == nil {
		return ""
	}
	return r.Why()
}

// Listed is a value of a flag that takes several, separated by commas, as CSV has them.
func Listed(value string) string {
	if strings.ContainsAny(value, ",\"\n\r") {
		return `"` + strings.ReplaceAll(value, `"`, `""`) + `"`
	}
	return value
}

// Events is where a page listens for changes, with ?run=RUN, and ?task=, ?kind=
// and ?after= where it wants less. Each message has the number of its event as
// its id, the kind of the fact as its name, and the event as JSON.
const Events = "/api/v1/events"
