package nexus

// LessonKind is something that runs learn from earlier ones.
type LessonKind string

// The kinds of lessons.
const (
	RoutingLesson  LessonKind = "routing"   // at which tier work on tasks begins
	EstimateLesson LessonKind = "estimates" // what tasks take, see [Experience]
	GateOrder      LessonKind = "gates"     // in which order gates judge
	TouchLesson    LessonKind = "touches"   // which files tasks change that they do not declare
	RetryLesson    LessonKind = "retries"   // what follows on a failure
	ContextLesson  LessonKind = "context"   // which files agents need to read
)

// LessonKinds returns all of them.
func LessonKinds() []LessonKind {
	return []LessonKind{RoutingLesson, EstimateLesson, GateOrder, TouchLesson, RetryLesson, ContextLesson}
}

// Lessons is what a run learned from earlier runs when it began. It stays the same
// for the whole run, so that the run can be replayed. Estimates are not among them:
// see [Experience].
type Lessons struct {
	Tiers   []TierLearned  `json:"tiers,omitempty"`   // the most like a task first
	Retries []RetryLearned `json:"retries,omitempty"` // after which failures another try at a tier is not worth it
	Gates   *GatesLearned  `json:"gates,omitempty"`   // nil: they judge in their usual order
	Touched []FileLearned  `json:"touched,omitempty"` // that tasks change and do not declare
	Read    []FileLearned  `json:"read,omitempty"`    // that agents read first
}

// Any reports whether there is a lesson.
func (l *Lessons) Any() bool {
	return l != nil && len(l.Tiers)+len(l.Retries)+len(l.Touched)+len(l.Read) > 0 || l != nil && l.Gates != nil
}

// TierLearned is where work on tasks of a sort begins. Every so many of them begin
// at the usual tier all the same, to see whether that is still so.
type TierLearned struct {
	Complexity Complexity `json:"complexity"`
	Kind       TaskKind   `json:"kind,omitzero"`  // zero: of any
	Stack      string     `json:"stack,omitzero"` // empty: of any
	Usual      Tier       `json:"usual"`          // where it begins without the lesson
	Tier       Tier       `json:"tier"`           // the usual one: nothing else is better
	Tasks      int        `json:"tasks"`          // that it rests on
	Seen       int        `json:"seen"`           // tasks of the sort before this run
	Every      int        `json:"every,omitzero"` // how often the usual tier is tried; 0: always
	Why        string     `json:"why"`
}

// RetryLearned records that after a failure at a tier the next tier follows at once.
// Every so often the tier is tried again all the same.
type RetryLearned struct {
	Tier  Tier   `json:"tier"`
	After string `json:"after"` // gate that was red last, or else how the attempt ended
	Tasks int    `json:"tasks"`
	Seen  int    `json:"seen"`
	Every int    `json:"every,omitzero"`
	Why   string `json:"why"`
}

// GatesLearned is the order in which gates judge: those first that are red often and
// soon. Gates that it does not name follow in their usual order.
type GatesLearned struct {
	Order []string `json:"order"`
	Tasks int      `json:"tasks"`
	Why   string   `json:"why"`
}

// FileLearned is a file that goes with tasks which declare another one.
type FileLearned struct {
	Of    string `json:"of"` // what they declare: a file, or a directory, which ends in a slash
	File  string `json:"file"`
	Cases int    `json:"cases"` // tasks with which it went
	Tasks int    `json:"tasks"` // of so many
}
