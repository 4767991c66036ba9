package stack

import (
	"path"
	"slices"
	"strings"
)

// HighlightLexicon holds the words to highlight in the sources of a language, in addition to [SourceSyntax].
type HighlightLexicon struct {
	Ends     string       // endings of file names, or whole names, in lower case, separated by blanks
	Keywords string       // separated by blanks
	Builtins string       // built-in types, values and functions of the language, separated by blanks
	Marks    SourceSyntax // comments and literals, for files that [SyntaxOf] does not know

	Script    bool // a word before a bracket is no function, and a capitalized one no type
	Folded    bool // keywords may be in capitals
	Decorated bool // @ begins a decorator
	Keyed     bool // a word before a colon or an equals sign is a key
	Targets   bool // a word at the beginning of a line, followed by a colon, is a target
	Markup    bool // words are in angle brackets
}

// LexiconOf returns the words for a file by its name, with its comment and string marks, and
// false for an unknown language.
func LexiconOf(file string) (HighlightLexicon, bool) {
	base := strings.ToLower(path.Base(file))
	ending := path.Ext(base)
	if ending == "" {
		ending = base
	}
	if base == "go.mod" || base == "go.work" {
		ending = ".go"
	}
	fits := func(w HighlightLexicon) bool { return slices.Contains(strings.Fields(w.Ends), ending) }
	for _, s := range AllStacks() {
		if w, ok := firstMatch(rowsOf(s.Lexicon), fits); ok {
			return w.withMarks(ending), true
		}
	}
	w, ok := firstMatch(otherLexicons(), fits)
	return w.withMarks(ending), ok
}

// withMarks returns the words with the marks of files of an ending.
func (w HighlightLexicon) withMarks(ending string) HighlightLexicon {
	if s, known := SyntaxOf("x" + ending); known {
		w.Marks = s
	}
	return w
}

// hashSyntax and slashed return the marks of most languages that have no stack.
func hashSyntax() SourceSyntax { return SourceSyntax{Comments: []string{"#"}, Quotes: "\"'"} }

func slashSyntax() SourceSyntax {
	return SourceSyntax{Comments: []string{"//"}, Block: [2]string{"/*", "*/"}, Quotes: "\"'"}
}

// otherLexicons returns the words for files without a stack: programs, data and texts.
func otherLexicons() []HighlightLexicon {
	return []HighlightLexicon{
		{
			Ends: ".dart", Decorated: true,
			Keywords: "abstract as assert async await base break case catch class const continue covariant default deferred do else enum export extends extension external factory final finally for get hide if implements import in interface is late library mixin new on operator part required rethrow return sealed set show static super switch sync this throw try type typedef var void when while with yield",
			Builtins: "bool double dynamic int num object string true false null Future Iterable List Map Set Stream",
		},
		{
			Ends:     ".zig",
			Keywords: "align allowzero and anyframe asm async await break callconv catch comptime const continue defer else enum errdefer error export extern fn for if inline noalias nosuspend opaque or orelse packed pub resume return struct suspend switch test threadlocal try union unreachable usingnamespace var volatile while",
			Builtins: "anyerror anyopaque anytype bool comptime_float comptime_int f16 f32 f64 f128 i8 i16 i32 i64 i128 isize noreturn type u8 u16 u32 u64 u128 usize void true false null undefined",
		},
		{
			Ends: ".lua", Marks: SourceSyntax{Comments: []string{"--"}, Quotes: "\"'"},
			Keywords: "and break do else elseif end for function goto if in local not or repeat return then until while", Builtins: "true false nil self",
		},
		{
			Ends: ".sql", Folded: true,
			Keywords: "add all alter and as asc begin between by case check column commit constraint create default delete desc distinct drop else end exists foreign from full group having in index inner insert into is join key left like limit not null offset on or order outer primary references returning right rollback select set table then transaction trigger union unique update values view when where with",
			Builtins: "bigint boolean char date decimal double float integer int json numeric real serial text timestamp uuid varchar true false",
		},
		{Ends: ".css .scss .less", Marks: slashSyntax(), Script: true, Keyed: true, Decorated: true, Keywords: "important media import supports keyframes font-face include mixin use extend"},
		{Ends: ".json", Marks: SourceSyntax{Quotes: `"`}, Script: true, Keyed: true, Builtins: "true false null"},
		{Ends: ".jsonc .json5", Marks: slashSyntax(), Script: true, Keyed: true, Builtins: "true false null"},
		{Ends: ".yaml .yml .toml .cfg .conf .env", Marks: hashSyntax(), Script: true, Keyed: true, Builtins: "true false null yes no on off"},
		{Ends: ".ini .properties .editorconfig", Marks: SourceSyntax{Comments: []string{"#", ";"}, Quotes: `"`}, Script: true, Keyed: true, Builtins: "true false null yes no on off"},
		{Ends: ".html .htm .xml .svg .xhtml .csproj .xsd", Marks: SourceSyntax{Block: [2]string{"<!--", "-->"}, Quotes: `"`}, Script: true, Markup: true},
		{
			Ends: ".tf .hcl .proto", Marks: slashSyntax(), Keyed: true,
			Keywords: "data dynamic enum extend import locals map message module oneof optional option output package provider public repeated required reserved resource returns rpc service syntax terraform variable",
			Builtins: "bool bytes double fixed32 fixed64 float int32 int64 string uint32 uint64 true false null",
		},
		{
			Ends: "dockerfile containerfile", Marks: hashSyntax(), Script: true, Folded: true,
			Keywords: "add arg as cmd copy entrypoint env expose from healthcheck label maintainer onbuild run shell stopsignal user volume workdir",
		},
		{
			Ends: "makefile gnumakefile .mk", Marks: hashSyntax(), Script: true, Targets: true,
			Keywords: "define else endef endif export ifdef ifeq ifndef ifneq include override unexport",
		},
	}
}
