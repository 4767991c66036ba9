package nexus

// LessonKind is a kind of lesson that runs learn from earlier ones.
type LessonKind string

// The kinds of lessons.
const (
	RoutingLesson  LessonKind = "routing"   // starting tier of tasks
	EstimateLesson LessonKind = "estimates" // time and cost of tasks, see [EstimateBasis]
	GateOrder      LessonKind = "gates"     // order of the gates
	TouchLesson    LessonKind = "touches"   // files that tasks change without declaring them
	RetryLesson    LessonKind = "retries"   // next step after a failure
	ContextLesson  LessonKind = "context"   // files that agents need to read
)

// LessonKinds returns all kinds.
func LessonKinds() []LessonKind {
	return []LessonKind{RoutingLesson, EstimateLesson, GateOrder, TouchLesson, RetryLesson, ContextLesson}
}

// RunLessons are the lessons from earlier runs when a run began. They stay the same for the
// whole run, so that the run can be replayed. Estimates are not included: see [EstimateBasis].
type RunLessons struct {
	Tiers []StartTierLesson `json:"tiers,omitempty"` // the most similar to a task first
	// failures after which another try at the same tier does not pay
	Retries []RetryTierLesson   `json:"retries,omitempty"`
	Gates   *GateOrderLesson    `json:"gates,omitempty"`   // nil: the usual order
	Touched []RelatedFileLesson `json:"touched,omitempty"` // files that tasks change without declaring them
	Read    []RelatedFileLesson `json:"read,omitempty"`    // files that agents read first
}

// HasLessons reports whether there is a lesson.
func (l *RunLessons) HasLessons() bool {
	return l != nil && len(l.Tiers)+len(l.Retries)+len(l.Touched)+len(l.Read) > 0 || l != nil && l.Gates != nil
}

// StartTierLesson is the learned starting tier of a kind of task. At intervals a task starts at
// the usual tier anyway, to check whether the lesson is still right.
type StartTierLesson struct {
	Complexity Complexity `json:"complexity"`
	Kind       TaskKind   `json:"kind,omitzero"`  // zero: any kind
	Stack      string     `json:"stack,omitzero"` // empty: any stack
	Usual      Tier       `json:"usual"`          // starting tier without the lesson
	Tier       Tier       `json:"tier"`           // the learned tier; equal to Usual if no other is better
	Tasks      int        `json:"tasks"`          // tasks that the lesson is based on
	Seen       int        `json:"seen"`           // tasks of this kind before this run
	Every      int        `json:"every,omitzero"` // how often the usual tier is tried; 0: always
	Why        string     `json:"why"`
}

// RetryTierLesson is the lesson that after a failure at a tier the next tier is tried at once.
// At intervals the same tier is tried anyway.
type RetryTierLesson struct {
	Tier  Tier   `json:"tier"`
	After string `json:"after"` // last gate that failed, or else the outcome of the attempt
	Tasks int    `json:"tasks"`
	Seen  int    `json:"seen"`
	Every int    `json:"every,omitzero"`
	Why   string `json:"why"`
}

// GateOrderLesson is the learned order of gates: gates that fail often and early come first.
// Gates that it does not name follow in their usual order.
type GateOrderLesson struct {
	Order []string `json:"order"`
	Tasks int      `json:"tasks"`
	Why   string   `json:"why"`
}

// RelatedFileLesson is a file that goes together with tasks that declare another file.
type RelatedFileLesson struct {
	Of    string `json:"of"` // the declared path: a file, or a directory with a slash at its end
	File  string `json:"file"`
	Cases int    `json:"cases"` // tasks that involved the file
	Tasks int    `json:"tasks"` // out of this number of tasks
}
