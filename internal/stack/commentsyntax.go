package stack

import (
	"path"
	"strings"
)

// CommentSyntaxOf returns the syntax of the comments and literals of a file, and false if it is
// unknown or the file can have no comments. It knows more files than [SyntaxOf]: data, settings
// and build files.
func CommentSyntaxOf(file string) (SourceSyntax, bool) {
	base := strings.ToLower(path.Base(file))
	ending := path.Ext(base)
	switch {
	case base == "go.mod", base == "go.work":
		ending = ".go"
	case ending == "":
		ending = base
	}
	if s, known := SyntaxOf("x" + ending); known {
		return s, true
	}
	switch ending {
	case ".hh", ".hxx", ".m", ".mm", ".css", ".scss", ".less", ".jsonc", ".json5", ".tf", ".hcl", ".proto":
		return SourceSyntax{Comments: []string{"//"}, Block: [2]string{"/*", "*/"}, Quotes: "\"'"}, true
	case ".rake", ".gemspec", ".zsh", ".yaml", ".yml", ".toml", ".cfg", ".conf", ".env",
		"dockerfile", "containerfile", "makefile", "gnumakefile", ".mk":
		return SourceSyntax{Comments: []string{"#"}, Quotes: "\"'"}, true
	case ".ini", ".properties", ".editorconfig":
		return SourceSyntax{Comments: []string{"#", ";"}, Quotes: `"`}, true
	case ".lua":
		return SourceSyntax{Comments: []string{"--"}, Quotes: "\"'"}, true
	case ".html", ".htm", ".xml", ".svg", ".xhtml", ".csproj", ".xsd":
		return SourceSyntax{Block: [2]string{"<!--", "-->"}, Quotes: `"`}, true
	}
	return SourceSyntax{}, false
}
