package prompt

import (
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// NextTask begins the message with which a conversation about one task continues with another.
const NextTask = "Next task: "

const laneFiles = 40 // most changed files that are listed

// NextTaskNotice informs a coder who continues with another task in the same conversation.
type NextTaskNotice struct {
	Done    nexus.TaskID // the task of the conversation so far, which landed
	Changed []string     // files that changed since the conversation
}

// Text returns the text before the brief of the next task.
func (l NextTaskNotice) Text() string {
	text := fmt.Sprintf("%syour work on %s was accepted and has landed. This is another task of the same kind, in another worktree, "+
		"which starts from the branch with that work on it. What you read above still holds, except for files that changed since. ", NextTask, SingleLine(string(l.Done)))
	if len(l.Changed) == 0 {
		text += "No file changed since."
	} else {
		var names []string
		for _, f := range l.Changed[:min(len(l.Changed), laneFiles)] {
			names = append(names, InlineCode(f))
		}
		if more := len(l.Changed) - laneFiles; more > 0 {
			names = append(names, fmt.Sprintf("and %d more", more))
		}
		text += "These changed since; read them again before you use them: " + strings.Join(names, ", ") + "."
	}
	return text + " Do only what the next task asks for, and submit it by itself.\n\n"
}
