package page

import (
	"cmp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// navigationLink is a screen in the navigation.
type navigationLink struct {
	Name, Label string
	Key         string // of the keyboard
	Path        string // below the run if it starts with ~
}

// navLinks returns all screens of the navigation.
func navLinks() []navigationLink {
	return []navigationLink{
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

// isShown reports whether a page links to the screen: screens of a run need one.
func (l navigationLink) isShown(f PageFrame) bool {
	return !strings.HasPrefix(l.Path, "~") || f.Run.ID != ""
}

func (l navigationLink) href(run nexus.RunID) string {
	if rest, ok := strings.CutPrefix(l.Path, "~"); ok {
		return runPath(run, rest)
	}
	return l.Path
}

// keyHelpLine is a key and its action.
type keyHelpLine struct{ Key, What string }

// keyHelp returns the list of keys. An action that the terminal interface has too is listed by its
// name, and gets the key that is bound to it there.
func keyHelp() []keyHelpLine {
	all := []keyHelpLine{
		{"j k", "next and previous"},
		{"Enter", "open the selected item"},
		{"approve", "approve"},
		{"reject", "reject, with a reason"},
		{"answer", "answer in your own words"},
		{"tell", "write to the task's agent"},
		{"interrupt", "interrupt the task's agent"},
		{"retry", "retry the task"},
		{"retry-tell", "retry it with a message"},
		{"pause", "pause or continue the task"},
		{"skip", "skip the task"},
		{"undo", "revert the landed work of the task"},
		{"pause-run", "pause or continue the run"},
		{"stop", "stop the run"},
		{"land", "land the finished work"},
		{"1 - 9", "go to a screen"},
		{"select", "review: start or end a selection"},
		{"J K", "review: select more or fewer lines"},
		{"next-file", "review: next file"},
		{"previous-file", "review: previous file"},
		{"next-hunk", "review: next hunk"},
		{"previous-hunk", "review: previous hunk"},
		{"comment", "review: comment on the lines"},
		{"suggest", "review: suggest other lines"},
		{"resolve", "review: resolve the comment"},
		{"apply", "review: apply its suggestion"},
		{"viewed", "review: the file is viewed"},
		{"send", "review: send all comments"},
		{"filter", "search"},
		{"e", "settings: change one by its key"},
		{"arrows", "walk the graph"},
		{"help", "this list"},
	}
	keys := projection.KeyBindings()
	for i := range all {
		all[i].Key = cmp.Or(keys[all[i].Key], all[i].Key)
	}
	return all
}
