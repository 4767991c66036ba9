package progress

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// RunCommandOptions is an [app.RunOptions] with the options of a command line.
type RunCommandOptions struct {
	app.RunOptions

	Again string        // command that continues the run after an interruption; empty: nexus resume RUN
	Agree ConsentDialog // asks a person at the terminal for consent; nil: like other questions

	Yes    bool // a person agreed to the plan
	JSONL  bool // print events instead of a report
	Once   bool // the run is not stored, so the report names no next command
	Detach bool // the run continues in the background
	Watch  bool // like Detach, and shown on the whole screen
	Lines  bool // not shown on the whole screen
	Screen bool // shown on the whole screen once its tasks begin, and conducted here
}

// OrderFlags adds the flags of every command that conducts a run.
func OrderFlags(a *console.Console, c *cobra.Command, o *RunCommandOptions) {
	c.Flags().BoolVar(&o.Headless, "headless", false, "never ask: use each question's stated fallback")
	c.Flags().BoolVar(&o.JSONL, "jsonl", false, "print every event as a line of JSON instead of a report")
	TrafficFlags(c, &o.Traffic)
	a.JSONFlag(c)
	c.MarkFlagsMutuallyExclusive("json", "jsonl")
}

// StartFlags adds the flags of every command that begins a run.
func StartFlags(c *cobra.Command, o *RunCommandOptions) {
	f := c.Flags()
	f.BoolVarP(&o.Yes, "yes", "y", false, "approve the plan and start without asking")
	f.StringVar(&o.Seed, "seed", "", "seed for names and waits, a whole `NUMBER`, to repeat a run")
}

// MayAsk reports whether a person at this terminal may be asked before the run begins.
func (o *RunCommandOptions) MayAsk(a *console.Console) bool {
	return !o.Headless && !o.Yes && a.HasPerson()
}

// Check returns an error if the seed is not a number.
func (o *RunCommandOptions) Check() error {
	if _, err := strconv.ParseInt(o.Seed, 10, 64); err != nil && o.Seed != "" {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "--seed must be a whole number, not " + view.QuoteForTerminal(o.Seed),
			Hint: "Use, for example, --seed 7.",
		}
	}
	return nil
}

// TrafficFlags adds the flags of every command that calls providers.
func TrafficFlags(c *cobra.Command, t *provider.TrafficRecordingOptions) {
	c.Flags().StringVar(&t.Record, "record", "", "record the traffic with providers in `DIR`, without keys")
	c.Flags().StringVar(&t.Replay, "replay", "", "replay answers from the recording in `DIR` instead of asking providers")
	c.MarkFlagsMutuallyExclusive("record", "replay")
}
