package policy

import (
	"path"
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// argumentWord is the known content of one argument before bash expands it.
type argumentWord struct {
	text    string // its literal text; an unknown part is left out
	dynamic bool   // some of it is known only when it runs
}

// maxBraces limits the words that one word with braces expands to.
const maxBraces = 8

// expandWords returns the words of a command. Braces make several of one.
func expandWords(parsed []*syntax.Word) (words []argumentWord) {
	for _, p := range parsed {
		all := expandBraces(p)
		for _, one := range all {
			w := parseWordContent(one)
			text := literalText(one)
			w.dynamic = w.dynamic || strings.Contains(text, "{") && (strings.Contains(text, ",") || strings.Contains(text, "..")) // too many to expand here
			words = append(words, w)
		}
	}
	return words
}

func expandBraces(w *syntax.Word) []*syntax.Word {
	text := literalText(w)
	if n := strings.Count(text, ","); n == 0 || n > maxBraces || !strings.Contains(text, "{") || strings.Contains(text, "..") {
		return []*syntax.Word{w}
	}
	split := *w
	split.Parts = append([]syntax.WordPart(nil), w.Parts...)
	if !syntax.SplitBraces(&split) {
		return []*syntax.Word{w}
	}
	var words []*syntax.Word
	for one, err := range expand.BracesSeq(nil, &split) {
		if err != nil {
			return []*syntax.Word{w}
		}
		words = append(words, one)
	}
	return words
}

// literalText returns the unquoted literals of a word.
func literalText(w *syntax.Word) (text string) {
	for _, p := range w.Parts {
		if l, ok := p.(*syntax.Lit); ok {
			text += l.Value
		}
	}
	return text
}

// parseWordContent returns what is known of a word.
func parseWordContent(w *syntax.Word) (read argumentWord) {
	if w == nil {
		return argumentWord{}
	}
	for _, p := range w.Parts {
		read.addPart(p, false)
	}
	return read
}

func (w *argumentWord) addPart(p syntax.WordPart, quoted bool) {
	switch p := p.(type) {
	case *syntax.Lit:
		w.text += removeBackslashes(p.Value, quoted)
	case *syntax.SglQuoted:
		value := p.Value
		if p.Dollar {
			if decoded, _, err := expand.Format(nil, strings.ReplaceAll(value, "%", "%%"), nil); err == nil {
				value = decoded
			}
		}
		w.text += value
	case *syntax.DblQuoted:
		for _, in := range p.Parts {
			w.addPart(in, true)
		}
	case *syntax.ParamExp:
		switch {
		case p.Param != nil && p.Param.Value == "HOME" && p.Exp == nil && w.text == "":
			w.text = "~"
		case p.Param != nil && p.Param.Value == "PWD" && p.Exp == nil && w.text == "":
			w.text = "."
		default:
			w.dynamic = true
		}
	default:
		w.dynamic = true
	}
}

// removeBackslashes removes the backslashes that quote a character.
func removeBackslashes(s string, quoted bool) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (!quoted || strings.IndexByte("$`\"\\\n", s[i+1]) >= 0) {
			if i++; s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// isOption reports whether the word is an option.
func (w argumentWord) isOption() bool { return len(w.text) > 1 && w.text[0] == '-' }

// namesExternalPackage reports whether an operand of an installation names something that is not a file
// of the tree.
func (w argumentWord) namesExternalPackage() bool {
	return !w.isOption() && !w.dynamic && w.text != "" && !strings.HasPrefix(w.text, ".") && !strings.HasPrefix(w.text, "/") && !strings.HasPrefix(w.text, "file:") &&
		(strings.Contains(w.text, "://") || !packageFile.MatchString(w.text))
}

// packageFile matches a file that an installation reads.
var packageFile = regexp.MustCompile(`\.(whl|tgz|gz|txt|gem|zip|toml)$`)

// hasVersion reports whether an operand has a version, such as MODULE@v1.
func (w argumentWord) hasVersion() bool { return !w.isOption() && strings.Index(w.text, "@") > 0 }

// versionedProgram matches a name such as python3.12.
var versionedProgram = regexp.MustCompile(`^[a-z]+\d[\d.]*$`)

// programName returns the name of a program without its directory and its version. A program of the
// tree's root is its own, whatever its name, but for the wrappers of build tools, whose names end in w.
func programName(w argumentWord) string {
	name := path.Base(w.text)
	if own := w.text == "./"+name; own && !strings.HasSuffix(name, "w") {
		return w.text
	}
	if versionedProgram.MatchString(name) {
		name = strings.TrimRight(name, "0123456789.")
	}
	return name
}

// literalWords returns words for texts.
func literalWords(texts ...string) []argumentWord {
	words := make([]argumentWord, len(texts))
	for i, t := range texts {
		words[i] = argumentWord{text: t}
	}
	return words
}
