package progress

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Order is an [app.RunOptions] as a command line gives it.
type Order struct {
	app.RunOptions

	Again string        // the command that continues it once it was interrupted; empty: nexus resume RUN
	Agree ConsentDialog // how a person at the terminal is asked for consent to the plan; nil: as about anything else

	Yes    bool // a person agreed to the plan
	JSONL  bool // events instead of a report
	Once   bool // nothing is kept, so the report names no next command
	Detach bool // the run continues in the background
	Watch  bool // the same, and it is shown on the whole screen
	Lines  bool // it is not shown on the whole screen
	Screen bool // it is shown there once its tasks begin, and goes on here
}

// OrderFlags are the flags of every command that conducts a run.
func OrderFlags(a *console.Console, c *cobra.Command, o *Order) {
	c.Flags().BoolVar(&o.Headless, "headless", false, "never ask: use each question's stated fallback")
	c.Flags().BoolVar(&o.JSONL, "jsonl", false, "print every event as a line of JSON instead of a report")
	TrafficFlags(c, &o.Traffic)
	a.JSONFlag(c)
	c.MarkFlagsMutuallyExclusive("json", "jsonl")
}

// StartFlags are the flags of every command that begins a run.
func StartFlags(c *cobra.Command, o *Order) {
	f := c.Flags()
	f.BoolVarP(&o.Yes, "yes", "y", false, "approve the plan and start without asking")
	f.StringVar(&o.Seed, "seed", "", "seed for names and waits, a whole `NUMBER`, to repeat a run")
}

// Check refuses a seed that is no number.
func (o *Order) Check() error {
	if _, err := strconv.ParseInt(o.Seed, 10, 64); err != nil && o.Seed != "" {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "--seed must be a whole number, not " + view.Quote(o.Seed),
			Hint: "Use, for example, --seed 7.",
		}
	}
	return nil
}

// TrafficFlags are the flags of every command that talks to providers.
func TrafficFlags(c *cobra.Command, t *provider.Traffic) {
	c.Flags().StringVar(&t.Record, "record", "", "record the traffic with providers in `DIR`, without keys")
	c.Flags().StringVar(&t.Replay, "replay", "", "replay answers from the recording in `DIR` instead of asking providers")
	c.MarkFlagsMutuallyExclusive("record", "replay")
}
