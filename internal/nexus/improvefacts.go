package nexus

import "time"

// Theme starts the names of branches with results of a loop that wait for a person. Each
// strategy that finds work has one branch.
const Theme = "nexus/improve/"

// ImproveRules are the limits of a loop that finds work and does it.
type ImproveRules struct {
	Cycles     int       `json:"cycles,omitzero"`   // maximum number of cycles; 0: any number
	Until      time.Time `json:"until,omitzero"`    // when it ends; zero: never
	Landings   int       `json:"landings,omitzero"` // landings after which it ends; 0: any number
	Empty      bool      `json:"empty,omitzero"`    // it ends if it finds no work
	Strategies []string  `json:"strategies,omitempty"`
	// trigger of a cycle: files, commits, gate or a schedule; empty: time
	Watch string `json:"watch,omitzero"`
	Quiet string `json:"quiet,omitzero"` // hours in which nothing starts or lands
	// results land on the target; otherwise on the branch of their theme, where they wait for
	// a person
	Direct bool `json:"direct,omitzero"`

	Pulls bool `json:"pulls,omitzero"` // people agreed that a theme's branch is pushed and a pull request opened

	Budget Money `json:"budget,omitzero"` // for all cycles together
	Item   Money `json:"item,omitzero"`   // reserved for one item

	Parallel int `json:"parallel,omitzero"` // items in progress at once
	Open     int `json:"open,omitzero"`     // branches that may wait for a person
	Waiting  int `json:"waiting,omitzero"`  // results that may wait for a person
	Lines    int `json:"lines,omitzero"`    // lines that a result may add and remove; 0: any number

	// after the first cycle without work; doubles with each further one
	Rest     time.Duration `json:"rest,omitzero"`
	MostRest time.Duration `json:"most_rest,omitzero"` // upper limit of Rest
}

// CandidateWorkItem is a piece of work that a loop found and may do.
type CandidateWorkItem struct {
	Finding  string   `json:"finding"`
	Strategy string   `json:"strategy"`
	Title    string   `json:"title"`
	Files    []string `json:"files,omitempty"`
	Mark     string   `json:"mark,omitzero"`   // fingerprint that changes with those files
	Lines    []string `json:"lines,omitempty"` // fingerprints of the lines that it is about
	Plan     string   `json:"plan,omitzero"`   // blob
}

// OmittedWorkFinding is a piece of work that a loop found and skips.
type OmittedWorkFinding struct {
	Finding string `json:"finding"`
	Title   string `json:"title,omitzero"`
	Rule    string `json:"rule"`
	Why     string `json:"why"`
}

// LoopItemChange describes a result's change.
type LoopItemChange struct {
	Files        []string `json:"files,omitempty"`
	Lines        int      `json:"lines,omitzero"`         // added and removed
	Touched      []string `json:"touched,omitempty"`      // fingerprints of those lines; see [CandidateWorkItem]
	Public       []string `json:"public,omitempty"`       // public declarations that changed or were removed
	Dependencies []string `json:"dependencies,omitempty"` // changed files that declare the project's dependencies
}

// WorsenedFinding is a finding that is new after a landing, or worse than before.
type WorsenedFinding struct {
	Finding  string `json:"finding"`
	Strategy string `json:"strategy"`
	Title    string `json:"title"`
	Before   int    `json:"before"` // number of problems that it stood for before; 0: there was none
	After    int    `json:"after"`
}

// Outcomes of results that waited for a person.
const (
	ResultMerged   = "merged"   // the target contains it
	ResultRejected = "rejected" // its branch was deleted
)

