package script

import (
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/program"
)

// CheckInlineCode reports whether code of Python, JavaScript, Ruby, Perl or PHP on the command line
// may run, and returns the texts in it that may be names of files. In the sandbox such code
// can do no more than a test of the project, so it is allowed unless a word in it leads to
// other programs, the network, the environment, code that is not visible, or the removal of
// files. The check does not parse the languages; code that hides its words is not allowed.
func CheckInlineCode(language, code string) (names []string, ok bool) {
	if len(code) > 4000 || hidesWords(language, code) {
		return quotedTexts(code), false
	}
	if language == "perl" && isPlainPerl(code) {
		return nil, true // its slashes are those of patterns
	}
	if language == "python" && onlyPrintsVersions(code) {
		return nil, true
	}
	code = dropHarmlessNames(language, code)
	lower := strings.ToLower(code)
	for word := range strings.FieldsFuncSeq(lower, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && r < 0x80
	}) {
		if strings.ContainsFunc(word, func(r rune) bool { return r >= 0x80 }) || isDangerousWord(word) {
			return quotedTexts(code), false
		}
	}
	if mayNotEnd(lower) || loadsHiddenCode(language, code) {
		return quotedTexts(code), false
	}
	return quotedTexts(code), true
}

// hidesWords reports whether code contains character escapes or composed names, so that its words
// do not show its effect.
func hidesWords(language, code string) bool {
	if regexp.MustCompile(`\\(x|u|U|N|c|[0-7])`).MatchString(code) || strings.ContainsFunc(code, IsUnusualRune) {
		return true
	}
	if language != "node" && strings.Contains(code, "`") { // it runs a program
		return true
	}
	// composed texts
	built := regexp.MustCompile(`concat|reverse|\.raw|join\(\s*(''|"")|['"\x60]\s*\+|\+\s*['"\x60]|replace|split|slice|substr|\$\{`)
	member := regexp.MustCompile(`[\w)\]]\s*\[\s*[A-Za-z_$][\w$]*\s*\]|[\w)\]]\s*\[[^\]]*,|\?\.\[|[{,]\s*\[\w+\]\s*:`)
	if language == "node" && member.MatchString(code) && (built.MatchString(code) || regexp.MustCompile(`\?\.\[|[{,]\s*\[\w+\]\s*:`).MatchString(code)) {
		return true
	}
	// a member with a composed name
	joined := regexp.MustCompile(`\[[^\]]*['"\x60][^\]]*\+|\+[^\]\[]*['"\x60][^\]\[]*\]`)
	return language == "node" && joined.MatchString(code)
}

// dropHarmlessNames removes names that only return data about the process and about modules.
func dropHarmlessNames(language, code string) string {
	switch language {
	case "node":
		return regexp.MustCompile(`\bprocess\.(version|versions|platform|arch|argv|stdout|stderr|stdin|exit|exitCode|cwd|uptime|hrtime|memoryUsage)\b`).ReplaceAllString(code, "it")
	case "php": // a file of the tree, whose name is judged
		code = regexp.MustCompile(`\b(require|include)(_once)?\s*\(?\s*(__DIR__\s*\.\s*['"]/|['"])[a-z][\w/-]*(\.[\w-]+)*['"]\s*\)?\s*;`).ReplaceAllString(code, "it;")
	case "python":
		code = regexp.MustCompile(`\b(importlib\.(metadata|util\.find_spec|resources|import_module\(\s*(['"])[\w.]+['"]\s*\)))|\bimportlib\b|__(version|name|file|doc|all|len|main|path)__|\bre\.compile\b|\bpathlib\b|\bimport asyncio\b|\basyncio\.(run|sleep|gather|wait_for|create_task|Event|Lock|Queue|timeout)\b`).ReplaceAllString(code, "it")
		code = removePlainSettings(code)
	}
	return code
}

// onlyPrintsVersions reports whether Python code only prints the versions or paths of modules.
func onlyPrintsVersions(code string) bool {
	return regexp.MustCompile(`^import [\w., ]+; *print\( *[A-Za-z]\w*(\.\w+)*\.__(version|file)__( *, *[A-Za-z]\w*(\.\w+)*\.__(version|file)__)* *\);?$`).MatchString(strings.TrimSpace(code))
}

// removePlainSettings removes statements in which Python code sets a variable of its own environment to
// a plain word.
func removePlainSettings(code string) string {
	set := regexp.MustCompile(`\bos\.environ(?:\.setdefault\(\s*|\[)(['"])(\w+)['"](?:\]\s*=|\s*,)\s*['"][\w.:-]*['"]\s*\)?`)
	return set.ReplaceAllStringFunc(code, func(s string) string {
		if name := set.FindStringSubmatch(s)[2]; program.IsPowerfulVariable(name) || program.IsHiddenVariable(name) {
			return s
		}
		return "it"
	})
}

