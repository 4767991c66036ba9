package script

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
)

// TestSed holds which scripts of sed only print, delete and replace.
func TestSed(t *testing.T) {
	for s, want := range map[string]bool{
		"": true, " ;\n": true, "p": true, "3p": true, "$p": true, "1,5p": true, "1, $ !d": true, "/a/d": true, "/a/Id": true, `/a\/b/d`: true, "/a/,/b/p": true, "1~2p": true, "1,+3d": true, "/a/!d": true,
		"p;d": true, "{p;d}": true, "{ p }": true, "s/a/b/": true, "s/a/b/gI;p": true, "s|a|b|3p": true, `s/a\/b/c/`: true, "y/abc/def/": true, "s/a/b/}": true, "s/a/b/ ; p": true,
		"a text\np": true, "i text": true, "a\ntext\np": false, "5,": false, "5": false, "/a": false, "/a/": false, "pd": false, "pw x": false, "s/a/b/w x": false, "s/a/b/e": false, "e ls": false, "w x": false, "r x": false, "R x": false,
		"s/a/b": false, "s": false, "s/a/": false, `s\a\b\`: false, "s\na\nb\n": false, "s\u00e9a\u00e9b\u00e9": false, "b": false, "1,w x": false, "3 w x": false, "a\nx\\\nw y": false, "F": false, "l": false, "sxaxbxp": true, "s/a/b/pw": false, "1,p": true,
	} {
		if got := IsHarmlessSed(s); got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
}

// TestAwk holds which programs of awk start no other, and read and write no file of their own.
func TestAwk(t *testing.T) {
	for s, want := range map[string]bool{
		"{print $1}": true, "NR>3": true, "NR > 3 {print}": true, "{ if ($1 > 3) print }": true, "($1 > 3)": true, `{print "a > b"}`: true, `/a|b/ {print}`: true, `{print "a|b"}`: true, "$1 ~ /x|y/": true, "a || b": true,
		"{print $1 / 2}": true, "{x = $1 / 2 / 3}": true, `{print "a\"|b"}`: true, "!/a|b/": true, "/a/ && /b|c/": true, "BEGIN{FS=\"|\"} {print}": true, "{print substr($0, 1)}": true,
		"{print > \"x\"}": false, `{print | "sh"}`: false, `"date" | getline`: false, "{system(x)}": false, "{print ENVIRON[x]}": false, "{ARGV[1]=2}": false, "@include x": false, "{close(x)}": false, "{getline x}": false,
		"# a > b": false, "{ print # |\n}": false, `{print "a|b}`: false, "{print 1 / 2 | 3 / 4}": false, "1) > (2": false, "} > {": false, "((1 > 2)": false, "{ (1 > 2)": false, `"a > b`: false, "{x = 1 /(2)/ 3 > 4}": false, "a > b": true, `{print "x\\"} NR > 3`: true,
		"{print \"a\n|\"}": false, "{print $1 /x|y/ 2}": false, "NR>3 && /a(b/": true,
	} {
		if got := IsHarmlessAwk(s); got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
}

// TestLoopback holds which addresses name this machine and nothing else.
func TestLoopback(t *testing.T) {
	for url, want := range map[string]bool{
		"localhost": true, "http://localhost:8080/x": true, "https://127.0.0.1/": true, "127.0.0.1:80": true, "localhost:80/a?b={c}": true, "localhost/x@y": true, "http://localhost:": true,
		"http://localhost@evil.example/": false, "http://evil.example/localhost": false, "localhost:80@evil.example": false, "localhost:8o": false, "127.0.0.2": false, "localhosts": false, "localhost?x": false, "": false, "localhost\\.evil.example": false, "ftp://localhost": false,
		"localhost:#": false, "127.0.0.1:x": false,
	} {
		if got := IsLoopbackURL(url); got != want {
			t.Errorf("%s: %v", url, got)
		}
	}
}

// TestGoFlags holds which flags of the compiler and the linker of Go only set values and leave things out.
func TestGoFlags(t *testing.T) {
	for flags, want := range map[string]bool{
		"": true, "-s -w": true, "all=-N -l": true, "-X main.version=1": true, "-X=main.version=1": true, "'-X main.a=b' -s": true, `"-s"`: true, "-m -m=2": true, "-X 'main.a=b'": true,
		"-extld=x": false, "-linkmode external": false, "-s x": false, "-X=-extld=x": false, "-m=3": false,
	} {
		if got := AreHarmlessGoFlags(flags); got != want {
			t.Errorf("%s: %v", flags, got)
		}
	}
}

// TestSedWords tells the arguments of sed apart.
func TestSedWords(t *testing.T) {
	for line, want := range map[string]string{
		"p a b":                     "p | a b",
		"-n p a":                    "p | a",
		"-ne p a":                   "p | a",
		"-e p -e d a":               "p d | a",
		"--expression p a":          "p | a",
		"--expression=p a":          "p | a",
		"-e":                        " | ",
		"-nre p a":                  "p | a",
		"-i p a":                    "p | a in place",
		"-i '' p a":                 "p | a in place",
		"-i.bak p a":                "p | a in place",
		"-i.B p a":                  "p | a unknown",
		"--in-place p a":            "p | a in place",
		"-ni p a":                   "p | a in place",
		"-Ei p a":                   "p | a in place",
		"-zn p -":                   "p | -",
		"--quiet --regexp-extended": " | ",
		"-f x a":                    "x | a unknown",
		"--file=x a":                "a |  unknown",
		"--follow p":                "p |  unknown",
		"-xe p a":                   "p | a unknown",
		"-i p ''":                   "p |  in place",
		"-i -e p '' a":              "p |  a in place",
	} {
		var rest []shell.Word
		for _, w := range strings.Fields(line) {
			rest = append(rest, shell.LiteralWord(strings.Trim(w, "'")))
		}
		scripts, operands, inPlace, known := SplitSedWords(rest)
		text := func(all []shell.Word) string {
			var parts []string
			for _, w := range all {
				parts = append(parts, w.Text)
			}
			return strings.Join(parts, " ")
		}
		got := text(scripts) + " | " + text(operands)
		if inPlace {
			got += " in place"
		}
		if !known {
			got += " unknown"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// TestOdd holds which characters have no place in a command, which text a shell expands, and which settings name programs.
func TestOdd(t *testing.T) {
	for r, want := range map[rune]bool{
		'a': false, ' ': false, '\n': false, '\t': false, '\u00e9': false, '\ufffd': true, '\u202e': true, '\u200c': true, '\u200d': true, '\u00a0': true, '\v': true, '\u2028': true,
	} {
		if IsUnusualRune(r) != want {
			t.Errorf("%U: %v", r, !want)
		}
	}
	for s, want := range map[string]bool{"a": false, "$x": true, "`x`": true, "": false} {
		if HasShellExpansion(s) != want {
			t.Errorf("%s: %v", s, !want)
		}
	}
	for s, want := range map[string]bool{"CMAKE_C_COMPILER": true, "CMAKE_C_COMPILER:PATH": true, "X_TOOLCHAIN_FILE": true, "CMAKE_BUILD_TYPE": false, "X:PROGRAM": false} {
		if NamesProgram(s) != want {
			t.Errorf("%s: %v", s, !want)
		}
	}
}

// TestInlineHides holds which code on the command line is not understood, by what is beside it that is.
func TestInlineHides(t *testing.T) {
	for _, c := range []struct {
		language, code string
		want           bool
	}{
		{"python", strings.Repeat("1", 2) + strings.Repeat(" ", 3998), true},
		{"python", strings.Repeat("1", 2) + strings.Repeat(" ", 3999), false},
		{"python", "print('\\n')", true},
		{"python", "print('\\N{DASH}')", false},
		{"python", "print('a\u200b')", false},
		{"python", "print(`a`)", false},
		{"node", "console.log(`a`)", true},
		{"node", "a[b]", true},
		{"node", "a[b].concat(c)", false},
		{"node", "a?.[b]", false},
		{"node", "x = {[a]: 1}", false},
		{"node", "a['x' + b]", false},
		{"python", "a[b + 'x']", true},
		{"python", "import a, b; print(a.__version__, b.__file__)", true},
		{"python", "import a; print(a.__class__)", false},
		{"python", "import importlib.metadata; print(importlib.metadata.version('x'))", true},
		{"python", "import importlib; importlib.reload(x)", true},
		{"python", "import re; re.compile('x')", true},
		{"python", "compile('x')", false},
		{"python", "import asyncio; asyncio.run(f())", true},
		{"python", "import asyncio; asyncio.open_connection()", false},
		{"python", "os.environ['DEBUG'] = '1'; run()", true},
		{"python", "os.environ.setdefault('DEBUG', 'x')", true},
		{"python", "os.environ['LD_PRELOAD'] = 'x'", false},
		{"python", "os.environ['API_KEY'] = 'x'", false},
		{"python", "print(os.environ['DEBUG'])", false},
		{"node", "console.log(process.argv)", true},
		{"node", "process.kill(1)", false},
		{"node", "require(x)", false},
		{"node", "require('a' + x)", false},
		{"node", "require('a')", true},
		{"node", "Function('x')()", false},
		{"ruby", "puts 1", true},
		{"ruby", "File.delete('a')", false},
		{"ruby", "open('|ls')", false},
		{"perl", "print", true},
		{"perl", "print if /a/i; tr/a/b/", true},
		{"perl", "print if $. <= 3", true},
		{"perl", "s/a/b/; ; print", true},
		{"perl", "s/a/b/gex", false},
		{"perl", "s/(?{unlink x})/b/", false},
		{"perl", "s/(??{unlink x})/b/", false},
		{"perl", "s/a/@{unlink x}/", false},
		{"perl", "s/a/${unlink x}/", false},
		{"perl", "s/unlink/b/", true},
		{"perl", "s{a}{b}", true},
		{"perl", "s/a/b/; open F", false},
		{"perl", "print `ls`", false},
		{"php", "require __DIR__ . '/a.php'; echo 1;", true},
		{"php", "require 'a/b.php';", true},
		{"php", "require $x;", false},
		{"php", "new $x;", false},
		{"php", "$$x = 1;", false},
		{"python", "while 1: pass", false},
		{"node", "for (;;) {}", false},
		{"ruby", "loop do end", false},
		{"python", "'a' * 99999999", false},
		{"python", "'a' * 9999999", true},
		{"python", "2 ** 9", false},
		{"python", "2 ** 3", true},
		{"python", "1 << 30", false},
		{"python", "gi_frame", false},
		{"python", "x.gi_frame", false},
		{"python", "tangi_x", true},
		{"python", "network = 1", true},
		{"python", "net = 1", false},
		{"python", "caf\u00e9 = 1", false},
	} {
		if _, ok := CheckInlineCode(c.language, c.code); ok != c.want {
			t.Errorf("%s: %.60q: %v", c.language, c.code, ok)
		}
	}
	names, _ := CheckInlineCode("python", "open('a b'); open('a'); open(\"c\"); getattr")
	if got := strings.Join(names, " "); got != "a c" {
		t.Errorf("names of files: %q", got)
	}
	if names, _ := CheckInlineCode("python", "os.remove('a')"); strings.Join(names, " ") != "a" {
		t.Errorf("of code that does not pass: %q", names)
	}
	if names, _ := CheckInlineCode("python", "open('a\\x00')"); len(names) != 1 {
		t.Errorf("of code that hides: %q", names)
	}
	if names, ok := CheckInlineCode("node", "while(1) open('a')"); ok || len(names) != 1 {
		t.Errorf("of code that never ends: %q", names)
	}
}
