package highlight

import (
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// language is what is known of how a language looks.
type language struct {
	stack.Syntax

	words     map[string]Kind
	folded    bool // its keywords may be in capitals
	calls     bool // a word before a bracket is a function
	typed     bool // a word with a capital first is a type
	decorated bool // @ begins a decorator
	keyed     bool // a word before a colon or an equals sign names something
	targets   bool // a word that begins a line and is followed by a colon is made by rules
	markup    bool // its words stand between angle brackets

	whole  func(line string) int          // how much of a line, from its begin, is a literal; nil: nothing
	headed func(line string) (Kind, bool) // what a whole line is
}

// family is languages that look alike, with their keywords and what they have built in.
type family struct {
	ends            string
	keywords, types string
	is              language
}

// code is how most languages look.
func code(l language) language {
	l.calls, l.typed = true, true
	return l
}

// families are the languages whose words are known.
func families() []family {
	return []family{
		{
			".go", "break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var",
			"any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 uint64 uintptr true false nil iota append cap clear close copy delete len make max min new panic print recover",
			code(language{}),
		},
		{
			".py .pyi", "and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return try while with yield",
			"True False None self cls int str float bool bytes dict list set tuple object type print len range", code(language{decorated: true}),
		},
		{
			".js .jsx .mjs .cjs .ts .tsx .mts .cts .vue .svelte", "abstract as async await break case catch class const continue debugger declare default delete do else enum export extends finally for from function get if implements import in instanceof interface keyof let namespace new of private protected public readonly return satisfies set static super switch this throw try type typeof var void while with yield",
			"any boolean number string symbol unknown never object bigint true false null undefined console Promise Array", code(language{decorated: true}),
		},
		{
			".rs", "as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod move mut pub ref return self static struct super trait type unsafe use where while",
			"bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize true false Self Some None Ok Err", code(language{}),
		},
		{
			".java .kt .kts .scala .groovy .cs .swift .dart", "abstract actor as async await base break by case catch class companion const constructor continue data def default delegate deinit do else enum event explicit extends extension external fileprivate final finally fixed for foreach func fun function get given guard if implements implicit import in init inline inout interface internal is lateinit lazy let lock match mutating namespace native new object open operator out override package params private protected protocol public readonly record repeat return sealed set static strictfp struct super suspend switch synchronized throw throws trait transient try type typealias unchecked using val var virtual volatile when where while with yield",
			"bool boolean byte char decimal double float int long short string void true false null nil this self it", code(language{decorated: true}),
		},
		{
			".c .h .cc .cpp .cxx .hh .hpp .hxx .m .mm .zig", "alignas alignof asm auto break case catch class comptime concept const constexpr consteval constinit continue decltype default defer delete do else enum explicit export extern fn for friend goto if inline mutable namespace new noexcept operator orelse override private protected pub public register requires return sizeof static struct switch template test throw try typedef typename union using var virtual volatile while",
			"bool char double float int int8_t int16_t int32_t int64_t long short signed size_t uint8_t uint16_t uint32_t uint64_t unsigned void wchar_t true false nullptr NULL this", code(language{}),
		},
		{
			".rb .rake .gemspec", "alias and begin break case class def defined do else elsif end ensure extend for if in include module next not or redo rescue retry return super then undef unless until when while yield require require_relative attr_reader attr_accessor private",
			"true false nil self", code(language{}),
		},
		{
			".php", "abstract and as break case catch class clone const continue declare default do echo else elseif enum extends final finally fn for foreach function global goto if implements include instanceof interface match namespace new or private protected public readonly require require_once return static switch throw trait try use while yield",
			"array bool float int mixed string void true false null self", code(language{}),
		},
		{
			".sh .bash .zsh .bats", "case do done elif else esac fi for function if in select then until while return exit local export readonly shift trap set unset source eval exec",
			"true false echo printf cd test read",
			language{},
		},
		{".ex .exs", "after alias and case catch cond def defimpl defmacro defmodule defp defprotocol defstruct do else end fn for if import in not or quote raise receive require rescue try unless unquote use when with", "true false nil", code(language{decorated: true})},
		{".lua", "and break do else elseif end for function goto if in local not or repeat return then until while", "true false nil self", code(language{})},
		{
			".sql", "add all alter and as asc begin between by case check column commit constraint create default delete desc distinct drop else end exists foreign from full group having in index inner insert into is join key left like limit not null offset on or order outer primary references returning right rollback select set table then transaction trigger union unique update values view when where with",
			"bigint boolean char date decimal double float integer int json numeric real serial text timestamp uuid varchar true false",
			language{folded: true, calls: true},
		},
		{".css .scss .less", "important media import supports keyframes font-face include mixin use extend", "", language{keyed: true, decorated: true}},
		{".json .jsonc .json5", "", "true false null", language{keyed: true}},
		{".yaml .yml .toml .ini .cfg .conf .properties .env .editorconfig", "", "true false null yes no on off", language{keyed: true}},
		{".html .htm .xml .svg .xhtml .csproj .xsd", "", "", language{markup: true}},
		{".tf .hcl .proto", "data dynamic enum extend import locals map message module oneof optional option output package provider public repeated required reserved resource returns rpc service syntax terraform variable", "bool bytes double fixed32 fixed64 float int32 int64 string uint32 uint64 true false null", language{keyed: true, calls: true}},
		{"dockerfile containerfile", "add arg as cmd copy entrypoint env expose from healthcheck label maintainer onbuild run shell stopsignal user volume workdir", "", language{folded: true}},
		{"makefile gnumakefile .mk", "define else endef endif export ifdef ifeq ifndef ifneq include override unexport", "", language{targets: true}},
	}
}

// bare are the marks of languages that no stack knows.
func bare(ending string) stack.Syntax {
	hash := stack.Syntax{Comments: []string{"#"}, Quotes: "\"'"}
	switch ending {
	case ".json":
		return stack.Syntax{Quotes: `"`}
	case ".jsonc", ".json5", ".css", ".scss", ".less", ".proto", ".m", ".mm", ".hcl", ".tf":
		return stack.Syntax{Comments: []string{"//"}, Block: [2]string{"/*", "*/"}, Quotes: "\"'"}
	case ".html", ".htm", ".xml", ".svg", ".xhtml", ".csproj", ".xsd", ".vue", ".svelte":
		return stack.Syntax{Block: [2]string{"<!--", "-->"}, Quotes: `"`}
	case ".sql":
		return stack.Syntax{Comments: []string{"--"}, Block: [2]string{"/*", "*/"}, Quotes: "\"'"}
	case ".lua":
		return stack.Syntax{Comments: []string{"--"}, Quotes: "\"'"}
	case ".ini", ".properties", ".editorconfig":
		return stack.Syntax{Comments: []string{"#", ";"}, Quotes: `"`}
	}
	return hash
}

// of returns the language of a file by its name; nil: it is not known.
func of(file string) *language {
	base := strings.ToLower(path.Base(file))
	ending := path.Ext(base)
	if ending == "" {
		ending = base
	}
	switch ending {
	case ".md", ".markdown":
		return markdown()
	case ".mod", ".work":
		if base != "go.mod" && base != "go.work" {
			return nil
		}
		ending = ".go"
	}
	for _, f := range families() {
		if !slices.Contains(strings.Fields(f.ends), ending) {
			continue
		}
		l := f.is
		l.words = map[string]Kind{}
		for w := range strings.FieldsSeq(f.keywords) {
			l.words[w] = Keyword
		}
		for w := range strings.FieldsSeq(f.types) {
			l.words[w] = Type
		}
		var known bool
		if l.Syntax, known = stack.SyntaxOf("x" + ending); !known {
			l.Syntax = bare(ending)
		}
		return &l
	}
	return nil
}

// markdown has headings, quotes of code, and blocks of it.
func markdown() *language {
	return &language{
		Syntax: stack.Syntax{Block: [2]string{"<!--", "-->"}, Long: []string{"```"}, Quotes: "`"},
		whole: func(line string) int {
			if strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t") {
				return len(line)
			}
			return 0
		},
		headed: func(line string) (Kind, bool) {
			marks := len(line) - len(strings.TrimLeft(line, "#"))
			return Heading, marks > 0 && marks < 7 && strings.HasPrefix(line[marks:], " ")
		},
	}
}
