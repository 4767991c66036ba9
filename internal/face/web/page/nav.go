package page

import (
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// link is a screen in the navigation.
type link struct {
	Name, Label string
	Key         string // of the keyboard
	Path        string // below the run where it starts with ~
}

// screens are all screens that the navigation names.
func screens() []link {
	return []link{
		{"inbox", "Inbox", "1", "/"},
		{"board", "Board", "2", "~/"},
		{"graph", "Graph", "3", "~/graph"},
		{"timeline", "Timeline", "4", "~/timeline"},
		{"checks", "Checks", "5", "~/checks"},
		{"cost", "Cost", "6", "~/cost"},
		{"plan", "Plan", "7", "~/plan"},
		{"interview", "Interview", "", "~/interview"},
		{"log", "Log", "8", "~/log"},
		{"replay", "Replay", "", "~/replay"},
		{"runs", "Runs", "9", "/runs"},
		{"memory", "Memory", "", "/memory"},
		{"settings", "Settings", "", "/settings"},
		{"doctor", "Doctor", "", "/doctor"},
	}
}

// shown reports whether a page names the screen: those of a run are named where
// there is one.
func (l link) shown(f Frame) bool {
	return !strings.HasPrefix(l.Path, "~") || f.Run.ID != ""
}

func (l link) href(run nexus.RunID) string {
	if rest, ok := strings.CutPrefix(l.Path, "~"); ok {
		return runPath(run, rest)
	}
	return l.Path
}

// keyLine is a key and what it does.
type keyLine struct{ Key, What string }

func keyHelp() []keyLine {
	return []keyLine{
		{"j k", "next and previous"},
		{"Enter", "open the selected item"},
		{"a", "approve"},
		{"x", "reject, with a reason"},
		{"r", "answer in your own words"},
		{"t", "retry the task"},
		{"s", "skip the task"},
		{"m", "write to the task's agent"},
		{"p", "pause or continue the run"},
		{"1 - 9", "go to a screen"},
		{"J K", "review: more lines"},
		{"n p", "review: next and previous file"},
		{"c", "review: comment on the lines"},
		{"v", "review: the file is viewed"},
		{"s", "review: send all comments"},
		{"/", "search"},
		{"e", "settings: change one by its key"},
		{"arrows", "walk the graph"},
		{"?", "this list"},
	}
}
