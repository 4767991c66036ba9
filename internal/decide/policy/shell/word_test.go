package shell_test

import (
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
)

// words returns the words of a command line that has no quotes; $X is one that is not seen.
func words(line string) []shell.Word {
	var all []shell.Word
	for _, text := range strings.Fields(line) {
		if w := shell.LiteralWord(text); text != "$X" {
			all = append(all, w)
			continue
		}
		all = append(all, shell.Word{Dynamic: true})
	}
	return all
}

// texts returns the words as a line; what is not seen is a question mark.
func texts(all []shell.Word) string {
	text := make([]string, len(all))
	for i, w := range all {
		if text[i] = w.Text; w.Dynamic {
			text[i] = "?" + w.Text
		}
	}
	return strings.Join(text, " ")
}

// TestSplitOptions tells options and operands apart, and takes the values that are joined to options for operands where they
// look like paths.
func TestSplitOptions(t *testing.T) {
	for line, want := range map[string][2]string{
		"-r a b":          {"-r", "a b"},
		"- a":             {"", "- a"},
		"-- -r -x/y":      {"", "-r -x/y /y"},
		"a -- -- b":       {"", "a -- b"},
		"--out=/x a":      {"--out=/x", "/x a"},
		"--out=x a":       {"--out=x", "a"},
		"--out=.. a":      {"--out=..", ".. a"},
		"-o/x":            {"-o/x", "/x"},
		"-o~ -o":          {"-o~ -o", "~"},
		"-o.. --out/x":    {"-o.. --out/x", ".."},
		"if=/dev/sda":     {"", "if=/dev/sda"},
		"-- -a=b -o=/x":   {"", "-a=b -o=/x /x"},
		"--no-preserve x": {"--no-preserve", "x"},
	} {
		options, operands := shell.SplitOptions(words(line))
		if got := [2]string{texts(options), texts(operands)}; got != want {
			t.Errorf("%s: %q", line, got)
		}
	}
}

// TestHasOption finds an option as programs take it: a long one by its beginning, a short one in a cluster.
func TestHasOption(t *testing.T) {
	asked := []string{"-o", "--output", "-exec"}
	for option, want := range map[string]bool{
		"-o": true, "-ro": true, "-ox": true, "-o=x": true, "--output": true, "--out": true, "--o": true, "--output=x": true, "--out=x": true, "-exec": true, "-execdir": true,
		"-r": false, "--": false, "--outputs": false, "--no": false, "-x": false, "--foo=-o": false, "-exe": false,
	} {
		if got := shell.HasOption([]shell.Word{shell.LiteralWord("-z"), shell.LiteralWord(option)}, asked); got != want {
			t.Errorf("%s: %v", option, got)
		}
	}
	if shell.HasOption(nil, asked) || shell.HasOption(words("-o"), nil) {
		t.Error("it finds one where there is none")
	}
	for option, want := range map[string]bool{"--config": true, "-c": true, "--path": true, "--verbose": false, "": false} {
		if shell.OptionTakesPath(option) != want {
			t.Errorf("%s: %v", option, !want)
		}
	}
}

