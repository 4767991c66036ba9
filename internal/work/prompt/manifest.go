package prompt

import (
	"cmp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// ManifestItem returns the part's entry in a prompt's manifest; in is where it was sent: system,
// tools, conversation or message.
func (p SentPromptSection) ManifestItem(in string) nexus.PromptManifestItem {
	return nexus.PromptManifestItem{In: in, Title: p.Title, Reason: p.Reason, Tokens: p.Tokens, Of: p.Of, Cut: p.Why}
}

// ManifestItems returns the entries of parts in a prompt's manifest.
func ManifestItems(in string, parts []SentPromptSection) []nexus.PromptManifestItem {
	var all []nexus.PromptManifestItem
	for _, p := range parts {
		all = append(all, p.ManifestItem(in))
	}
	return all
}

// inclusionReason returns why a section is in a prompt.
func (s PromptSection) inclusionReason() string {
	return cmp.Or(s.Because, sectionReason(s.Title))
}

// sectionReason returns why sections with a title are in a prompt, if that is the same for each of
// them.
func sectionReason(title string) string {
	switch title {
	case "":
		return "names the conversation and the task"
	case "What to do", "Done when", "The task", "Goal":
		return "the task"
	case "Order of work":
		return "the task's strategy, and what its tests show so far"
	case "Your part":
		return "several readers share the change"
	case "Files":
		return "the plan declares them"
	case EarlierTitle:
		return "landed tasks that declare the same files or directories"
	case "Start", "Why":
		return "where the work starts from"
	case "Conflicts", "Landed meanwhile", "Landed side", "This task's side":
		return "a merge has to keep both sides"
	case "Gates":
		return "the gates judged this tree"
	case authorTitle:
		return "the reader checks it against the change"
	case "Change":
		return "the work continues from it, or it is to be judged"
	case "Rejected before", "Found before", "To be explained", "Shown by its own tests", "To be agreed":
		return "a judge has to answer it"
	case "Failed before":
		return "criteria of earlier runs are red"
	case testerTitle:
		return "the tester wrote tests for this task"
	case "Environment":
		return "the same for all sessions of the role"
	case "Worktree":
		return "commands start there"
	case "Existing tests":
		return "tests of the task's files and of their callers"
	case "History":
		return "commits of the task's files, and what changed together with them in three or more"
	case "Map":
		return "the files nearest to the task's files and words"
	default:
		return earlierWorkReason(title)
	}
}

// earlierWorkReason is [sectionReason] for sections about earlier attempts and earlier work.
func earlierWorkReason(title string) string {
	switch title {
	case "To be fixed", "Tried before", "Dead ends", "Found last", "Findings that were not fixed", "Closest so far", "The last attempt":
		return "earlier attempts at the task"
	case "Said by people":
		return "people said it about this task"
	case NotesTitle:
		return "fits the task's files or words"
	case "Rules of the user", "Rules of the repository", "Skills":
		return "the same for all sessions"
	case "Rules for this task":
		return "the task's files or words"
	case "Repair":
		return "what was found in the last submission"
	}
	if strings.HasPrefix(title, pluginTitle) {
		return "the plugin informs about tasks"
	}
	return ""
}

// PluginTextTitle returns the title of a plugin's text.
func PluginTextTitle(plugin string) string { return pluginTitle + SingleLine(plugin) }

const pluginTitle = "From the plugin "
