package nexus

import "time"

// Theme begins the names of branches that hold what a loop did and that wait for a
// person: one for each strategy that finds work.
const Theme = "nexus/improve/"

// ImproveRules say how far a loop goes that finds work and does it, and how modest
// it is.
type ImproveRules struct {
	Cycles     int       `json:"cycles,omitzero"`   // at most; 0: any number
	Until      time.Time `json:"until,omitzero"`    // when it ends; zero: never
	Landings   int       `json:"landings,omitzero"` // that it ends after; 0: any number
	Empty      bool      `json:"empty,omitzero"`    // it ends when there is nothing to do
	Strategies []string  `json:"strategies,omitempty"`
	Watch      string    `json:"watch,omitzero"`  // what begins a cycle: files, commits, gate or a schedule; empty: time
	Quiet      string    `json:"quiet,omitzero"`  // hours in which nothing is begun and nothing lands
	Direct     bool      `json:"direct,omitzero"` // what is done lands on the target; else on a branch of its theme, where it waits for a person

	Pulls bool `json:"pulls,omitzero"` // people agreed that the branch of a theme is pushed, and that a pull request is opened

	Budget Money `json:"budget,omitzero"` // for all cycles together
	Item   Money `json:"item,omitzero"`   // that is set aside for one piece of work

	Parallel int `json:"parallel,omitzero"` // pieces of work at once
	Open     int `json:"open,omitzero"`     // branches that wait for a person
	Waiting  int `json:"waiting,omitzero"`  // results that wait for a person
	Lines    int `json:"lines,omitzero"`    // that a result may add and remove; 0: any number

	Rest     time.Duration `json:"rest,omitzero"`      // after the first cycle without work; doubles from one to the next
	MostRest time.Duration `json:"most_rest,omitzero"` // where that ends
}

// Wanted is something that a loop found and may take up.
type Wanted struct {
	Finding  string   `json:"finding"`
	Strategy string   `json:"strategy"`
	Title    string   `json:"title"`
	Files    []string `json:"files,omitempty"`
	Mark     string   `json:"mark,omitzero"`   // changes with those files
	Lines    []string `json:"lines,omitempty"` // marks of the lines that it is about
	Plan     string   `json:"plan,omitzero"`   // blob
}

// LeftOut is something that a loop found and does not take up.
type LeftOut struct {
	Finding string `json:"finding"`
	Title   string `json:"title,omitzero"`
	Rule    string `json:"rule"`
	Why     string `json:"why"`
}

// ItemChange is what a result changes.
type ItemChange struct {
	Files        []string `json:"files,omitempty"`
	Lines        int      `json:"lines,omitzero"`         // added and removed
	Touched      []string `json:"touched,omitempty"`      // marks of those lines; see [Wanted]
	Public       []string `json:"public,omitempty"`       // what other code may use and is another now, or gone
	Dependencies []string `json:"dependencies,omitempty"` // files that say what the project depends on
}

// Worsened is a finding that is new after a landing, or worse than before.
type Worsened struct {
	Finding  string `json:"finding"`
	Strategy string `json:"strategy"`
	Title    string `json:"title"`
	Before   int    `json:"before"` // how many things it stood for; 0: there was none
	After    int    `json:"after"`
}

// What came of results that waited for a person.
const (
	ResultMerged   = "merged"   // the target has it
	ResultRejected = "rejected" // its branch is gone
)

