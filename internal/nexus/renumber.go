package nexus

// RenumberFact returns a copy of a fact in which seq has changed each number of another event.
// It is for events that are copied to a place where they have other numbers.
func RenumberFact(f Fact, seq func(int64) int64) Fact {
	switch f := f.(type) {
	case RequestSettled:
		f.Seq = seq(f.Seq)
		return f
	case AdditionPlanningStarted:
		f.Request = seq(f.Request)
		return f
	case AdditionPlanningFailed:
		f.Request = seq(f.Request)
		return f
	case TasksAdded:
		f.Request = seq(f.Request)
		return f
	case RunRewound:
		f.To = seq(f.To)
		return f
	case PromptSent:
		if f.Request != 0 {
			f.Request = seq(f.Request)
		}
		return f
	default:
		return f
	}
}
