package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

const maxOpen = 32 // limit of open files

// OpenFile sends the current text of a file to the server.
func (c *Session) OpenFile(ctx context.Context, name, language, text string) error {
	d, open := c.open[name]
	if open && d.text == text {
		return nil
	}
	d.version, d.text = d.version+1, text
	c.open[name] = d
	id := map[string]any{"uri": c.uri(name), "version": d.version}
	if open {
		return c.notify(ctx, "textDocument/didChange", map[string]any{"textDocument": id, "contentChanges": []any{map[string]any{"text": text}}})
	}
	c.order = append(c.order, name)
	if len(c.order) > maxOpen {
		if err := c.CloseFile(ctx, c.order[0]); err != nil {
			return err
		}
	}
	id["languageId"], id["text"] = language, text
	return c.notify(ctx, "textDocument/didOpen", map[string]any{"textDocument": id})
}

// CloseFile closes a file: from then on the server uses the file on disk.
func (c *Session) CloseFile(ctx context.Context, name string) error {
	if _, open := c.open[name]; !open {
		return nil
	}
	delete(c.open, name)
	c.order = slices.DeleteFunc(c.order, func(n string) bool { return n == name })
	return c.notify(ctx, "textDocument/didClose", map[string]any{"textDocument": textID{c.uri(name)}})
}

// OpenFiles returns the names of the open files.
func (c *Session) OpenFiles() []string { return slices.Clone(c.order) }

// Kinds of file changes.
const (
	Made    = 1
	Changed = 2
	Gone    = 3
)

// NotifyFileChanges reports changed files to the server.
func (c *Session) NotifyFileChanges(ctx context.Context, files map[string]int) error {
	type event struct {
		URI  string `json:"uri"`
		Type int    `json:"type"`
	}
	events := make([]event, 0, len(files))
	for name, how := range files {
		events = append(events, event{c.uri(name), how})
	}
	if len(events) == 0 {
		return nil
	}
	slices.SortStableFunc(events, func(a, b event) int { return strings.Compare(a.URI, b.URI) })
	return c.notify(ctx, "workspace/didChangeWatchedFiles", map[string]any{"changes": events})
}

// query sends a request whose response may come before the server has indexed everything: an empty
// one is requested again after the server's reported work has ended.
func (c *Session) query(ctx context.Context, able offer, method string, params, result any, empty func() bool) error {
	if !able.yes {
		return errCannot
	}
	c.mu.Lock()
	before := c.done
	c.mu.Unlock()
	if err := c.ask(ctx, c.server.Answer, method, params, result); err != nil || !empty() {
		return err
	}
	idle := func() bool { return len(c.busy) == 0 }
	c.mu.Lock()
	all := idle() && c.done == before
	c.mu.Unlock()
	if all {
		return nil
	}
	wait, end := context.WithTimeoutCause(ctx, c.server.Answer, ErrSilent)
	defer end()
	if err := c.waitUntil(wait, idle); err != nil {
		if errors.Is(err, ErrSilent) { // it works longer than any caller waits
			return nil
		}
		return err
	}
	return c.ask(ctx, c.server.Answer, method, params, result)
}

func (c *Session) at(name string, p Position) map[string]any {
	return map[string]any{"textDocument": textID{c.uri(name)}, "position": p}
}

// Definition returns the declaration of the symbol at a position.
func (c *Session) Definition(ctx context.Context, name string, p Position) ([]Place, error) {
	var found places
	err := c.query(ctx, c.able.Definition, "textDocument/definition", c.at(name, p), &found, func() bool { return len(found) == 0 })
	return c.places(found), err
}

// References returns the uses and the declaration of the symbol at a position.
func (c *Session) References(ctx context.Context, name string, p Position) ([]Place, error) {
	params := c.at(name, p)
	params["context"] = map[string]any{"includeDeclaration": true}
	var found places
	err := c.query(ctx, c.able.References, "textDocument/references", params, &found, func() bool { return len(found) == 0 })
	return c.places(found), err
}

// places is one place, or a list of them, in both forms of the protocol.
type places []place

type place struct {
	URI       string `json:"uri"`
	Range     Range  `json:"range"`
	TargetURI string `json:"targetUri"`
	Target    Range  `json:"targetSelectionRange"`
}