// Facts about a loop that finds work, does it and lands it. Each item is a run of its own,
// whose name is that of the item.
type (
	// LoopRulesSet gives the rules of the loop from now on.
	LoopRulesSet struct {
		Rules ImproveRules `json:"rules"`
	}
	// ImproveCycleStarted is recorded before the loop searches for work.
	ImproveCycleStarted struct {
		Cycle int    `json:"cycle"` // from 1
		Why   string `json:"why,omitzero"`
	}
	// ImproveCycleSearched records the findings of a cycle.
	ImproveCycleSearched struct {
		Cycle  int                  `json:"cycle"`
		Tip    string               `json:"tip"` // of the target
		Wanted []CandidateWorkItem  `json:"wanted,omitempty"`
		Left   []OmittedWorkFinding `json:"left,omitempty"`
		More   int                  `json:"more,omitzero"`   // findings that could be worked on and are not listed
		Notes  []string             `json:"notes,omitempty"` // strategies that could not run, and why
		Spent  Money                `json:"spent,omitzero"`  // on models that searched for work
	}
	// ImproveCycleFailed records why the search for work failed.
	ImproveCycleFailed struct {
		Cycle int    `json:"cycle"`
		Why   string `json:"why"`
	}
	// LoopPauseStarted records until when the loop rests, and why.
	LoopPauseStarted struct {
		Until time.Time     `json:"until,omitzero"` // zero: until it is woken
		For   time.Duration `json:"for,omitzero"`
		Why   string        `json:"why"`
		Idle  bool          `json:"idle,omitzero"` // there was no work: the next rest is longer
	}
	// LoopItemWorkStarted is recorded before work on an item starts, and reserves its money.
	LoopItemWorkStarted struct {
		Item     RunID             `json:"item"`
		Cycle    int               `json:"cycle"`
		Wanted   CandidateWorkItem `json:"wanted"`
		Reserved Money             `json:"reserved"`
		Base     string            `json:"base"` // branch on which the work starts
	}
	// LoopItemWorkEnded records how the work on an item ended.
	LoopItemWorkEnded struct {
		Item   RunID          `json:"item"`
		Status RunStatus      `json:"status"`
		Spent  Money          `json:"spent"`
		Branch string         `json:"branch,omitzero"` // branch with the work; empty: none
		Start  string         `json:"start,omitzero"`  // commit on which it started
		Commit string         `json:"commit,omitzero"`
		Why    string         `json:"why,omitzero"`
		Change LoopItemChange `json:"change,omitzero"`

		// Outside means that the work produced nothing for an outside reason, such as a key,
		// a provider, the machine or the daily budget: it does not count against the finding.
		Outside bool      `json:"outside,omitzero"`
		Again   time.Time `json:"again,omitzero"` // when the reason may be gone; zero: unknown
	}
	// LoopItemLandingConfirmed ends the watch over the landed work of an item: it made nothing worse.
	LoopItemLandingConfirmed struct {
		Item RunID  `json:"item"`
		Rule string `json:"rule"`
		Why  string `json:"why"`

		Spent Money `json:"spent,omitzero"` // spent on trying to land it
	}
	// LoopItemLandingStarted records the intent to land a result.
	LoopItemLandingStarted struct {
		Item   RunID  `json:"item"`
		Target string `json:"target"`
	}
	// LoopItemLanded records that the result landed.
	LoopItemLanded struct {
		Item   RunID  `json:"item"`
		Target string `json:"target"`
		Before string `json:"before"` // commit on which it landed
		Commit string `json:"commit"`

		Spent Money `json:"spent,omitzero"` // spent on landing it
	}
	// CheckAfterLandingStarted is recorded before Nexus checks whether a landing made anything worse.
	CheckAfterLandingStarted struct {
		Item RunID `json:"item"`
	}
	// LandingCheckEnded records the findings that a landing made worse.
	LandingCheckEnded struct {
		Item  RunID             `json:"item"`
		Worse []WorsenedFinding `json:"worse,omitempty"`
		Why   string            `json:"why,omitzero"` // why the result is unknown
	}
	// LoopItemRevertStarted is recorded before a landing is reverted by a new commit.
	LoopItemRevertStarted struct {
		Item RunID  `json:"item"`
		Why  string `json:"why"`
	}
	// LoopItemReverted records that a landing was reverted.
	LoopItemReverted struct {
		Item   RunID  `json:"item"`
		Commit string `json:"commit"`
	}
	// LoopItemRevertFailed records why a landing could not be reverted.
	LoopItemRevertFailed struct {
		Item RunID  `json:"item"`
		Why  string `json:"why"`
	}
	// WaitingResultDecided records a person's decision about a waiting result.
	WaitingResultDecided struct {
		Item RunID  `json:"item"`
		How  string `json:"how"`           // merged or rejected
		Left bool   `json:"left,omitzero"` // it was merged in another form, and its branch still exists
	}
)

// Facts about a theme's branch on the forge, if people agreed that a loop pushes it and opens
// a pull request.
type (
	// PullRequestUpdateStarted is recorded before the branch of a theme is pushed and its
	// pull request updated.
	PullRequestUpdateStarted struct {
		Branch string  `json:"branch"`
		Commit string  `json:"commit"`          // commit at which the branch is pushed
		Items  []RunID `json:"items,omitempty"` // results that wait on the branch
	}
	// PullRequestUpdated records that the branch and its pull request are on the forge.
	PullRequestUpdated struct {
		Branch string `json:"branch"`
		Commit string `json:"commit"`
		Number int    `json:"number"`
		Web    string `json:"web"`
		New    bool   `json:"new,omitzero"` // it was opened now and did not exist before
	}
	// PullRequestUpdateFailed records why the branch or its pull request could not be updated.
	PullRequestUpdateFailed struct {
		Branch string `json:"branch"`
		Commit string `json:"commit"`
		Why    string `json:"why"`
	}
	// PullRequestClosed records how people closed a pull request. Later results of its strategy go
	// to another branch.
	PullRequestClosed struct {
		Branch string `json:"branch"`
		Number int    `json:"number"`
		How    string `json:"how"` // merged or rejected
	}
)

// Blobs returns the plans of the listed work.
func (f ImproveCycleSearched) Blobs() []string {
	all := make([]string, len(f.Wanted))
	for i, w := range f.Wanted {
		all[i] = w.Plan
	}
	return all
}

// Blobs returns the hash of the plan.
func (f LoopItemWorkStarted) Blobs() []string { return []string{f.Wanted.Plan} }