// A loop that finds work, does it and lands it. Each piece of work is a run of its own,
// whose name is that of the item.
type (
	// LoopOpened gives the rules of the loop from now on.
	LoopOpened struct {
		Rules ImproveRules `json:"rules"`
	}
	// CycleStarted is recorded before the loop looks for work.
	CycleStarted struct {
		Cycle int    `json:"cycle"` // from 1
		Why   string `json:"why,omitzero"`
	}
	// CycleLooked lists the work that the loop found.
	CycleLooked struct {
		Cycle  int       `json:"cycle"`
		Tip    string    `json:"tip"` // of the target
		Wanted []Wanted  `json:"wanted,omitempty"`
		Left   []LeftOut `json:"left,omitempty"`
		More   int       `json:"more,omitzero"`   // findings that can be worked on and are not listed
		Notes  []string  `json:"notes,omitempty"` // strategies that could not run, and why
		Spent  Money     `json:"spent,omitzero"`  // on models that looked for work
	}
	// CycleFailed records why the search for work failed.
	CycleFailed struct {
		Cycle int    `json:"cycle"`
		Why   string `json:"why"`
	}
	// LoopRested records until when the loop does nothing, and why.
	LoopRested struct {
		Until time.Time     `json:"until,omitzero"` // zero: until it is woken
		For   time.Duration `json:"for,omitzero"`
		Why   string        `json:"why"`
		Idle  bool          `json:"idle,omitzero"` // there was nothing to do: the next rest is longer
	}
	// ItemTaken is recorded before work on an item starts, and reserves its money.
	ItemTaken struct {
		Item     RunID  `json:"item"`
		Cycle    int    `json:"cycle"`
		Wanted   Wanted `json:"wanted"`
		Reserved Money  `json:"reserved"`
		Base     string `json:"base"` // branch that the work starts from
	}
	// ItemWorked records how the work ended.
	ItemWorked struct {
		Item   RunID      `json:"item"`
		Status RunStatus  `json:"status"`
		Spent  Money      `json:"spent"`
		Branch string     `json:"branch,omitzero"` // branch with the work; empty: none
		Start  string     `json:"start,omitzero"`  // commit that it started from
		Commit string     `json:"commit,omitzero"`
		Why    string     `json:"why,omitzero"`
		Change ItemChange `json:"change,omitzero"`

		// Outside records that nothing came of it for a reason outside the work, such as a key, a
		// provider, the machine or the money of the day: it does not count against the finding.
		Outside bool      `json:"outside,omitzero"`
		Again   time.Time `json:"again,omitzero"` // from when on it may be otherwise; zero: nobody knows
	}
	// ItemKept records why a result does not land. Its branch stays.
	ItemKept struct {
		Item RunID  `json:"item"`
		Rule string `json:"rule"`
		Why  string `json:"why"`

		Spent Money `json:"spent,omitzero"` // on trying to land it
	}
	// ItemOffered records the intent to land a result.
	ItemOffered struct {
		Item   RunID  `json:"item"`
		Target string `json:"target"`
	}
	// ItemLanded records that it landed.
	ItemLanded struct {
		Item   RunID  `json:"item"`
		Target string `json:"target"`
		Before string `json:"before"` // commit that it landed on
		Commit string `json:"commit"`

		Spent Money `json:"spent,omitzero"` // on landing it
	}
	// LandingWatched is recorded before Nexus checks whether a landing made anything worse.
	LandingWatched struct {
		Item RunID `json:"item"`
	}
	// LandingWeighed says what it made worse.
	LandingWeighed struct {
		Item  RunID      `json:"item"`
		Worse []Worsened `json:"worse,omitempty"`
		Why   string     `json:"why,omitzero"` // why it is unknown
	}
	// RevertSought is recorded before a landing is reverted by a new commit.
	RevertSought struct {
		Item RunID  `json:"item"`
		Why  string `json:"why"`
	}
	// ItemReverted records that a landing was reverted.
	ItemReverted struct {
		Item   RunID  `json:"item"`
		Commit string `json:"commit"`
	}
	// RevertFailed records why a landing could not be reverted.
	RevertFailed struct {
		Item RunID  `json:"item"`
		Why  string `json:"why"`
	}
	// ResultSettled says what a person decided about a waiting result.
	ResultSettled struct {
		Item RunID  `json:"item"`
		How  string `json:"how"`           // merged or rejected
		Left bool   `json:"left,omitzero"` // it was merged in another form, and its branch is still there
	}
)

// What comes of a theme's branch on the forge, where people agreed that a loop pushes it
// and opens a pull request.
type (
	// PullSought is recorded before the branch of a theme is pushed and its
	// pull request updated.
	PullSought struct {
		Branch string  `json:"branch"`
		Commit string  `json:"commit"`          // that the branch is pushed at
		Items  []RunID `json:"items,omitempty"` // that wait there
	}
	// PullTold records that the branch and its pull request are on the forge.
	PullTold struct {
		Branch string `json:"branch"`
		Commit string `json:"commit"`
		Number int    `json:"number"`
		Web    string `json:"web"`
		New    bool   `json:"new,omitzero"` // it was opened, and not there before
	}
	// PullFailed records why the branch or its pull request could not be updated.
	PullFailed struct {
		Branch string `json:"branch"`
		Commit string `json:"commit"`
		Why    string `json:"why"`
	}
	// PullClosed records how people closed a pull request. Later results of its
	// strategy go to another branch.
	PullClosed struct {
		Branch string `json:"branch"`
		Number int    `json:"number"`
		How    string `json:"how"` // merged or rejected
	}
)

// Blobs returns the plans of what is wanted.
func (f CycleLooked) Blobs() []string {
	all := make([]string, len(f.Wanted))
	for i, w := range f.Wanted {
		all[i] = w.Plan
	}
	return all
}

// Blobs returns the plan.
func (f ItemTaken) Blobs() []string { return []string{f.Wanted.Plan} }
