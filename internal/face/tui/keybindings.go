package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// KeyBindings maps names to keys.
type KeyBindings map[string]string

// None is the key of a name without a key.
const None = "none"

// keyBinding is the action of a key.
type keyBinding struct {
	name, key, help string
	diff            bool // only while keys move in a change
}

// defaultBindings returns the key bindings, in the order in which help lists them.
func defaultBindings() []keyBinding {
	return []keyBinding{
		{name: "approve", key: "a", help: "approve, or sign off"},
		{name: "reject", key: "x", help: "reject, with the reason"},
		{name: "answer", key: "i", help: "answer a question; if there is none, interrupt the agent"},
		{name: "tell", key: "m", help: "send a message to the agent"},
		{name: "interrupt", key: "I", help: "interrupt the agent, and say why"},
		{name: "pause", key: "p", help: "pause the task, or continue it"},
		{name: "pause-run", key: "P", help: "pause the run, or continue it"},
		{name: "skip", key: "s", help: "skip the task"},
		{name: "retry", key: "r", help: "retry the task"},
		{name: "retry-tell", key: "R", help: "retry it with a message"},
		{name: "add", key: "n", help: "add a task"},
		{name: "stop", key: "S", help: "stop the run"},
		{name: "land", key: "M", help: "land the finished work"},
		{name: "undo", key: "U", help: "revert the landed work of the task"},
		{name: "edit", key: "e", help: "edit the plan that waits, a criterion of the task, or the review"},
		{name: "attach", key: "A", help: "follow the run in lines, and answer there"},
		{name: "verbs", key: ".", help: "all actions for the selected item"},
		{name: "mark", key: "space", help: "mark it: actions then apply to all marked items"},
		{name: "unmark", key: "u", help: "remove all marks"},
		{name: "editor", key: "o", help: "open the worktree in your editor"},
		{name: "copy", key: "y", help: "copy the path, branch, id or session"},
		{name: "inbox", key: "1", help: "questions and tasks that need you"},
		{name: "tasks", key: "2", help: "tasks, grouped by who must act"},
		{name: "graph", key: "3", help: "the plan as a graph"},
		{name: "timeline", key: "4", help: "the timeline of attempts"},
		{name: "agents", key: "5", help: "sessions of agents"},
		{name: "cost", key: "6", help: "the costs of the run"},
		{name: "log", key: "7", help: "the log of events"},
		{name: "memory", key: "8", help: "the memory of the repository"},
		{name: "diff", key: "d", help: "the change of the task"},
		{name: "talk", key: "l", help: "the session of its agent"},
		{name: "money", key: "c", help: "the costs of the task"},
		{name: "next-tab", key: "]", help: "next tab"},
		{name: "previous-tab", key: "[", help: "previous tab"},
		{name: "pane", key: "tab", help: "the other pane"},
		{name: "open", key: "enter", help: "open, or fold and unfold a turn"},
		{name: "back", key: "esc", help: "back"},
		{name: "down", key: "j", help: "down"},
		{name: "up", key: "k", help: "up"},
		{name: "top", key: "g", help: "to the top"},
		{name: "bottom", key: "G", help: "to the end"},
		{name: "page-down", key: "ctrl+d", help: "half a page down"},
		{name: "page-up", key: "ctrl+u", help: "half a page up"},
		{name: "follow", key: "f", help: "follow the end of the text"},
		{name: "wrap", key: "w", help: "wrap long lines"},
		{name: "stamps", key: "t", help: "times in the log"},
		{name: "wider", key: "+", help: "wider list"},
		{name: "narrower", key: "-", help: "narrower list"},
		{name: "filter", key: "/", help: "filter the list"},
		{name: "command", key: ":", help: "a command, such as task T4, or cost"},
		{name: "palette", key: "ctrl+p", help: "choose a command"},
		{name: "help", key: "?", help: "this help"},
		{name: "quit", key: "q", help: "leave; the run continues"},
		{name: "select", key: "v", help: "start or end a selection of lines", diff: true},
		{name: "comment", key: "c", help: "comment on the line, the selected lines, the file or the comment", diff: true},
		{name: "suggest", key: "C", help: "suggest a replacement for the lines", diff: true},
		{name: "send", key: "b", help: "send the drafts as one batch", diff: true},
		{name: "resolve", key: "z", help: "resolve the comment", diff: true},
		{name: "apply", key: "Z", help: "apply the suggestion of the comment, without an agent", diff: true},
		{name: "viewed", key: "space", help: "mark the file as viewed, or not", diff: true},
		{name: "next-file", key: "n", help: "next file", diff: true},
		{name: "previous-file", key: "N", help: "previous file", diff: true},
		{name: "next-hunk", key: "}", help: "next hunk", diff: true},
		{name: "previous-hunk", key: "{", help: "previous hunk", diff: true},
	}
}

// BindingNames returns the names that may have a key.
func BindingNames() []string {
	var names []string
	for _, b := range defaultBindings() {
		names = append(names, b.name)
	}
	return names
}

// fixedKeys returns the keys that have one meaning everywhere, besides those of the names.
func fixedKeys() map[string]string {
	return map[string]string{
		"up": "up", "down": "down", "pgdown": "page-down", "pgup": "page-up", "home": "top", "end": "bottom", "ctrl+c": "cancel",
	}
}

// keymap maps keys to actions and back.
type keymap struct {
	does map[string]string
	diff map[string]string // actions in a change, if they differ
	of   map[string]string
}

// Check refuses keys of unknown names, and two meanings of a key.
func (k KeyBindings) Check() error {
	_, err := k.newKeymap()
	return err
}

func (k KeyBindings) newKeymap() (keymap, error) {
	m := keymap{does: map[string]string{}, diff: map[string]string{}, of: map[string]string{}}
	names := BindingNames()
	for _, name := range sortedNames(k) {
		if !slices.Contains(names, name) {
			return m, &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("the setting keys.%s does not name an action", name),
				Hint: "The names are: " + strings.Join(names, ", ") + ".",
			}
		}
	}
	for key, name := range fixedKeys() {
		m.does[key] = name
	}
	for _, b := range defaultBindings() {
		key, set := k[b.name]
		if !set || key == "" {
			key = b.key
		}
		if key == None {
			continue
		}
		does := m.does
		if b.diff {
			does = m.diff
		}
		if other, taken := does[key]; taken {
			return m, &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("the key %q means both %s and %s", key, other, b.name),
				Hint: fmt.Sprintf("Give one of them another key in [keys], for example keys.%s = %q for no key.", b.name, None),
			}
		}
		does[key], m.of[b.name] = b.name, key
	}
	return m, nil
}

func sortedNames(k KeyBindings) []string {
	var names []string
	for name := range k {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
