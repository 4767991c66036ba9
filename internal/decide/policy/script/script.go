// Package script parses the small languages of commands' arguments far enough to check that
// they only print and calculate.
package script

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// IsHarmlessSed reports whether a script only prints, deletes and replaces.
func IsHarmlessSed(s string) bool {
	for {
		s = strings.TrimLeft(s, " \t\n;")
		if s == "" {
			return true
		}
		s = strings.TrimLeft(skipAddress(s), " !")
		if strings.HasPrefix(s, ",") {
			s = strings.TrimLeft(skipAddress(s[1:]), " !")
		}
		if s == "" {
			return false
		}
		ok := false
		switch c := s[0]; c {
		case 'p', 'd', 'q', '=', 'n', 'N', 'D', 'P', 'g', 'G', 'h', 'H', 'x', '{', '}':
			s, ok = s[1:], true
			if c != '{' && s != "" && !strings.ContainsAny(s[:1], " \t\n;}") {
				return false
			}
		case 's', 'y':
			s, ok = skipSubstitution(s)
		case 'a', 'i', 'c':
			_, s, _ = strings.Cut(s, "\n")
			ok = !strings.Contains(s, "\\")
		}
		if !ok {
			return false
		}
	}
}

// skipAddress skips a line number, $ or a pattern.
func skipAddress(s string) string {
	s = strings.TrimLeft(s, " ")
	switch {
	case strings.HasPrefix(s, "$"):
		return s[1:]
	case strings.HasPrefix(s, "/"):
		for i := 1; i < len(s); i++ {
			switch s[i] {
			case '\\':
				i++
			case '/':
				return strings.TrimPrefix(s[i+1:], "I")
			}
		}
		return ""
	}
	return strings.TrimLeft(s, "+~0123456789")
}

// skipSubstitution skips s/a/b/flags.
func skipSubstitution(s string) (rest string, ok bool) {
	if len(s) < 4 || s[1] == '\\' || s[1] == '\n' || s[1] >= 0x80 {
		return "", false
	}
	delimiters := 0
	i := 1
	for ; i < len(s) && delimiters < 3; i++ {
		switch s[i] {
		case '\\':
			i++
		case s[1]:
			delimiters++
		}
	}
	if delimiters < 3 {
		return "", false
	}
	rest = strings.TrimLeft(s[i:], "gpiI0123456789")
	return rest, rest == "" || strings.ContainsAny(rest[:1], " \t\n;}")
}

// IsHarmlessAwk reports whether a program starts no other program, and neither reads nor writes files
// by itself.
func IsHarmlessAwk(s string) bool {
	s = stripAwkLiterals(s)
	if strings.Contains(strings.ReplaceAll(s, "||", ""), "|") {
		return false
	}
	for _, bad := range []string{"system", "getline", "@", "close", "ARGV", "ENVIRON"} {
		if strings.Contains(s, bad) {
			return false
		}
	}
	return !strings.Contains(s, ">") || hasOnlyAwkComparisons(s)
}

// stripAwkLiterals returns a program without the content of its strings and patterns, or the
// unchanged program if a comment or an unmatched quote makes them uncertain. A slash starts a
// pattern only at a position where no operand can precede it.
func stripAwkLiterals(s string) string {
	if strings.Contains(s, "#") {
		return s
	}
	var b strings.Builder
	before := byte('\n')
	for i := 0; i < len(s); i++ {
		c := s[i]
		b.WriteByte(c)
		if c != '"' && (c != '/' || strings.IndexByte("\n;,{}(!~&|", before) < 0) {
			if c != ' ' && c != '\t' {
				before = c
			}
			continue
		}
		end := i + 1
		for end < len(s) && s[end] != c && s[end] != '\n' {
			if s[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(s) || s[end] != c {
			return s
		}
		b.WriteByte(c)
		i, before = end, 'x'
	}
	return b.String()
}

// hasOnlyAwkComparisons reports whether every > is a comparison: it is in brackets, or in the place of
// a pattern. It returns false if a pattern between slashes contains brackets.
func hasOnlyAwkComparisons(s string) bool {
	for i, between := range strings.Split(s, "/") {
		if i > 0 && i < strings.Count(s, "/") && strings.ContainsAny(between, "(){}\"#>") {
			return false
		}
	}
	round, curly, text := 0, 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case c == '"':
			text = !text
		case text:
		case c == '#':
			return false
		case c == '(':
			round++
		case c == ')':
			round--
		case c == '{':
			curly++
		case c == '}':
			curly--
		case c == '>' && round <= 0 && curly > 0, round < 0, curly < 0:
			return false
		}
	}
	return !text && round == 0 && curly == 0
}

