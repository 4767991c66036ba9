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
func (c *LanguageServerSession) OpenFile(ctx context.Context, name, language, text string) error {
	d, open := c.open[name]
	if open && d.text == text {
		return nil
	}
	d.version, d.text = d.version+1, text
	c.open[name] = d
	id := map[string]any{"uri": c.uriOf(name), "version": d.version}
	if open {
		return c.sendNotification(ctx, "textDocument/didChange", map[string]any{"textDocument": id, "contentChanges": []any{map[string]any{"text": text}}})
	}
	c.order = append(c.order, name)
	if len(c.order) > maxOpen {
		if err := c.CloseFile(ctx, c.order[0]); err != nil {
			return err
		}
	}
	id["languageId"], id["text"] = language, text
	return c.sendNotification(ctx, "textDocument/didOpen", map[string]any{"textDocument": id})
}

// CloseFile closes a file: from then on the server uses the file on disk.
func (c *LanguageServerSession) CloseFile(ctx context.Context, name string) error {
	if _, open := c.open[name]; !open {
		return nil
	}
	delete(c.open, name)
	c.order = slices.DeleteFunc(c.order, func(n string) bool { return n == name })
	return c.sendNotification(ctx, "textDocument/didClose", map[string]any{"textDocument": textDocumentID{c.uriOf(name)}})
}

// OpenFileNames returns the names of the open files.
func (c *LanguageServerSession) OpenFileNames() []string { return slices.Clone(c.order) }

// Kinds of file changes.
const (
	FileCreated = 1
	FileChanged = 2
	FileDeleted = 3
)

// NotifyFileChanges reports changed files to the server.
func (c *LanguageServerSession) NotifyFileChanges(ctx context.Context, files map[string]int) error {
	type event struct {
		URI  string `json:"uri"`
		Type int    `json:"type"`
	}
	events := make([]event, 0, len(files))
	for name, how := range files {
		events = append(events, event{c.uriOf(name), how})
	}
	if len(events) == 0 {
		return nil
	}
	slices.SortStableFunc(events, func(a, b event) int { return strings.Compare(a.URI, b.URI) })
	return c.sendNotification(ctx, "workspace/didChangeWatchedFiles", map[string]any{"changes": events})
}

// queryUntilReady sends a request whose response may come before the server has indexed everything: an empty
// one is requested again after the server's reported work has ended.
func (c *LanguageServerSession) queryUntilReady(ctx context.Context, able serverCapability, method string, params, result any, empty func() bool) error {
	if !able.yes {
		return errCannot
	}
	c.mu.Lock()
	before := c.done
	c.mu.Unlock()
	if err := c.callServer(ctx, c.server.Answer, method, params, result); err != nil || !empty() {
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
	if err := c.waitForNotifiedCondition(wait, idle); err != nil {
		if errors.Is(err, ErrSilent) { // it works longer than any caller waits
			return nil
		}
		return err
	}
	return c.callServer(ctx, c.server.Answer, method, params, result)
}

func (c *LanguageServerSession) positionParams(name string, p Position) map[string]any {
	return map[string]any{"textDocument": textDocumentID{c.uriOf(name)}, "position": p}
}

// FindDefinition returns the declaration of the symbol at a position.
func (c *LanguageServerSession) FindDefinition(ctx context.Context, name string, p Position) ([]FileTextRange, error) {
	var found protocolLocations
	err := c.queryUntilReady(ctx, c.able.Definition, "textDocument/definition", c.positionParams(name, p), &found, func() bool { return len(found) == 0 })
	return c.toFileRanges(found), err
}

// FindReferences returns the uses and the declaration of the symbol at a position.
func (c *LanguageServerSession) FindReferences(ctx context.Context, name string, p Position) ([]FileTextRange, error) {
	params := c.positionParams(name, p)
	params["context"] = map[string]any{"includeDeclaration": true}
	var found protocolLocations
	err := c.queryUntilReady(ctx, c.able.References, "textDocument/references", params, &found, func() bool { return len(found) == 0 })
	return c.toFileRanges(found), err
}

// protocolLocations is one place, or a list of them, in both forms of the protocol.
type protocolLocations []protocolLocation

type protocolLocation struct {
	URI       string `json:"uri"`
	Range     Range  `json:"range"`
	TargetURI string `json:"targetUri"`
	Target    Range  `json:"targetSelectionRange"`
}

// UnmarshalJSON implements [json.Unmarshaler].
func (p *protocolLocations) UnmarshalJSON(data []byte) error {
	var all []protocolLocation
	if json.Unmarshal(data, &all) == nil {
		*p = all
		return nil
	}
	var one protocolLocation
	err := json.Unmarshal(data, &one)
	*p = protocolLocations{one}
	return err
}

func (c *LanguageServerSession) toFileRanges(found protocolLocations) []FileTextRange {
	var all []FileTextRange
	for _, p := range found {
		at := FileTextRange{c.nameOf(p.URI), p.Range}
		if p.TargetURI != "" {
			at = FileTextRange{c.nameOf(p.TargetURI), p.Target}
		}
		if at.Name != "" && !slices.Contains(all, at) {
			all = append(all, at)
		}
		if len(all) == maxPlaces {
			break
		}
	}
	slices.SortStableFunc(all, func(a, b FileTextRange) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), a.Range.Start.Line-b.Range.Start.Line, a.Range.Start.Char-b.Range.Start.Char)
	})
	return all
}

