package prompt

import (
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/decide/attempthistory"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// SplitRequest is the first message of the conversation with the planner about a task that
// failed and is to be split.
type SplitRequest struct {
	Session nexus.SessionID
	Task    nexus.Task
	Why     string // reason for which the task would otherwise be given up
	Rescope bool   // its agent requests another plan, which may be one task
	Parts   int    // most parts
	Size    nexus.TaskSizeLimits
	Tried   attempthistory.AttemptsSummary
	Diff    string // the result of its last attempt, which is not in the tree
	Limit   int64  // most tokens; 0 means 24,000
}

// FirstMessage returns the first message of the planner's conversation.
func (s SplitRequest) FirstMessage() string {
	about := conversationHeader(s.Session, string(s.Task.ID), "Split: "+s.Task.Title)
	ask := fmt.Sprintf("Several attempts at this task failed. Split it into 2 to %d smaller tasks that can land one by one and together cover all of it. "+
		"Put what the attempts solved and what they failed at into separate tasks.", s.Parts)
	if s.Rescope {
		ask = fmt.Sprintf("This task needs another plan. Submit 1 to %d tasks that replace it and together cover all of it.", s.Parts)
	}
	ask += " The coders of your tasks do not see this task, so write into each brief all that its coder needs, including what was learned here. " +
		"Copy each of its criteria, with its check word for word, into one of your tasks; put those that are true only when all is done into the last. " +
		"Name only your own tasks in needs. If splitting would not help, submit no tasks and the reason." + describeTaskSizeLimit(" ", s.Size)
	all := []PromptSection{
		{Body: about},
		{Title: "What to do", Body: ask},
		{Title: "Why", Body: SingleLine(s.Why)},
		{Title: "The task", Body: s.Task.Brief},
		{Title: "Done when", Body: formatCriteria(s.Task)},
		{Title: "Files", Body: bulletList(s.Task.Files)},
	}
	text, _ := FitSections(append(append(all, earlierAttemptSections(s.Tried)...), PromptSection{
		Title: "The last attempt", Lead: "It made this change. It is not in your tree, and none of your tasks starts from it.", Body: CutDiff(s.Diff, diffBytes), Fence: "diff", Rank: 1,
	}), tokenLimitOrDefault(s.Limit))
	return text
}