// UnmarshalJSON implements [json.Unmarshaler].
func (p *places) UnmarshalJSON(data []byte) error {
	var all []place
	if json.Unmarshal(data, &all) == nil {
		*p = all
		return nil
	}
	var one place
	err := json.Unmarshal(data, &one)
	*p = places{one}
	return err
}

func (c *Session) places(found places) []Place {
	var all []Place
	for _, p := range found {
		at := Place{c.name(p.URI), p.Range}
		if p.TargetURI != "" {
			at = Place{c.name(p.TargetURI), p.Target}
		}
		if at.Name != "" && !slices.Contains(all, at) {
			all = append(all, at)
		}
		if len(all) == maxPlaces {
			break
		}
	}
	slices.SortStableFunc(all, func(a, b Place) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), a.Range.Start.Line-b.Range.Start.Line, a.Range.Start.Char-b.Range.Start.Char)
	})
	return all
}

const maxPlaces = 2_000

// symbol is a symbol in all forms of the protocol.
type symbol struct {
	Name      string   `json:"name"`
	Detail    string   `json:"detail"`
	Kind      int      `json:"kind"`
	Range     Range    `json:"range"`
	Selection Range    `json:"selectionRange"`
	Children  []symbol `json:"children"`
	Container string   `json:"containerName"`
	Location  *place   `json:"location"`
}

// Symbols returns the declarations of a file, in its order.
func (c *Session) Symbols(ctx context.Context, name string) ([]Symbol, error) {
	var found []symbol
	err := c.query(ctx, c.able.Symbols, "textDocument/documentSymbol", map[string]any{"textDocument": textID{c.uri(name)}}, &found, func() bool { return len(found) == 0 })
	var all []Symbol
	c.symbols(&all, found, name, "", 0)
	return all, err
}

// Find returns the declarations in all files whose names match the query.
func (c *Session) Find(ctx context.Context, query string) ([]Symbol, error) {
	var found []symbol
	err := c.query(ctx, c.able.Find, "workspace/symbol", map[string]any{"query": query}, &found, func() bool { return len(found) == 0 })
	var all []Symbol
	c.symbols(&all, found, "", "", 0)
	return all, err
}

func (c *Session) symbols(all *[]Symbol, found []symbol, file, of string, depth int) {
	const deepest = 8
	for _, s := range found {
		if len(*all) == maxPlaces {
			return
		}
		at := Place{file, s.Range}
		if s.Location != nil {
			at = Place{c.name(s.Location.URI), s.Location.Range}
		}
		if at.Name == "" {
			continue
		}
		*all = append(*all, Symbol{kind(s.Kind), s.Name, cmp.Or(s.Container, of), s.Detail, depth, at})
		if depth < deepest {
			c.symbols(all, s.Children, file, s.Name, depth+1)
		}
	}
}

