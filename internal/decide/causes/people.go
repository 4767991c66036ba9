package causes

import (
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// ofPeople returns the patterns about decisions and things that only people can provide.
func ofPeople() []Pattern {
	return []Pattern{
		{"person-needed", "the work needs something that only a person can give", personNeeded},
		{"unanswered", "a question was not answered in time", unanswered},
		{"plan-refused", "people refused the plan repeatedly", planRefused},
		{"hook-refused", "a hook refused", hookRefused},
		{"undone", "a person reverted what had landed", undone},
	}
}

func personNeeded(r *record) []Cause {
	return causes(r, 1, func(f nexus.AttemptEnded) []mark {
		return only(f.Category == nexus.PersonNeeded && r.left(r.attempt(f.Attempt)), r.attempt(f.Attempt), "")
	}, func(s typedGroup[nexus.AttemptEnded]) Cause {
		return Cause{
			Symptom: "its agent cannot continue without a person",
			Why:     given(s.last().Why, "it needs a key, an account, a device or a decision"),
			Fix:     "nexus tell " + name(s.task) + " TEXT, then nexus retry " + name(s.task),
		}
	})
}

func unanswered(r *record) []Cause {
	found := causes(r, 1, func(f nexus.QuestionLeft) []mark { return only(true, "", f.ID) }, func(s typedGroup[nexus.QuestionLeft]) Cause {
		return Cause{
			Symptom: "the question " + s.what + " is open, and the run went on without an answer",
			Why:     r.question(s.what),
			Fix:     "nexus answer " + s.what + " TEXT; channels.order sends questions to you: docs/answer-and-share.md",
		}
	})
	return append(found, causes(r, 1, func(f nexus.QuestionAnswered) []mark {
		return only(f.By == "fallback", "", f.ID)
	}, func(s typedGroup[nexus.QuestionAnswered]) Cause {
		return Cause{
			Symptom: fmt.Sprintf("%s was not answered in time, and %q was used", s.what, firstLine(s.last().Text)),
			Why:     r.question(s.what),
			Fix:     "channels.order sends questions to you: docs/answer-and-share.md",
		}
	})...)
}

// question returns the text of a question.
func (r *record) question(id string) string {
	if q := r.state.Question(id); q != nil {
		return "it asks: " + firstLine(q.Text)
	}
	return "no person was available"
}

func planRefused(r *record) []Cause {
	return causes(r, 2, func(nexus.PlanRefused) []mark { return only(true, "", "") }, func(s typedGroup[nexus.PlanRefused]) Cause {
		return Cause{
			Symptom: fmt.Sprintf("the plan was refused %s", times(len(s.at))),
			Why:     "the planner does not know what you want; the last reason was: " + firstLine(s.last().Why),
			Fix:     "describe it in the goal or in a spec (nexus spec), or edit the plan: nexus approve ID --plan FILE",
		}
	})
}

func undone(r *record) []Cause {
	return causes(r, 1, func(f nexus.UndoLanded) []mark {
		var all []mark
		for _, id := range f.Tasks {
			if t := r.state.Task(id); t != nil && t.Status == nexus.Skipped { // the work is not needed any more
				all = append(all, mark{id, ""})
			}
		}
		return all
	}, func(s typedGroup[nexus.UndoLanded]) Cause {
		return Cause{
			Blocks:  true,
			Symptom: "it landed, and was reverted",
			Why:     given(s.last().By, "somebody") + " ran nexus undo",
			Fix:     "nexus retry " + name(s.task) + ", then nexus resume, to have its work again",
		}
	})
}

func hookRefused(r *record) []Cause {
	return causes(r, 1, func(f nexus.ResultPublished) []mark {
		return only(f.Hook != "", "", f.Hook)
	}, func(s typedGroup[nexus.ResultPublished]) Cause {
		return Cause{
			Blocks:  true,
			Symptom: "what landed was not put on " + given(s.last().Target, "its target"),
			Why:     "the hook " + s.what + " refused: " + firstLine(s.last().Why),
			Fix:     "nexus hooks test " + s.what + "; then nexus land",
		}
	})
}
