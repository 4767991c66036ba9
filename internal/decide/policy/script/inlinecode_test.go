package script

import (
	"strings"
	"testing"
)

func TestInline(t *testing.T) {
	for _, c := range []struct {
		language, code string
		names          string
		want           bool
	}{
		{"python", "print(1)", "", true},
		{"python", "import json; print(json.load(open('a/b.json'))['x'], open(\"c\").read())", "a/b.json x c", true},
		{"python", "import numpy; print(numpy.__version__)", "", true},
		{"python", "import mine.parts as p; print(p.count(3))", "", true},
		{"python", "import os; print(os.listdir('a'))", "a", true},
		{"python", "import os; os.remove('a')", "", false},
		{"python", "open('x','w').write('\\x6f')", "", false},
		{"python", "getattr(o, 's' + 'ystem')('id')", "", false},
		{"python", "while True: open('f','a').write('x')", "", false},
		{"node", "console.log(1)", "", true},
		{"node", "require('./package.json').version", "./package.json", true},
		{"node", "require('/etc/passwd.json')", "/etc/passwd.json", true},
		{"node", "require('child_' + 'process')", "", false},
		{"node", "console.log(process.env)", "", false},
		{"node", "console.log(process.version, a[k])", "", true},
		{"node", "a['ex' + 'port']()", "", false},
		{"ruby", "puts %x(ls)", "", false},
		{"ruby", "puts `ls`", "", false},
		{"perl", "s/a/b/g", "", true},
		{"perl", "s/a/ls/e", "", false},
		{"perl", "print if $. > 3; s|/a|/b|", "", true},
		{"perl", "unlink 'a'", "", false},
		{"php", "echo PHP_VERSION;", "", true},
		{"php", "$f('ls');", "", false},
	} {
		names, ok := CheckInlineCode(c.language, c.code)
		if ok != c.want || ok && strings.Join(names, " ") != c.names {
			t.Errorf("%s: %q, %v", c.code, names, ok)
		}
	}
}

func FuzzInline(f *testing.F) {
	f.Add("python", "import json; print(json.load(open('x'))['a'])")
	f.Add("node", "console.log(require('./x.json').a[0])")
	f.Add("perl", "s/a/b/g; print if $. > 3")
	f.Add("ruby", "puts File.read('a').lines.size")
	f.Fuzz(func(t *testing.T, language, code string) {
		if _, ok := CheckInlineCode(language, code); !ok || language == "perl" { // what a pattern of Perl's matches may be any word
			return
		}
		for _, bad := range []string{"__import__", "system(", "exec(", "eval(", "child_process", "constructor", "subprocess", "fork", "urllib", "\\x"} {
			if strings.Contains(code, bad) {
				t.Errorf("%s: %q", language, code)
			}
		}
	})
}
