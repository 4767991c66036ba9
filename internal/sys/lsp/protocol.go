package lsp

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
)

// Position is a position in a text: line and character from 0, in the unit that the server uses.
type Position struct {
	Line int `json:"line"`
	Char int `json:"character"`
}

// Range is a range of a text.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// FileTextRange is a range of a file, whose name is relative to the root, or absolute if it is outside.
type FileTextRange struct {
	Name  string
	Range Range
}

// DeclaredSymbol is a declaration in source code.
type DeclaredSymbol struct {
	Kind   string // such as function
	Symbol string // its name
	Of     string // name of its container
	Detail string
	Depth  int // 0: at the top of the file
	FileTextRange
}

// Diagnostic is a problem that a server reports in a file.
type Diagnostic struct {
	Range    Range           `json:"range"`
	Severity int             `json:"severity"` // from 1, an error, to 4, a hint
	Message  string          `json:"message"`
	Source   string          `json:"source"`
	Code     json.RawMessage `json:"code,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"`
}

// CodeAction is a change that a server proposes.
type CodeAction struct {
	Title string
	Kind  string
	raw   json.RawMessage
	done  bool // it contains its edits
}

type workspaceFolder struct {
	URI  string `json:"uri"`
	Name string `json:"name"`
}

type textDocumentID struct {
	URI string `json:"uri"`
}

// serverCapabilities are the capabilities that a server reports.
type serverCapabilities struct {
	Encoding    string           `json:"positionEncoding"`
	Symbols     serverCapability `json:"documentSymbolProvider"`
	Find        serverCapability `json:"workspaceSymbolProvider"`
	Definition  serverCapability `json:"definitionProvider"`
	References  serverCapability `json:"referencesProvider"`
	Diagnostics serverCapability `json:"diagnosticProvider"`
	Rename      serverCapability `json:"renameProvider"`
	Actions     serverCapability `json:"codeActionProvider"`
}

func (a serverCapabilities) check() error {
	switch a.Encoding {
	case "", utf16Unit, utf8Unit, utf32Unit:
		return nil
	default:
		return fmt.Errorf("the server counts in %q, which is unknown", errorTail(a.Encoding))
	}
}

// serverCapability is a capability, either true or an object of options.
type serverCapability struct{ yes, resolves bool }

// UnmarshalJSON implements [json.Unmarshaler].
func (o *serverCapability) UnmarshalJSON(data []byte) error {
	text := string(data)
	o.yes = text != "false" && text != "null"
	var options struct {
		Resolve bool `json:"resolveProvider"`
	}
	if json.Unmarshal(data, &options) == nil { // usually it is no object
		o.resolves = options.Resolve
	}
	return nil
}

// initializeParams returns the parameters of the first request.
func (c *LanguageServerSession) initializeParams() any {
	type object = map[string]any
	uri := fileURI(c.server.Root)
	return object{
		"processId": nil, "clientInfo": object{"name": "nexus"}, "rootUri": uri, "rootPath": c.server.Root,
		"workspaceFolders": []workspaceFolder{{uri, "worktree"}}, "initializationOptions": c.server.Options,
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

// uriOf returns the URI of a file.
func (c *LanguageServerSession) uriOf(name string) string {
	return fileURI(path.Join(c.server.Root, name))
}

// nameOf returns the name of a URI's file: its path relative to the root, or an absolute one.
func (c *LanguageServerSession) nameOf(uri string) string {
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

// symbolKind returns the protocol's name of a symbol kind, from 1.
func symbolKind(n int) string {
	all := []string{
		"file", "module", "namespace", "package", "class", "method", "property", "field", "constructor", "enum", "interface", "function",
		"variable", "constant", "string", "number", "boolean", "array", "object", "key", "null", "member", "struct", "event", "operator", "type parameter",
	}
	if n < 1 || n > len(all) {
		return "symbol"
	}
	return all[n-1]
}
