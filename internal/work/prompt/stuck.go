package prompt

import (
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Stuck is what opens the conversation with the planner about a task that did
// not get there and is to be split.
type Stuck struct {
	Session nexus.SessionID
	Task    nexus.Task
	Why     string // it would be left otherwise
	Rescope bool   // its agent wants another plan, which may be one task
	Parts   int    // most parts
	Size    nexus.Size
	Dead    []string // why its attempts ended, oldest first
	Diff    string   // what its last attempt came to, which is not in the tree
	Limit   int64    // most tokens; 0 means 24,000
}

// Message returns it as the first message of its conversation.
func (s Stuck) Message() string {
	about := header(s.Session, string(s.Task.ID), "Split: "+s.Task.Title)
	ask := fmt.Sprintf("Several attempts at this task failed. Cut it into 2 to %d smaller tasks that can land one by one and together are all of it: "+
		"what is done already in one attempt and hard in the next belongs to two tasks.", s.Parts)
	if s.Rescope {
		ask = fmt.Sprintf("This task needs another plan. Submit 1 to %d tasks that replace it and together are all of it.", s.Parts)
	}
	ask += " The coders of your tasks do not see this task, so each brief says all that its coder needs, what was learned here included. " +
		"Each of its criteria stands, with its check word for word, in one of your tasks; those that are true only when all is there stand in the last. " +
		"Name only your own tasks in needs. Where splitting would not help, submit no tasks and the reason." + large(" ", s.Size)
	text, _ := Fit([]Section{
		{Body: about},
		{Title: "What to do", Body: ask},
		{Title: "Why", Body: Line(s.Why)},
		{Title: "The task", Body: s.Task.Brief},
		{Title: "Done when", Body: criteria(s.Task)},
		{Title: "Files", Body: list(s.Task.Files)},
		{Title: "Tried before", Body: list(s.Dead), Rank: 2, Tail: true},
		{Title: "The last attempt", Lead: "It made this change. It is not in your tree, and none of your tasks starts from it.", Body: Diff(s.Diff, diffBytes), Fence: "diff", Rank: 1},
	}, limit(s.Limit))
	return text
}