// TestUnquoted holds what bash makes of text that is in no quotes.
func TestUnquoted(t *testing.T) {
	for text, want := range map[string]string{
		"a": "a", "~": "~ home dynamic fixed", "~/x": "~/x home dynamic fixed", "~ada/x": "~ada/x home dynamic fixed", "~+": "~+ home dynamic fixed", "~-1/x": "~-1/x home dynamic fixed",
		"a~": "a~", "~a b": "~a b", "*.go": "*.go glob", "a?": "a? glob", "[ab]": "[ab] glob", "[": "[", "{a,b}": "{a,b} dynamic", "{1..3}": "{1..3} dynamic", "{a}": "{a}", "{}": "{}", "a,b": "a,b", "1..3": "1..3",
		`\a\ b`: "a b", `a\`: `a\`, "a\\\nb": "ab", `\\`: `\`,
	} {
		var w shell.Word
		w.AddUnquoted(text, true)
		got := w.Text
		for _, is := range []struct {
			name string
			is   bool
		}{{"glob", w.Glob}, {"home", w.Home}, {"dynamic", w.Dynamic}, {"fixed", w.Fixed}} {
			if is.is {
				got += " " + is.name
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	w := shell.LiteralWord("a")
	if w.AddUnquoted("~/x", false); w.Home || w.Text != "a~/x" {
		t.Errorf("no home is behind other text: %+v", w)
	}
	for text, want := range map[string]string{`\$x\"`: `$x"`, `\a\` + "`": `\a` + "`", `\\n`: `\n`, "a\\\nb": "ab", `x\`: `x\`, "plain": "plain"} {
		if got := shell.Unescape(text, true); got != want {
			t.Errorf("%q in quotes: %q, want %q", text, got, want)
		}
	}
}

// TestUnwrap skips what runs another program, and says where it does not know an option of it.
func TestUnwrap(t *testing.T) {
	for line, want := range map[string]string{
		"timeout 5 ls":                 "5 ls",
		"timeout -k 9 5 ls":            "5 ls",
		"timeout --kill-after=9 5 ls":  "5 ls",
		"timeout -k":                   "",
		"timeout -v --foreground 5 ls": "5 ls",
		"timeout --bogus 5 ls":         "5 ls, unknown",
		"timeout --bogus=9 5 ls":       "5 ls, unknown",
		"nice -n 5 ls":                 "ls",
		"nice -n5 ls":                  "ls",
		"nice -10 ls":                  "ls",
		"nice - ls":                    "ls, unknown",
		"timeout -10 ls":               "ls, unknown",
		"env -i -u A ls -l":            "ls -l",
		"env - ls":                     "ls",
		"env -- -x":                    "-x",
		"env -uA ls":                   "ls, unknown",
		"xargs -n1 -P 4 -I{} rm {}":    "rm {}",
		"xargs -0 -d\\n rm":            "rm",
		"xargs -nx rm":                 "rm, unknown",
		"xargs -n rm":                  "",
		"xargs --n5 rm":                "rm, unknown",
		"xargs -r1 rm":                 "rm, unknown",
		"command -v ls":                "ls",
		"stdbuf -oL -e0 ls":            "ls",
		"setsid -w ls -x":              "ls -x",
		"exec -a x ls":                 "ls",
		"env $X -i ls":                 "? -i ls",
		"timeout":                      "",
	} {
		rest, known := shell.Unwrap(words(line))
		got := texts(rest)
		if !known {
			got += ", unknown"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	hidden := shell.Word{Text: "-i", Dynamic: true}
	if rest, _ := shell.Unwrap([]shell.Word{shell.LiteralWord("env"), hidden, shell.LiteralWord("ls")}); len(rest) != 2 {
		t.Errorf("an option that is not all seen is skipped: %v", rest)
	}
}

// TestListsFiles holds which commands print names of files below where they look, and nothing else.
func TestListsFiles(t *testing.T) {
	for line, want := range map[string]bool{
		"": false, "find . -name x": true, "find . -printf x": false, "find . -exec ls": false, "find . -execdir ls": false, "seq 3": true, "seq 1 3": true, "seq": false, "seq -f x 3": false,
		"git ls-files": true, "git diff --name-only": true, "git show --name-only HEAD": true, "git diff": false, "git log --name-only": false, "git": false,
		"fd x": true, "fd -x rm": false, "fdfind -H": false, "fdfind x": true, "fd -e go": true, "rg -l x": true, "grep -rl x": true, "grep x": false, "ls": false, "ls -l": false, "cat -rl": false,
	} {
		if got := shell.ListsFiles(strings.Fields(line)); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}

// TestFinds holds which files find may remove: those that nobody misses, by the tests before that, all of which have to hold.
func TestFinds(t *testing.T) {
	for line, want := range map[string][2]bool{
		". -name *.orig": {true, false}, ". -type f -name *.pyc": {true, false}, ". -name *~ -newer x": {true, false}, ". -name *.orig -name x": {true, false},
		". -name *.go": {false, false}, ". -name x.orig": {false, false}, ".": {false, false}, ". -name": {false, false}, "": {false, false},
		". -name *.orig -o -name *.go": {false, false}, ". -not -name *.orig": {false, false}, ". ! -name *.orig": {false, false}, "-L . -name *.orig": {false, false}, "$X -name *.orig": {false, false},
		". -path *.orig": {false, false}, "-name *.orig $X": {false, false},
		". -type d -name __pycache__": {false, true}, ". -name node_modules": {false, true}, ". -name src": {false, false}, ". -not -name node_modules": {false, false},
		"$X -name node_modules": {false, false}, ". -iname node_modules": {false, false}, ". -name node_modules -name src": {false, false}, ". -name node_modules -o": {false, false},
	} {
		if got := [2]bool{shell.MatchesOnlyLeftovers(words(line)), shell.MatchesOnlyBuildDirs(words(line))}; got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}

// TestFillFound puts a file in the place of {} only where it is read.
func TestFillFound(t *testing.T) {
	for line, want := range map[string][2]string{
		"cat {}": {"cat found", "cat ?"}, "{} a": {"? a", "? a"}, "cat x{}": {"cat ?", "cat ?"}, "cat a": {"cat a", "cat a"},
	} {
		if got := [2]string{texts(shell.SubstituteFound(words(line), true)), texts(shell.SubstituteFound(words(line), false))}; got != want {
			t.Errorf("%s: %q", line, got)
		}
	}
}

// TestMayHideOption holds where a word that is not seen could be an option.
func TestMayHideOption(t *testing.T) {
	unseen := func(w shell.Word) []shell.Word { w.Dynamic = true; return []shell.Word{shell.LiteralWord("a"), w} }
	listing := []string{"--files0-from"}
	for name, c := range map[string]struct {
		asked []string
		args  []shell.Word
		want  bool
	}{
		"nothing is asked":       {nil, unseen(shell.Word{}), false},
		"not seen":               {[]string{"-o"}, unseen(shell.Word{}), true},
		"all seen":               {[]string{"-o"}, words("a -b"), false},
		"behind --":              {[]string{"-o"}, append(words("--"), unseen(shell.Word{})...), false},
		"it begins with text":    {[]string{"-o"}, unseen(shell.Word{Fixed: true}), false},
		"listed":                 {[]string{"-o"}, unseen(shell.Word{Listed: true}), true},
		"listed, and harmless":   {listing, unseen(shell.Word{Listed: true}), false},
		"not listed, harmless":   {listing, unseen(shell.Word{}), true},
		"listed, and one of two": {append([]string{"-o"}, listing...), unseen(shell.Word{Listed: true}), true},
	} {
		if got := shell.MayHideOption(c.asked, c.args); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestLiterals holds which words of a command are seen, and look like paths.
func TestLiterals(t *testing.T) {
	home := shell.Word{Text: "~x", Home: true, Dynamic: true}
	all := append(words("a/b -x/y plain ~u $X"), home, shell.LiteralWord("a /b"), shell.Word{Text: "/x", Dynamic: true})
	if got := texts(shell.PathWords(all)); got != "a/b ~u ?~x" {
		t.Error(got)
	}
	if got := shell.JoinWords(words("a $X b")); got != "a   b" {
		t.Errorf("%q", got)
	}
}

// parsed returns what a command line is made of.
func parsed(t *testing.T, line string) *syntax.File {
	t.Helper()
	file, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// TestDirs holds which directory the part of a command line runs in that is the program here.
func TestDirs(t *testing.T) {
	for line, want := range map[string]string{
		"cd sub && here": "sub", "cd sub && cd deep && here": "sub/deep", "cd sub && cd .. && here": "", "cd sub && ls && here": "sub", "here && cd sub": "", "cd a && x && cd b && here": "a/b",
		"cd sub; here": "", "cd sub || here": "", "! cd sub && here": "", "cd .. && here": "", "cd /x && here": "", "cd $X && here": "", "cd ~ && here": "", "cd - && here": "", "cd && here": "",
		"cd a b && here": "", "X=1 cd a && here": "", "cd a* && here": "", "pushd x && cd a && here": "", "eval x && cd a && here": "", "cd a && eval x && here": "", "$X && cd a && here": "",
		"cd a && (cd b; ls) && here": "", "cd a && (ls; pwd) && here": "a", "cd a && { here; }": "a", "(cd a && here)": "a", "cd a && ls && (cd b && here)": "", "cd ../x && here": "", "cd a/../.. && here": "",
		"cd . && here": "", "cd ./a && here": "a", "cd a && here || ls": "a", "cd a && (true) && here": "a", "cd a && . x && here": "", "cd a && X=1 && here": "a",
	} {
		var dirs shell.CommandDirs
		var at syntax.Pos
		syntax.Walk(parsed(t, line), func(n syntax.Node) bool {
			if b, ok := n.(*syntax.BinaryCmd); ok {
				dirs.AddList(b)
			}
			if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 && c.Args[0].Lit() == "here" {
				at = c.Pos()
			}
			return true
		})
		if got := dirs.DirectoryAt(at); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// TestBraces holds which words a word with braces stands for.
func TestBraces(t *testing.T) {
	for word, want := range map[string]string{
		"a{b,c}": "ab ac", "{a,b}{c,d}": "ac ad bc bd", "x{1..5}y": "x1y x5y", "{0..20..5}": "0 20", "a,b": "a,b", "{a}": "{a}", "{a,b..c}": "{a,b..c}", "plain": "plain", "{a,b,c,d,e,f,g,h,i}": "a b c d e f g h i",
		"{a,b,c,d,e,f,g,h,i,j}": "{a,b,c,d,e,f,g,h,i,j}", "{1..3}{a,b}": "{1..3}{a,b}", `{a,\b}`: `{a,\b}`, `{1..3}\a`: `{1..3}\a`, "{a,": "{a,", "a{b,c}d{e": "abd{e acd{e",
	} {
		call := parsed(t, "x "+word).Stmts[0].Cmd.(*syntax.CallExpr)
		var got []string
		for _, w := range shell.ExpandAllBraces(call.Args[1:]) {
			var b strings.Builder
			for _, part := range w.Parts {
				if lit, ok := part.(*syntax.Lit); ok {
					b.WriteString(lit.Value)
				}
			}
			got = append(got, b.String())
		}
		if !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
}

// TestSyntaxWhere says at which character a command line cannot be read.
func TestSyntaxWhere(t *testing.T) {
	for line, want := range map[string]string{"make )": "at character 6: ", "(make": "at character 1: ", "a\n  )": "at character 5: "} {
		if err := shell.CheckSyntax(line); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", line, err, want)
		}
	}
	if _, err := shell.QuoteWords([]string{"a", "b\x00"}); err == nil || !strings.HasPrefix(err.Error(), "word 2: ") {
		t.Error(err)
	}
}
