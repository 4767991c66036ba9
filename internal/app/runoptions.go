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

// RunOptions is what a run is started or taken up with.
type RunOptions struct {
	Run      nexus.RunID // one that exists; empty starts a new one
	Name     nexus.RunID // of the new one; empty draws it
	Goal     nexus.Goal
	Plan     *nexus.Plan        // nil lets the planner make one
	Lanes    []nexus.LaneFormed // tasks of the plan that would share a session, once it is estimated
	Steps    []PlannedStep      // of the pipeline, for tasks of the plan, once it is estimated
	Spent    nexus.Money        // on the plan already; it counts against the budget
	Asked    int                // questions that were asked about the goal before, in an interview
	Refused  []state.PlanDraft  // plans for the goal that people refused, oldest first: the planner is told why
	Headless bool               // answer every question by its fallback
	Person   bool               // somebody sits here who can be asked
	Watched  bool               // somebody sees how the run goes
	Seed     string             // of everything that is drawn; empty draws at random

	Consent nexus.Consent // to the plan; the zero Consent leaves it to the level of approval

	Added []nexus.Request // what there is to do in the mode of the backlog
	Items int             // of those that are worked on at once, where other runs work on some; 0: as the settings say

	Checked *nexus.RunChecked // what was found before; nil where nobody looked
	Refuse  func() error      // says what else keeps the run from starting; nil: nothing

	// Yours lets a gate judge the user's own checkout; false where that does not have the commit as it is. Nil: no gate does.
	Yours func(ctx context.Context, commit, gate string) (nexus.Evidence, bool, error)

	Traffic provider.Traffic // where it is recorded to, or played from

	tap     provider.RecordingTransport // opened from Traffic
	deliver bool                        // publish and land what landed, and nothing else
	stop    string                      // why it ends as stopped at once; empty: it continues
	draw    func(string) uint64
}

// isUnattended reports whether nobody is there who could answer a question.
func (o *RunOptions) isUnattended(c config.Config) bool {
	return o.Headless || !o.Watched && len(c.Channels.Order) == 0
}

// questionTimeout is how long a question of the run itself waits: who reads a plan at the
// terminal takes the time that it takes.
func (o *RunOptions) questionTimeout(c config.Config) time.Duration {
	if o.Person && !o.Headless {
		return 0
	}
	return c.Patience
}

// checkStart asks what else keeps the run from starting.
func (o *RunOptions) checkStart() error {
	if o.Refuse == nil {
		return nil
	}
	return o.Refuse()
}

// OpenReplay opens the recording that answers, where one does: what is looked at
// before the run begins asks no provider then, and needs no key.
func (o *RunOptions) OpenReplay(a *App) error {
	if o.Traffic.Replay == "" {
		return nil
	}
	tap, err := o.Traffic.Open(a.Mask.Mask)
	o.tap = tap
	return err
}

// closeRecording reports what could not be recorded, and what was played to requests
// that are not quite those of the recording.
func (a *App) closeRecording(t provider.RecordingTransport) {
	a.reportError(t.Close())
	n, first := t.Mismatches()
	if n == 0 {
		return
	}
	answers := "1 answer"
	if n > 1 {
		answers = strconv.Itoa(n) + " answers"
	}
	a.reportText(answers + " of the recording went to requests that show a different tree, for example because tasks land in a different order; the first: " + sanitize.Show(first))
}

// seededRandom returns what draws from the order's seed: the same numbers of a name
// in the same order, whatever else goes on. It is nil without a seed.
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

// newRun names a run by when it began, so that names sort by time, and by
// three letters so that no two are the same.
func newRun(now time.Time, draw func(string) uint64) nexus.RunID {
	tail := rand.Text()[:3]
	if draw != nil {
		tail = fmt.Sprintf("%03s", strconv.FormatUint(draw("run")%(36*36*36), 36))
	}
	return nexus.RunID(now.UTC().Format("060102-150405-") + strings.ToLower(tail))
}

// CheckModels refuses what could not work anyway, before anything is recorded: a
// model that is unknown, a provider without a key.
func (a *App) CheckModels(c config.Config, o RunOptions) error {
	if o.deliver {
		return nil // as a rule it asks no model
	}
	c, err := a.WithAgents(c, o.tap)
	if err != nil {
		return err
	}
	models, err := provider.NewModels(c, a.Env, a.Now)
	if err != nil {
		return err
	}
	models.With(a.Keys(), o.tap)
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
