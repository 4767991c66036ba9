package lsp

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
)

// Position is a place in a text: lines and characters from 0, those in the unit
// that the server counts in.
type Position struct {
	Line int `json:"line"`
	Char int `json:"character"`
}

// Range is a stretch of a text.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Place is a stretch of a file, whose name is below the root, or absolute where
// it lies elsewhere.
type Place struct {
	Name  string
	Range Range
}

// Symbol is something that source code declares.
type Symbol struct {
	Kind   string // such as function
	Symbol string // what it is called
	Of     string // what it is part of
	Detail string
	Depth  int // 0: of the file itself
	Place
}

// Diagnostic is something that a server finds in a file.
type Diagnostic struct {
	Range    Range           `json:"range"`
	Severity int             `json:"severity"` // from 1, an error, to 4, a hint
	Message  string          `json:"message"`
	Source   string          `json:"source"`
	Code     json.RawMessage `json:"code,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"`
}

// Action is a change that a server proposes.
type Action struct {
	Title string
	Kind  string
	raw   json.RawMessage
	done  bool // it holds its edits
}

type folder struct {
	URI  string `json:"uri"`
	Name string `json:"name"`
}

type textID struct {
	URI string `json:"uri"`
}

// serverCapabilities is what a server offers.
type serverCapabilities struct {
	Encoding    string `json:"positionEncoding"`
	Symbols     offer  `json:"documentSymbolProvider"`
	Find        offer  `json:"workspaceSymbolProvider"`
	Definition  offer  `json:"definitionProvider"`
	References  offer  `json:"referencesProvider"`
	Diagnostics offer  `json:"diagnosticProvider"`
	Rename      offer  `json:"renameProvider"`
	Actions     offer  `json:"codeActionProvider"`
}

func (a serverCapabilities) check() error {
	switch a.Encoding {
	case "", utf16Unit, utf8Unit, utf32Unit:
		return nil
	default:
		return fmt.Errorf("the server counts in %q, which is unknown", brief(a.Encoding))
	}
}

// offer is true, or options.
type offer struct{ yes, resolves bool }

// UnmarshalJSON implements [json.Unmarshaler].
func (o *offer) UnmarshalJSON(data []byte) error {
	text := string(data)
	o.yes = text != "false" && text != "null"
	var options struct {
		Resolve bool `json:"resolveProvider"`
	}
	if json.Unmarshal(data, &options) == nil { // it is no object mostly
		o.resolves = options.Resolve
	}
	return nil
}

// initializeParams is what a server is told first.
func (c *Session) initializeParams() any {
	type object = map[string]any
	uri := fileURI(c.server.Root)
	return object{
		"processId": nil, "clientInfo": object{"name": "nexus"}, "rootUri": uri, "rootPath": c.server.Root,
		"workspaceFolders": []folder{{uri, "worktree"}}, "initializationOptions": c.server.Options,
		"capabilities": object{
			"general": object{"positionEncodings": []string{utf16Unit, utf8Unit}},
			"window":  object{"workDoneProgress": true},
			"workspace": object{
				"configuration": true, "workspaceFolders": true,
				"workspaceEdit":         object{"documentChanges": true, "resourceOperations": []string{"create"}},
				"didChangeWatchedFiles": object{"dynamicRegistration": true},
			},
			"textDocument": object{
				"synchronization":    object{},
				"documentSymbol":     object{"hierarchicalDocumentSymbolSupport": true},
				"publishDiagnostics": object{"versionSupport": true},
				"diagnostic":         object{},
				"rename":             object{"prepareSupport": false},
				"codeAction": object{
					"codeActionLiteralSupport": object{"codeActionKind": object{"valueSet": []string{"", "quickfix", "refactor", "source"}}},
					"dataSupport":              true, "resolveSupport": object{"properties": []string{"edit"}},
				},
			},
		},
	}
}

func fileURI(name string) string { return (&url.URL{Scheme: "file", Path: name}).String() }

// uri returns how the server calls a file.
func (c *Session) uri(name string) string { return fileURI(path.Join(c.server.Root, name)) }

// name returns how we call a file: by its path below the root, or an absolute
// one.
func (c *Session) name(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" || u.Path == "" {
		return ""
	}
	name := path.Clean("/" + u.Path)
	if rest, ok := strings.CutPrefix(name, strings.TrimSuffix(c.server.Root, "/")+"/"); ok {
		return rest
	}
	return name
}

// IsInside reports whether a name is that of a file below the root.
func IsInside(name string) bool { return name != "" && !path.IsAbs(name) }

var errNames = errors.New("the server names something that is not a file")

// kinds are the protocol's words for what a symbol is, from 1 on.
func kind(n int) string {
	all := []string{
		"file", "module", "namespace", "package", "class", "method", "property", "field", "constructor", "enum", "interface", "function",
		"variable", "constant", "string", "number", "boolean", "array", "object", "key", "null", "member", "struct", "event", "operator", "type parameter",
	}
	if n < 1 || n > len(all) {
		return "symbol"
	}
	return all[n-1]
}
