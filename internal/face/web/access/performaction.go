package access

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// ActionRequest is a person's request for one of the projection's actions.
type ActionRequest struct {
	Run     nexus.RunID  `json:"-"`
	Action  string       `json:"action"`            // its name, such as approve, answer, tell, pause
	Item    string       `json:"item,omitempty"`    // inbox item that it is about, such as q1
	Task    nexus.TaskID `json:"task,omitempty"`    // task that it is about, such as T1
	Label   string       `json:"label,omitempty"`   // of the action, if several have the same name
	Input   string       `json:"input,omitempty"`   // input of the action
	Confirm bool         `json:"confirm,omitempty"` // the person agrees to the consequence of the action
}

// maxInput limits the input of an action, in bytes.
const maxInput = 32 << 10

// CodeConfirm means that a person must agree to the consequence of an action.
const CodeConfirm = "confirm"

// PerformAction does an action on behalf of a person: it runs the command line from the projection.
func (s WebBackend) PerformAction(ctx context.Context, by TokenOwner, ask ActionRequest) (CommandLineResult, error) {
	var all []projection.PersonAction
	err := s.Hub.WithProjection(ask.Run, func(p *projection.RunProjection) error {
		switch {
		case ask.Item != "":
			all = p.ItemActions(ask.Item, s.Now())
		case ask.Task != "":
			all = p.TaskActions(ask.Task)
		default:
			all = p.RunActions()
		}
		return nil
	})
	if err != nil {
		return CommandLineResult{}, err
	}
	action, err := findAction(all, ask)
	if err != nil {
		return CommandLineResult{}, err
	}
	if !by.HasRole(Role(action.Role)) {
		return CommandLineResult{}, &nexus.Error{
			Code: CodeRole, Message: fmt.Sprintf("%s needs the role %s, and %s has the role %s", action.Name, action.Role, by.Name, by.Role),
			Hint: "Ask the person who runs the server for another token (nexus serve token add).",
		}
	}
	args, err := actionArgs(action, ask)
	if err != nil {
		return CommandLineResult{}, err
	}
	return s.Act(context.WithoutCancel(ctx), by, CommandInput{Args: args}), nil
}

func newError(code nexus.ErrorCode, message, hint string) error {
	return &nexus.Error{Code: code, Message: message, Hint: hint}
}

// findAction returns the requested action.
func findAction(all []projection.PersonAction, ask ActionRequest) (projection.PersonAction, error) {
	fits := func(a projection.PersonAction) bool {
		return a.Name == ask.Action && (ask.Label == "" || a.Label == ask.Label)
	}
	names := make([]string, len(all))
	for n, a := range all {
		names[n] = a.Name
	}
	found := slices.DeleteFunc(slices.Clone(all), func(a projection.PersonAction) bool { return !fits(a) })
	named := ask.Label != "" || len(found) == 1
	switch {
	case len(all) == 0:
		about := view.QuoteForTerminal(ask.Item + string(ask.Task))
		const hint = "It was answered already, or does not exist: see the inbox of the run."
		return projection.PersonAction{}, newError(nexus.CodeNotFound, "nothing can be done about "+about, hint)
	case len(found) == 0:
		hint := "Actions: " + strings.Join(slices.Compact(names), ", ") + "."
		return projection.PersonAction{}, newError(nexus.CodeInvalidInput, "there is no action "+view.QuoteForTerminal(ask.Action)+" here", hint)
	}
	// Several answers have the same name: the one that accepts a text, else the first.
	told := func(a projection.PersonAction) bool { return a.Input != projection.InputNone }
	if i := slices.IndexFunc(found, told); !named && ask.Input != "" && i >= 0 {
		return found[i], refusalError(found[i])
	}
	return found[0], refusalError(found[0])
}

func refusalError(a projection.PersonAction) error {
	if a.Refused == "" {
		return nil
	}
	return newError(nexus.CodeTransition, a.Name+" cannot be done now: "+a.Refused, "Look at the run again.")
}

// actionArgs returns the command line of an action, with its input.
func actionArgs(a projection.PersonAction, ask ActionRequest) ([]string, error) {
	text := strings.TrimSpace(ask.Input)
	switch {
	case a.Input == projection.InputText && text == "":
		return nil, newError(nexus.CodeInvalidInput, a.Name+" needs an input: "+a.Ask, "Send it as input.")
	case len(text) > maxInput:
		about := fmt.Sprintf("the input has more than %d bytes", maxInput)
		return nil, newError(nexus.CodeInvalidInput, about, "Shorten it, or name a file.")
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return nil, newError(nexus.CodeInvalidInput, "the input is not text", "Send UTF-8 without NUL.")
	case a.Confirm != "" && !ask.Confirm:
		return nil, newError(CodeConfirm, a.Confirm, "Send it again with confirm set to true.")
	}
	args := slices.Clone(a.Args)
	for n, arg := range args {
		if arg == "{}" {
			args[n] = text
		}
	}
	return args, nil
}