// Diagnostics returns the server's diagnostics for an open file.
func (c *Session) Diagnostics(ctx context.Context, name string) ([]Diagnostic, error) {
	if c.able.Diagnostics.yes {
		var r struct {
			Items []Diagnostic `json:"items"`
		}
		err := c.query(ctx, c.able.Diagnostics, "textDocument/diagnostic", map[string]any{"textDocument": textID{c.uri(name)}}, &r, func() bool { return len(r.Items) == 0 })
		return r.Items[:min(len(r.Items), maxFound)], err
	}
	ctx, end := context.WithTimeoutCause(ctx, c.server.Answer, ErrSilent)
	defer end()
	version := c.open[name].version
	fresh := func() bool {
		r := c.told[name]
		return r.times > 0 && (r.version == 0 || r.version >= version) && len(c.busy) == 0
	}
	if err := c.waitUntil(ctx, fresh); err != nil {
		return nil, err
	}
	for quiet := false; !quiet; { // many servers report syntax errors at once, and type errors later
		c.mu.Lock()
		times := c.told[name].times
		c.mu.Unlock()
		wait, done := context.WithTimeoutCause(ctx, c.server.settle, errQuiet)
		err := c.waitUntil(wait, func() bool { return c.told[name].times > times })
		done()
		if quiet = errors.Is(err, errQuiet); err != nil && !quiet {
			return nil, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.told[name].found), nil
}

var errQuiet = errors.New("it closed its output")

// Rename returns the changes that rename the symbol at a position.
func (c *Session) Rename(ctx context.Context, name string, p Position, to string) ([]Change, error) {
	params := c.at(name, p)
	params["newName"] = to
	var r workspaceEdit
	if err := c.query(ctx, c.able.Rename, "textDocument/rename", params, &r, func() bool { return len(r.Changes)+len(r.Document) == 0 }); err != nil {
		return nil, err
	}
	return c.changes(r)
}

// Actions returns the code actions that the server proposes for a range of a file.
func (c *Session) Actions(ctx context.Context, name string, at Range) ([]Action, error) {
	found, err := c.Diagnostics(ctx, name)
	if err != nil && (errors.Is(err, ErrGone) || ctx.Err() != nil) {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(d Diagnostic) bool {
		return d.Range.Start.Line > at.End.Line || d.Range.End.Line < at.Start.Line
	})
	params := map[string]any{
		"textDocument": textID{c.uri(name)}, "range": at,
		"context": map[string]any{"diagnostics": append([]Diagnostic{}, found...), "triggerKind": 1},
	}
	var raw []json.RawMessage
	if err := c.query(ctx, c.able.Actions, "textDocument/codeAction", params, &raw, func() bool { return len(raw) == 0 }); err != nil {
		return nil, err
	}
	var all []Action
	for _, data := range raw[:min(len(raw), maxBusy)] {
		var a struct {
			Title    string           `json:"title"`
			Kind     string           `json:"kind"`
			Edit     json.RawMessage  `json:"edit"`
			Command  json.RawMessage  `json:"command"`
			Disabled *json.RawMessage `json:"disabled"`
		}
		if json.Unmarshal(data, &a) != nil || a.Title == "" || a.Disabled != nil {
			continue
		}
		if done := len(a.Edit) > 0; done || len(a.Command) == 0 && c.able.Actions.resolves { // a command would make the server act itself
			all = append(all, Action{a.Title, a.Kind, data, done})
		}
	}
	return all, nil
}

// Resolve returns the changes of an action.
func (c *Session) Resolve(ctx context.Context, a Action) ([]Change, error) {
	var r struct {
		Edit workspaceEdit `json:"edit"`
	}
	if !a.done {
		if err := c.ask(ctx, c.server.Answer, "codeAction/resolve", a.raw, &r); err != nil {
			return nil, err
		}
	} else if err := json.Unmarshal(a.raw, &r); err != nil {
		return nil, errNames
	}
	return c.changes(r.Edit)
}

// workspaceEdit has the changes of a server, in both forms of the protocol.
type workspaceEdit struct {
	Changes  map[string][]Edit `json:"changes"`
	Document []struct {
		Kind string `json:"kind"`
		URI  string `json:"uri"`
		Text textID `json:"textDocument"`
		All  []Edit `json:"edits"`
	} `json:"documentChanges"`
}

// changes validates a server's changes, and returns them by file.
func (c *Session) changes(r workspaceEdit) ([]Change, error) {
	var all []Change
	add := func(uri string, made bool, edits []Edit) error {
		name := c.name(uri)
		if name == "" {
			return errNames
		}
		i := slices.IndexFunc(all, func(ch Change) bool { return ch.Name == name })
		if i < 0 {
			all, i = append(all, Change{Name: name, Made: made, unit: c.able.Encoding}), len(all)
		}
		all[i].Edits = append(all[i].Edits, edits...)
		if len(all) > maxChanged || len(all[i].Edits) > maxEdits {
			return errors.New("the server would change too much at once")
		}
		return nil
	}
	for _, d := range r.Document {
		var err error
		switch d.Kind {
		case "":
			err = add(d.Text.URI, false, d.All)
		case "create":
			err = add(d.URI, true, nil)
		default:
			err = errors.New("the server would rename or delete files; do that with shell")
		}
		if err != nil {
			return nil, err
		}
	}
	if len(r.Document) == 0 {
		for uri, edits := range r.Changes {
			if err := add(uri, false, edits); err != nil {
				return nil, err
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Change) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}
