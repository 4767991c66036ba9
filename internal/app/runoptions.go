package app

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
)

// RunOptions are the options to start or resume a run.
type RunOptions struct {
	Run      nexus.RunID // an existing one; empty starts a new one
	Name     nexus.RunID // of the new one; empty draws it
	Goal     nexus.Goal
	Plan     *nexus.Plan                      // nil lets the planner make one
	Lanes    []nexus.SharedSessionGroupFormed // tasks of the plan that would share a session, once it is estimated
	Steps    []PlannedPipelineStep            // of the pipeline, for tasks of the plan, once it is estimated
	Spent    nexus.Money                      // on the plan already; it counts against the budget
	Asked    int                              // questions about the goal in an earlier interview
	Refused  []state.UnapprovedPlan           // plans for the goal that people refused, oldest first: the planner receives the reasons
	Headless bool                             // answer every question by its default
	Person   bool                             // a person at this terminal can be asked
	Watched  bool                             // a person sees the progress of the run
	Seed     string                           // for all random numbers; empty draws at random

	Consent nexus.PlanApprovalRule // to the plan; the zero Consent leaves it to the level of approval

	Added []nexus.Request // the work in backlog mode
	Items int             // number of items in progress at once, if other runs work on some; 0: from the settings

	Checked *nexus.RunPrechecked // notices found before the run started; nil if there was no check
	Refuse  func() error         // returns another reason why the run must not start; nil: none

	// Yours runs a gate on the user's own checkout; false if the checkout does not have the
	// unchanged commit. Nil: no gate runs there.
	Yours func(ctx context.Context, commit, gate string) (nexus.GateEvidence, bool, error)

	Traffic provider.TrafficRecordingOptions // directory to record to, or to replay from

	tap     provider.RecordingTransport // opened from Traffic
	deliver bool                        // publish and land the landed work, and nothing else
	stop    string                      // why it ends as stopped at once; empty: it continues
	draw    func(string) uint64
}

// isUnattended reports whether no person is available to answer a question.
func (o *RunOptions) isUnattended(c config.Config) bool {
	return o.Headless || !o.Watched && len(c.Channels.Order) == 0
}

// questionTimeout returns how long a question of the run itself waits. A person who reads a
// plan at the terminal has unlimited time.
func (o *RunOptions) questionTimeout(c config.Config) time.Duration {
	if o.Person && !o.Headless {
		return 0
	}
	return c.Patience
}

// checkStart returns any other reason why the run must not start.
func (o *RunOptions) checkStart() error {
	if o.Refuse == nil {
		return nil
	}
	return o.Refuse()
}

// OpenReplay opens the recording to replay, if there is one: checks before the run then call no
// provider, and need no key.
func (o *RunOptions) OpenReplay(a *App) error {
	if o.Traffic.Replay == "" {
		return nil
	}
	tap, err := o.Traffic.Open(a.Mask.Mask)
	o.tap = tap
	return err
}

// closeRecording reports recording errors, and replayed answers whose requests differ from the
// recording.
func (a *App) closeRecording(t provider.RecordingTransport) {
	a.reportError(t.Close())
	n, first := t.ReplayMismatches()
	if n == 0 {
		return
	}
	answers := "1 answer"
	if n > 1 {
		answers = strconv.Itoa(n) + " answers"
	}
	a.reportText(answers + " of the recording went to requests that show a different tree, for example because tasks land in a different order; the first: " + sanitize.RevealHidden(first))
}

// seededRandom returns a function that draws from the options' seed: the same numbers for a
// name in the same order, whatever else happens. It is nil without a seed.
func (o *RunOptions) seededRandom() func(string) uint64 {
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

// newRunID names a run by its start time, so that names sort by time, and by three letters that
// make it unique.
func newRunID(now time.Time, draw func(string) uint64) nexus.RunID {
	tail := rand.Text()[:3]
	if draw != nil {
		tail = fmt.Sprintf("%03s", strconv.FormatUint(draw("run")%(36*36*36), 36))
	}
	return nexus.RunID(now.UTC().Format("060102-150405-") + strings.ToLower(tail))
}

// CheckModels returns an error for settings that cannot work, before anything is recorded: an
// unknown model, or a provider without a key.
func (a *App) CheckModels(c config.Config, o RunOptions) error {
	if o.deliver {
		return nil // usually it calls no model
	}
	c, err := a.ConfigWithAgentsIfNoModel(c, o.tap)
	if err != nil {
		return err
	}
	models, err := provider.NewModelPicker(c, a.Env, a.Now)
	if err != nil {
		return err
	}
	models.UseKeysAndTransport(a.KeyStore(), o.tap)
	roles := []nexus.Role{nexus.Coder, nexus.Reviewer}
	switch {
	case o.Goal.Mode == nexus.Interview:
		roles = []nexus.Role{nexus.Interviewer}
	case o.Goal.Mode == nexus.Specify:
		roles = []nexus.Role{nexus.Specifier}
	case o.Run == "" && o.Plan == nil:
		roles = append(roles, nexus.Planner)
	}
	for _, role := range roles {
		if err := models.CheckRole(role, "", ""); err != nil {
			return err
		}
	}
	if o.Plan == nil {
		return nil
	}
	for _, t := range o.Plan.Tasks {
		if err := models.CheckRole(nexus.Coder, t.Tier, t.Model); err != nil {
			return err
		}
	}
	return nil
}
