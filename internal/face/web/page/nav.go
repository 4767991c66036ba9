package page

import (
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/face/view/projection"
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
	k := projection.Keys()
	return []keyLine{
		{"j k", "next and previous"},
		{"Enter", "open what is selected"},
		{k["approve"], "approve"},
		{k["reject"], "reject, with a reason"},
		{k["answer"], "answer in your own words"},
		{k["tell"], "write to the task's agent"},
		{k["interrupt"], "interrupt the task's agent"},
		{k["retry"], "retry the task"},
		{k["retry-tell"], "retry it with a message"},
		{k["pause"], "pause or continue the task"},
		{k["skip"], "skip the task"},
		{k["undo"], "revert what the task landed"},
		{k["pause-run"], "pause or continue the run"},
		{k["stop"], "stop the run"},
		{k["land"], "land what is done"},
		{"1 - 9", "go to a screen"},
		{"J K", "review: more lines"},
		{k["next-file"] + " " + k["previous-file"], "review: next and previous file"},
		{k["comment"], "review: comment on the lines"},
		{k["viewed"], "review: the file is viewed"},
		{k["send"], "review: send all comments"},
		{k["filter"], "search"},
		{"e", "settings: change one by its key"},
		{"arrows", "walk the graph"},
		{k["help"], "this list"},
	}
}
