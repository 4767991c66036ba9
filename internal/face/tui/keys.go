package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Keys are the keys of the names that have some.
type Keys map[string]string

// None is the key of what is not to have one.
const None = "none"

// binding is what a key does.
type binding struct {
	name, key, help string
}

// bindings returns what keys do, in the order in which help lists them.
func bindings() []binding {
	return []binding{
		{"approve", "a", "approve, or sign off"},
		{"reject", "x", "reject, with the reason"},
		{"answer", "i", "answer a question"},
		{"tell", "m", "send a message to the agent"},
		{"pause", "p", "pause the run, or continue it"},
		{"skip", "s", "skip the task"},
		{"retry", "r", "retry the task"},
		{"retry-tell", "R", "retry it with a message"},
		{"add", "n", "add a task"},
		{"stop", "S", "stop the run"},
		{"land", "M", "land what is done"},
		{"edit", "e", "edit the plan before you approve it"},
		{"editor", "o", "open the worktree in your editor"},
		{"copy", "y", "copy the path, branch, id or session"},
		{"inbox", "1", "what needs you"},
		{"tasks", "2", "tasks, by who must act"},
		{"graph", "3", "the plan as a graph"},
		{"timeline", "4", "who did what when"},
		{"agents", "5", "sessions of agents"},
		{"cost", "6", "what it costs"},
		{"log", "7", "what happened"},
		{"memory", "8", "what was learned here"},
		{"diff", "d", "what the task changed"},
		{"talk", "l", "what its agent says"},
		{"money", "c", "what the task costs"},
		{"next-tab", "]", "next tab"},
		{"previous-tab", "[", "previous tab"},
		{"pane", "tab", "the other pane"},
		{"open", "enter", "open, or fold and unfold a turn"},
		{"back", "esc", "back"},
		{"down", "j", "down"},
		{"up", "k", "up"},
		{"top", "g", "to the top"},
		{"bottom", "G", "to the end"},
		{"page-down", "ctrl+d", "half a page down"},
		{"page-up", "ctrl+u", "half a page up"},
		{"follow", "f", "follow the end of what is shown"},
		{"wrap", "w", "wrap long lines"},
		{"stamps", "t", "times in the log"},
		{"wider", "+", "wider list"},
		{"narrower", "-", "narrower list"},
		{"filter", "/", "filter the list"},
		{"command", ":", "a command, such as task T4, or cost"},
		{"palette", "ctrl+p", "choose a command"},
		{"help", "?", "this help"},
		{"quit", "q", "leave; the run continues"},
	}
}

// Names returns the names that may have a key.
func Names() []string {
	var names []string
	for _, b := range bindings() {
		names = append(names, b.name)
	}
	return names
}

// fixed are keys that have one meaning everywhere, beside those of the names.
func fixed() map[string]string {
	return map[string]string{
		"up": "up", "down": "down", "pgdown": "page-down", "pgup": "page-up", "home": "top", "end": "bottom", "ctrl+c": "interrupt",
	}
}

// keymap says what a key does, and which key does something.
type keymap struct {
	does map[string]string
	of   map[string]string
}

// Check refuses keys of names that there are not, and two meanings of a key.
func (k Keys) Check() error {
	_, err := k.bind()
	return err
}

func (k Keys) bind() (keymap, error) {
	m := keymap{does: map[string]string{}, of: map[string]string{}}
	names := Names()
	for _, name := range sorted(k) {
		if !slices.Contains(names, name) {
			return m, &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("the setting keys.%s names nothing that has a key", name),
				Hint: "The names are: " + strings.Join(names, ", ") + ".",
			}
		}
	}
	for key, name := range fixed() {
		m.does[key] = name
	}
	for _, b := range bindings() {
		key, set := k[b.name]
		if !set || key == "" {
			key = b.key
		}
		if key == None {
			continue
		}
		if other, taken := m.does[key]; taken {
			return m, &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("the key %q means both %s and %s", key, other, b.name),
				Hint: fmt.Sprintf("Give one of them another key in [keys], for example keys.%s = %q for no key.", b.name, None),
			}
		}
		m.does[key], m.of[b.name] = b.name, key
	}
	return m, nil
}

func sorted(k Keys) []string {
	var names []string
	for name := range k {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
