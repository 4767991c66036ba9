package script

import (
	"regexp"
	"slices"
	"strings"
)

// Prints reports whether code of Python or JavaScript that is given as an
// argument only calculates, reads files that it names and prints, and which
// files those are. It does not understand the languages: every word of the
// code that could lead to more is refused, in texts too.
func Prints(language, code string) (files []string, ok bool) {
	if imports := regexp.MustCompile(`^(import ([\w.]+)|from ([\w.]+) import (\w+))(; *print\(('[^'\\]*'|"[^"\\]*")\))?$`); language == "python" && imports.MatchString(code) {
		found := imports.FindStringSubmatch(code) // it looks whether that is there
		return nil, !slices.ContainsFunc(strings.Split(found[2]+"."+found[3]+"."+found[4], "."), func(w string) bool { return w != "import" && leads(strings.ToLower(w)) })
	}
	if len(code) > 2000 || !strings.Contains(code, "print(") && !strings.Contains(code, "console.log(") && !strings.HasPrefix(code, "require(") || strings.ContainsAny(code, "\\`") {
		return nil, false
	}
	if language == "python" && regexp.MustCompile(`^import ([a-z]+)[;\n] *print\(([a-z]+)\.__version__\)$`).MatchString(code) {
		return nil, true
	}
	opens, spared := pythonOpens(), python
	if language != "python" {
		opens, spared = nodeOpens(), node
	}
	code = opens.ReplaceAllStringFunc(code, func(s string) string {
		files = append(files, opens.FindStringSubmatch(s)[2])
		return "read"
	})
	code = spared(code)
	for word := range strings.FieldsFuncSeq(code, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r < 0x80
	}) {
		if strings.HasPrefix(word, "_") || strings.ContainsFunc(word, func(r rune) bool { return r >= 0x80 }) || leads(strings.ToLower(word)) {
			return nil, false
		}
	}
	return files, true
}

// python takes imports of known modules away, and what tells their version.
func python(code string) string {
	imports, modules := regexp.MustCompile(`(?m)(^|[;:]|\n)\s*import\s+([a-z0-9_, ]+)`), pythonModules()
	code = imports.ReplaceAllStringFunc(code, func(s string) string {
		for m := range strings.SplitSeq(imports.FindStringSubmatch(s)[2], ",") {
			if !slices.Contains(modules, strings.TrimSpace(m)) {
				return s
			}
		}
		return ";"
	})
	return strings.NewReplacer(".__version__", "", ".__name__", "").Replace(code)
}

// node takes away what tells of the process; a bracket that may hold the name of
// a member which is calculated makes the whole code one that leads on.
func node(code string) string {
	code = regexp.MustCompile(`\bprocess\.(version|versions|platform|arch)\b(\.[a-z0-9]+)?`).ReplaceAllString(code, "1")
	plain := regexp.MustCompile(`\[\s*((\d+|'[^'"\[\]]*'|"[^'"\[\]]*")\s*,?\s*)*\]`) // a member by its name or number, a list of values
	if strings.Contains(plain.ReplaceAllString(code, ""), "[") {
		return "eval"
	}
	return code
}

// leads reports whether a word may lead to files, processes or other code.
func leads(word string) bool {
	for _, part := range []string{
		"open", "exec", "eval", "import", "require", "system", "spawn", "fork", "process", "module", "builtin", "global", "constructor", "prototype",
		"function", "attr", "compile", "loads_", "pickle", "marshal", "ctypes", "socket", "subproc", "shutil", "urllib", "http", "fetch", "write",
		"unlink", "remove", "rmdir", "chmod", "path", "environ", "getenv", "breakpoint", "input", "codecs", "runpy", "locals", "vars", "loader", "binding",
		"reflect", "proxy", "generator", "websocket", "eventsource", "broadcast", "inspector", "readline", "async", "await", "worker", "load_", "fromfile", "tofile", "savetxt", "genfromtxt", "memmap", "dump_", "save", "popen", "kill",
	} {
		if strings.Contains(word, part) {
			return true
		}
	}
	for _, inside := range []string{"gi_", "cr_", "ag_", "tb_", "f_", "co_"} { // of generators and frames
		if strings.HasPrefix(word, inside) {
			return true
		}
	}
	return slices.Contains([]string{"v8", "tls", "dns", "dgram", "cluster", "repl", "tty", "wasi", "util", "stream", "zlib", "os", "fs", "vm", "net", "dir", "help", "this", "with", "lambda_", "child", "io", "file", "code", "pty", "deno", "bun", "self"}, word)
}

func pythonModules() []string {
	return []string{
		"json", "sys", "re", "math", "datetime", "time", "collections", "itertools", "functools", "textwrap", "statistics", "decimal", "fractions",
		"hashlib", "base64", "struct", "platform", "tomllib",
	}
}

// pythonOpens is open of a file that is named, to be read.
func pythonOpens() *regexp.Regexp {
	return regexp.MustCompile(`\bopen\(\s*(['"])([\w./-]+)['"]\s*(?:,\s*['"]rb?['"]\s*)?\)`)
}

// nodeOpens is require of a file of data that is named.
func nodeOpens() *regexp.Regexp {
	return regexp.MustCompile(`\brequire\(\s*(['"])(\./[\w./-]+\.json)['"]\s*\)`)
}