const maxPlaces = 2_000

// protocolSymbol is a symbol in all forms of the protocol.
type protocolSymbol struct {
	Name      string            `json:"name"`
	Detail    string            `json:"detail"`
	Kind      int               `json:"kind"`
	Range     Range             `json:"range"`
	Selection Range             `json:"selectionRange"`
	Children  []protocolSymbol  `json:"children"`
	Container string            `json:"containerName"`
	Location  *protocolLocation `json:"location"`
}

// DocumentSymbols returns the declarations of a file, in its order.
func (c *LanguageServerSession) DocumentSymbols(ctx context.Context, name string) ([]DeclaredSymbol, error) {
	var found []protocolSymbol
	err := c.queryUntilReady(ctx, c.able.Symbols, "textDocument/documentSymbol", map[string]any{"textDocument": textDocumentID{c.uriOf(name)}}, &found, func() bool { return len(found) == 0 })
	var all []DeclaredSymbol
	c.collectSymbols(&all, found, name, "", 0)
	return all, err
}

// FindSymbols returns the declarations in all files whose names match the query.
func (c *LanguageServerSession) FindSymbols(ctx context.Context, query string) ([]DeclaredSymbol, error) {
	var found []protocolSymbol
	err := c.queryUntilReady(ctx, c.able.Find, "workspace/symbol", map[string]any{"query": query}, &found, func() bool { return len(found) == 0 })
	var all []DeclaredSymbol
	c.collectSymbols(&all, found, "", "", 0)
	return all, err
}

func (c *LanguageServerSession) collectSymbols(all *[]DeclaredSymbol, found []protocolSymbol, file, of string, depth int) {
	const deepest = 8
	for _, s := range found {
		if len(*all) == maxPlaces {
			return
		}
		at := FileTextRange{file, s.Range}
		if s.Location != nil {
			at = FileTextRange{c.nameOf(s.Location.URI), s.Location.Range}
		}
		if at.Name == "" {
			continue
		}
		*all = append(*all, DeclaredSymbol{symbolKind(s.Kind), s.Name, cmp.Or(s.Container, of), s.Detail, depth, at})
		if depth < deepest {
			c.collectSymbols(all, s.Children, file, s.Name, depth+1)
		}
	}
}

