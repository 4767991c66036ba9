package highlight

import (
	"github.com/alecthomas/chroma/v2"
)

// golang returns the lexer of Go, which chroma has as code and not as a file.
func golang() chroma.Lexer {
	about := chroma.Config{Name: "Go", Aliases: []string{"go", "golang"}, Filenames: []string{"*.go"}}
	return chroma.MustNewLexer(&about, func() chroma.Rules {
		return chroma.Rules{"root": {
			{Pattern: `\s+`, Type: chroma.TextWhitespace},
			{Pattern: `//[^\n]*`, Type: chroma.CommentSingle},
			{Pattern: `/\*(?:[^*]|\*(?!/))*(?:\*/|$)`, Type: chroma.CommentMultiline},
			{Pattern: `(?:import|package|var|func|struct|map|chan|type|interface|const)\b`, Type: chroma.KeywordDeclaration},
			{Pattern: `(?:module|require|replace|exclude|retract|toolchain|tool|use)\b(?=[ \t]+[\w(./])`, Type: chroma.KeywordNamespace},
			{Pattern: `(?:break|default|select|case|defer|go|else|goto|switch|fallthrough|if|range|continue|for|return)\b`, Type: chroma.Keyword},
			{Pattern: `(?:true|false|iota|nil)\b`, Type: chroma.KeywordConstant},
			{
				Pattern: `(?:print|println|panic|recover|close|complex|real|imag|len|cap|append|copy|delete|new|make|clear|min|max)\b(?=\()`,
				Type:    chroma.NameBuiltin,
			},
			{
				Pattern: `(?:u?int(?:8|16|32|64)?|float(?:32|64)|complex(?:64|128)|byte|rune|string|bool|error|uintptr|any|comparable)\b`,
				Type:    chroma.KeywordType,
			},
			{Pattern: `0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+`, Type: chroma.LiteralNumberHex},
			{Pattern: `(?:\d[\d_]*)?\.?\d[\d_]*(?:[eE][+-]?\d+)?i?`, Type: chroma.LiteralNumber},
			{Pattern: `'(?:\\.[^'\n]*|[^\\'\n])'`, Type: chroma.LiteralStringChar},
			{Pattern: "`[^`]*`?", Type: chroma.LiteralString},
			{Pattern: `"(?:\\.|[^"\\\n])*"?`, Type: chroma.LiteralString},
			{Pattern: `[A-Za-z_]\w*(?=\()`, Type: chroma.NameFunction},
			{Pattern: `[^\W\d]\w*`, Type: chroma.NameOther},
			{Pattern: `[<>=!&|^+\-*/%:]+`, Type: chroma.Operator},
			{Pattern: `.`, Type: chroma.Punctuation},
		}}
	})
}

// markdown returns a lexer of Markdown: headings, code, emphasis, links, quotes.
func markdown() chroma.Lexer {
	about := chroma.Config{Name: "Markdown", Aliases: []string{"md"}, Filenames: []string{"*.md", "*.markdown"}}
	return chroma.MustNewLexer(&about, func() chroma.Rules {
		return chroma.Rules{"root": {
			{Pattern: `^#{1,6} [^\n]*`, Type: chroma.GenericHeading},
			{Pattern: "^```[^\\n]*\\n(?:(?!```)[^\\n]*\\n)*(?:```[^\\n]*)?", Type: chroma.LiteralStringBacktick},
			{Pattern: `^\s*(?:[-*+]|\d+\.)(?= )`, Type: chroma.Keyword},
			{Pattern: `^> [^\n]*`, Type: chroma.Comment},
			{Pattern: "`[^`\\n]+`", Type: chroma.LiteralStringBacktick},
			{Pattern: `\*\*[^*\n]+\*\*`, Type: chroma.GenericStrong},
			{Pattern: `!?\[[^\]\n]*\]\([^)\n]*\)`, Type: chroma.NameTag},
			{Pattern: `<!--(?:[^-]|-(?!->))*-->`, Type: chroma.Comment},
			{Pattern: "[^\\n`*\\[<!]+", Type: chroma.Text},
			{Pattern: `.|\n`, Type: chroma.Text},
		}}
	})
}