// loadsHiddenCode reports whether code loads other code in a way that its words do not show: a module
// with a computed name, or a language's own short form.
func loadsHiddenCode(language, code string) bool {
	switch language {
	case "node":
		return regexp.MustCompile(`\b(require|import)\s*\(\s*[^'"\s]|\b(require|import)\s*\(\s*['"][^'"]*['"]\s*[^)\s]|\brequire\b\s*[^(\s.]|\bFunction\b`).MatchString(code)
	case "ruby":
		return regexp.MustCompile(`\b(File|Dir|IO|Pathname)\b.*\.delete|\.delete\b.*\b(File|Dir)\b|%x|['"]\||\bsend\b|\bopen\b|<<~?['"]?\w*\x60`).MatchString(code)
	case "perl":
		return regexp.MustCompile(`\bqx\b|\bopen\b|\bdo\s*['"$(]|\brequire\b|<[^>]*[*?][^>]*>|\b(s|y|tr)\W.*\W[a-z]*e[a-z]*\b|@\{\[|\bpipe\b|%ENV|\$ENV|\|`).MatchString(code)
	case "php":
		return regexp.MustCompile(`\$\w+\s*\(|\$\$|\binclude\b|\brequire\b|\bassert\b|call_user|\bini_set|\bdl\b|\bnew\s*\$`).MatchString(code)
	}
	return false
}

// isPlainPerl reports whether Perl code only substitutes and prints.
func isPlainPerl(code string) bool {
	for part := range strings.SplitSeq(code, ";") {
		part = strings.TrimSpace(part)
		if part == "" || regexp.MustCompile(`^print( if (\$\. *[<>=]+ *\d+|/[^/$@\\]*/i?))?$`).MatchString(part) {
			continue
		}
		rest, ok := skipSubstitution(strings.Replace(part, "tr", "y", 1))
		if len(part) < 4 || !regexp.MustCompile(`^(s|y|tr)[^\w\s({\[<'"]`).MatchString(part) {
			return false
		}
		if flags := strings.Trim(rest, "gimsx"); !ok && flags != "" || ok && rest != "" || strings.Contains(part, "(?{") || strings.Contains(part, "(??") || strings.Contains(part, "@{") || strings.Contains(part, "${") {
			return false
		}
	}
	return true
}

// mayNotEnd reports whether code may never end, or produce very much data.
func mayNotEnd(code string) bool {
	return regexp.MustCompile(`\bwhile\s*\(?\s*(1|true|!0)\b|\bfor\s*\(\s*;\s*;|\bloop\s*(do|\{)|\bcycle\b|1e[6-9]|1e\d\d|\*\*\s*([6-9]|\d\d)|\d{8}|<<\s*[23]\d`).MatchString(code)
}

// quotedTexts returns the quoted texts without spaces.
func quotedTexts(code string) (all []string) {
	for _, m := range regexp.MustCompile(`'([^'\s]*)'|"([^"\s]*)"|\x60([^\x60\s]*)\x60`).FindAllStringSubmatch(code, -1) {
		all = append(all, m[1]+m[2]+m[3])
	}
	return all
}

// isDangerousWord reports whether a word leads to other programs, the network, the environment, code
// that is not visible, home directories, or the removal of files.
func isDangerousWord(word string) bool {
	for _, part := range []string{
		"system", "popen", "spawn", "exec", "fork", "subproc", "child_", "ctypes", "cffi", "dlopen", "multiprocess", "worker", "cluster",
		"eval", "compile", "getattr", "setattr", "globals", "locals", "builtin", "marshal", "pickle", "base64", "codecs", "fromhex", "unhexlify", "atob", "charcode",
		"constructor", "prototype", "reflect", "runpy", "rot13", "zlib", "importlib", "__", "loadurl", "import_module", "const_get", "method", "binding", "call_user",
		"socket", "urllib", "http", "requests", "ftp", "smtp", "telnet", "fetch", "dgram", "xmlrpc", "websocket", "paramiko", "curl", "wget", "lwp", "passthru", "proc_",
		"environ", "getenv", "putenv", "dotenv", "keyring", "getpass", "expanduser", "home", "printenv", "phpinfo", "get_defined", "_server", "_env",
		"unlink", "removed", "usersite", "rmtree", "rmdir", "rmsync", "rm_r", "shutil", "fileutils", "truncate", "chmod", "chown", "symlink", "signal", "ioctl", "mmap", "breakpoint", "inspector",
		"file_get_contents_", "fsockopen", "stream_", "instance_", "class_eval", "autoload", "sysopen", "kernel", "webbrowser", "mainmodule", "open3", "capture2", "capture3", "settrace", "setprofile", "get_field", "formatter", "download", "pretrained",
	} {
		if strings.Contains(word, part) {
			return true
		}
	}
	// of generators and frames
	for _, inside := range []string{"gi_", "cr_", "ag_", "tb_", "co_", "f_back", "f_globals", "f_builtins", "f_locals"} {
		if strings.HasPrefix(word, inside) {
			return true
		}
	}
	return slices.Contains([]string{
		"net", "tls", "dns", "vm", "v8", "antigravity", "this", "repl", "pty", "tty", "env", "process", "global", "globalthis", "vars", "remove", "rm", "chr", "pack", "unpack", "kill", "io", "sep", "parents", "pardir",
		"sh", "bash", "hub", "code", "deno", "bun", "proxy", "mail", "send", "trap", "dir_", "boto", "boto3", "pip", "delete_", "dup2", "fd", "startfile", "posix", "nt", "ssl", "asyncio", "aiohttp", "httpx",
	}, word)
}