// IsLoopbackURL reports whether a URL names this machine's own loopback and nothing that a client
// could interpret as another host.
func IsLoopbackURL(url string) bool {
	url = strings.TrimPrefix(strings.TrimPrefix(url, "http://"), "https://")
	hostPort, _, _ := strings.Cut(url, "/")
	host, port, _ := strings.Cut(hostPort, ":")
	return (host == "localhost" || host == "127.0.0.1") && strings.Trim(port, "0123456789") == "" && !strings.ContainsAny(url, "{}[]@\\#? ") ||
		(host == "localhost" || host == "127.0.0.1") && strings.Trim(port, "0123456789") == "" && !strings.ContainsAny(hostPort, "{}[]@\\#? ")
}

// AreHarmlessGoFlags reports whether compiler or linker flags only set values and omit parts.
func AreHarmlessGoFlags(flags string) bool {
	for f := range strings.FieldsSeq(strings.TrimPrefix(flags, "all=")) {
		f = strings.Trim(f, "'\"")
		switch f {
		case "-X", "-s", "-w", "-N", "-l", "-m", "-m=2":
		default:
			if f = strings.TrimPrefix(f, "-X="); strings.HasPrefix(f, "-") || !strings.Contains(f, "=") {
				return false
			}
		}
	}
	return true
}

// SplitSedWords splits the arguments of sed, and reports whether it edits in place and whether all
// its options are known.
func SplitSedWords(rest []shell.Word) (scripts, operands []shell.Word, inPlace, known bool) {
	known = true
	for i := 0; i < len(rest); i++ {
		a := rest[i]
		letters, short := strings.CutPrefix(a.Text, "-")
		short = short && !strings.HasPrefix(letters, "-")
		switch {
		case !strings.HasPrefix(a.Text, "-") || a.Text == "-":
			operands = append(operands, a)
		case short && strings.HasSuffix(letters, "e") && strings.Trim(letters, "nEre") == "", a.Text == "--expression":
			if i++; i < len(rest) {
				scripts = append(scripts, rest[i])
			}
		case strings.HasPrefix(a.Text, "--expression="):
			a.Text = strings.TrimPrefix(a.Text, "--expression=")
			scripts = append(scripts, a)
		case a.Text == "--in-place", strings.HasPrefix(a.Text, "-i") && strings.Trim(a.Text[2:], ".abcdefghijklmnopqrstuvwxyz~0123456789") == "":
			inPlace = true
			if a.Text == "-i" && i+1 < len(rest) && rest[i+1].Text == "" && !rest[i+1].Dynamic {
				i++ // as on other systems: no copy
			}
		case short && strings.Trim(letters, "nErsuzi") == "":
			inPlace = inPlace || strings.Contains(letters, "i")
		case a.Text == "--quiet", a.Text == "--regexp-extended":
		default:
			known = false
		}
	}
	if len(scripts) == 0 && len(operands) > 0 {
		scripts, operands = operands[:1], operands[1:]
	}
	return scripts, operands, inPlace, known
}

// IsUnusualRune reports whether a character must not occur in a command.
func IsUnusualRune(r rune) bool {
	return r == unicode.ReplacementChar || sanitize.IsHiddenCharacter(r) || r == '\u200c' || r == '\u200d' || r != '\n' && r != '\t' && unicode.IsSpace(r) && r != ' '
}

// HasShellExpansion reports whether text contains shell expansions.
func HasShellExpansion(s string) bool { return strings.Contains(s, "$") || strings.Contains(s, "`") }

// NamesProgram reports whether a cmake setting names a program that cmake runs.
func NamesProgram(setting string) bool {
	name, _, _ := strings.Cut(setting, ":")
	for _, part := range []string{"COMPILER", "LAUNCHER", "LINKER", "COMMAND", "PROGRAM", "EMULATOR", "TOOLCHAIN", "INCLUDE", "RULE", "EXECUTABLE", "MODULE_PATH"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// ReadsOutsideInput reports whether a jq or yq program reads the environment or a file that it names itself;
// .env is a member's name.
func ReadsOutsideInput(program string) bool {
	return regexp.MustCompile(`(^|[^.\w"])(env|strenv|envsubst|load|load_\w+|import|include|get_search_list)\b|\$ENV\b|\$__`).MatchString(program)
}
