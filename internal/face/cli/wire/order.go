package wire

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/frame"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Order is what a run is started or taken up with.
type Order struct {
	Run      nexus.RunID // one that exists; empty starts a new one
	Goal     nexus.Goal
	Plan     *nexus.Plan // nil lets the planner make one
	Spent    nexus.Money // on the plan already; it counts against the budget
	Headless bool        // answer every question by its fallback
	Yes      bool        // a person agreed to the plan
	JSONL    bool        // events instead of a report
	Once     bool        // nothing is kept, so the report names no next command
	Seed     string      // of everything that is drawn; empty draws at random

	Checked *nexus.RunChecked // what was found before; nil where nobody looked

	Traffic Traffic // where it is recorded to, or played from

	tap     provider.Tap // opened from Traffic
	on      string
	pr      bool
	deliver bool   // publish and land what landed, and nothing else
	stop    string // why it ends as stopped at once; empty: it goes on
	draw    func(string) uint64
}

// OrderFlags are the flags of every command that conducts a run.
func OrderFlags(a *frame.Console, c *cobra.Command, o *Order) {
	c.Flags().BoolVar(&o.Headless, "headless", false, "ask nobody: every question is answered by its stated fallback")
	c.Flags().BoolVar(&o.JSONL, "jsonl", false, "print every event as a line of JSON instead of a report")
	o.Traffic.Flags(c)
	a.JSONFlag(c)
	c.MarkFlagsMutuallyExclusive("json", "jsonl")
}

// StartFlags are the flags of every command that begins a run.
func StartFlags(c *cobra.Command, o *Order) {
	f := c.Flags()
	f.BoolVarP(&o.Yes, "yes", "y", false, "agree to the plan and start, without being asked")
	f.StringVar(&o.Seed, "seed", "", "whole `NUMBER` that names and waits are drawn from, to repeat a run")
	f.StringVar(&o.on, "on", "local", "`WHERE` it runs; only local is there")
	f.BoolVar(&o.pr, "pr", false, "not there: nothing is pushed; see --land")
}

// Check refuses what an order asks for and nobody can do.
func (o *Order) Check() error {
	switch {
	case o.on == "temporal":
		return &nexus.Error{Code: nexus.CodeInvalidInput, Message: "--on=temporal is not there yet", Hint: "Leave --on out: the run survives crashes here too, nexus resume goes on with it."}
	case o.on != "local" && o.on != "":
		return &nexus.Error{Code: nexus.CodeInvalidInput, Message: "--on knows no " + view.Quote(o.on), Hint: "Use local."}
	case o.pr:
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "--pr is not there yet: nothing is pushed",
			Hint: "Leave it out: the result is the branch nexus/RUN, which you can push and open a pull request from. --land moves the target branch here along.",
		}
	}
	if _, err := strconv.ParseInt(o.Seed, 10, 64); err != nil && o.Seed != "" {
		return &nexus.Error{Code: nexus.CodeInvalidInput, Message: "--seed wants a whole number, not " + view.Quote(o.Seed), Hint: "Such as --seed 7."}
	}
	return nil
}

// dice returns what draws from the order's seed: the same numbers of a name
// in the same order, whatever else goes on. It is nil without a seed.
func (o *Order) dice() func(string) uint64 {
	if o.Seed == "" {
		return nil
	}
	var mu sync.Mutex // guards drawn
	drawn := map[string]int{}
	return func(name string) uint64 {
		mu.Lock()
		defer mu.Unlock()
		drawn[name]++
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d", o.Seed, name, drawn[name]))
		return binary.BigEndian.Uint64(sum[:])
	}
}

// newRun names a run by when it began, so that names sort by time, and by
// three letters so that no two are the same.
func newRun(now time.Time, draw func(string) uint64) nexus.RunID {
	tail := rand.Text()[:3]
	if draw != nil {
		tail = fmt.Sprintf("%03s", strconv.FormatUint(draw("run")%(36*36*36), 36))
	}
	return nexus.RunID(now.UTC().Format("060102-150405-") + strings.ToLower(tail))
}