// FileDiagnostics returns the server's diagnostics for an open file.
func (c *LanguageServerSession) FileDiagnostics(ctx context.Context, name string) ([]Diagnostic, error) {
	if c.able.Diagnostics.yes {
		var r struct {
			Items []Diagnostic `json:"items"`
		}
		err := c.queryUntilReady(ctx, c.able.Diagnostics, "textDocument/diagnostic", map[string]any{"textDocument": textDocumentID{c.uriOf(name)}}, &r, func() bool { return len(r.Items) == 0 })
		return r.Items[:min(len(r.Items), maxFound)], err
	}
	ctx, end := context.WithTimeoutCause(ctx, c.server.Answer, ErrSilent)
	defer end()
	version := c.open[name].version
	fresh := func() bool {
		r := c.told[name]
		return r.times > 0 && (r.version == 0 || r.version >= version) && len(c.busy) == 0
	}
	if err := c.waitForNotifiedCondition(ctx, fresh); err != nil {
		return nil, err
	}
	for quiet := false; !quiet; { // many servers report syntax errors at once, and type errors later
		c.mu.Lock()
		times := c.told[name].times
		c.mu.Unlock()
		wait, done := context.WithTimeoutCause(ctx, c.server.settle, errQuiet)
		err := c.waitForNotifiedCondition(wait, func() bool { return c.told[name].times > times })
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

// RenameSymbol returns the changes that rename the symbol at a position.
func (c *LanguageServerSession) RenameSymbol(ctx context.Context, name string, p Position, to string) ([]FileTextEdits, error) {
	params := c.positionParams(name, p)
	params["newName"] = to
	var r workspaceEdit
	if err := c.queryUntilReady(ctx, c.able.Rename, "textDocument/rename", params, &r, func() bool { return len(r.Changes)+len(r.Document) == 0 }); err != nil {
		return nil, err
	}
	return c.toFileEdits(r)
}

// CodeActions returns the code actions that the server proposes for a range of a file.
func (c *LanguageServerSession) CodeActions(ctx context.Context, name string, at Range) ([]CodeAction, error) {
	found, err := c.FileDiagnostics(ctx, name)
	if err != nil && (errors.Is(err, ErrGone) || ctx.Err() != nil) {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(d Diagnostic) bool {
		return d.Range.Start.Line > at.End.Line || d.Range.End.Line < at.Start.Line
	})
	params := map[string]any{
		"textDocument": textDocumentID{c.uriOf(name)}, "range": at,
		"context": map[string]any{"diagnostics": append([]Diagnostic{}, found...), "triggerKind": 1},
	}
	var raw []json.RawMessage
	if err := c.queryUntilReady(ctx, c.able.Actions, "textDocument/codeAction", params, &raw, func() bool { return len(raw) == 0 }); err != nil {
		return nil, err
	}
	var all []CodeAction
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
			all = append(all, CodeAction{a.Title, a.Kind, data, done})
		}
	}
	return all, nil
}

// ResolveAction returns the changes of an action.
func (c *LanguageServerSession) ResolveAction(ctx context.Context, a CodeAction) ([]FileTextEdits, error) {
	var r struct {
		Edit workspaceEdit `json:"edit"`
	}
	if !a.done {
		if err := c.callServer(ctx, c.server.Answer, "codeAction/resolve", a.raw, &r); err != nil {
			return nil, err
		}
	} else if err := json.Unmarshal(a.raw, &r); err != nil {
		return nil, errNames
	}
	return c.toFileEdits(r.Edit)
}

// workspaceEdit has the changes of a server, in both forms of the protocol.
type workspaceEdit struct {
	Changes  map[string][]TextEdit `json:"changes"`
	Document []struct {
		Kind string         `json:"kind"`
		URI  string         `json:"uri"`
		Text textDocumentID `json:"textDocument"`
		All  []TextEdit     `json:"edits"`
	} `json:"documentChanges"`
}

// toFileEdits validates a server's changes, and returns them by file.
func (c *LanguageServerSession) toFileEdits(r workspaceEdit) ([]FileTextEdits, error) {
	var all []FileTextEdits
	add := func(uri string, made bool, edits []TextEdit) error {
		name := c.nameOf(uri)
		if name == "" {
			return errNames
		}
		i := slices.IndexFunc(all, func(ch FileTextEdits) bool { return ch.Name == name })
		if i < 0 {
			all, i = append(all, FileTextEdits{Name: name, Made: made, unit: c.able.Encoding}), len(all)
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
	slices.SortStableFunc(all, func(a, b FileTextEdits) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}
