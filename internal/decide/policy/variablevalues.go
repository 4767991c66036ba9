package policy

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/pathkind"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
)

// isHarmlessValue reports whether a variable that can start programs has a value that starts
// none: a flag that is listed here, or a pager that only prints.
func isHarmlessValue(name string, v shell.Word) bool {
	if v.Dynamic || v.Glob {
		return false
	}
	switch name {
	case "PAGER", "GIT_PAGER", "MANPAGER":
		return v.Text == "cat" || v.Text == ""
	case "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "EDITOR", "VISUAL":
		return v.Text == "true" || v.Text == ":"
	case "GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS", "GIT_CONFIG_NOSYSTEM":
		return v.Text == "0" || v.Text == "1"
	case "GOFLAGS":
		return hasOnlyFlags(v.Text, "-mod", "-tags", "-count", "-p", "-race", "-v", "-trimpath", "-buildvcs", "-short", "-timeout", "-run")
	case "NODE_OPTIONS":
		return hasOnlyFlags(v.Text, "--max-old-space-size", "--max_old_space_size", "--max-semi-space-size", "--no-experimental-strip-types", "--conditions", "--no-warnings", "--enable-source-maps", "--trace-warnings", "--trace-deprecation", "--no-deprecation",
			"--unhandled-rejections", "--experimental-vm-modules", "--openssl-legacy-provider", "--stack-trace-limit", "--dns-result-order")
	case "UV_NO_SYNC", "UV_FROZEN", "UV_OFFLINE", "UV_LOCKED", "CARGO_INCREMENTAL", "CARGO_NET_OFFLINE", "PIP_DISABLE_PIP_VERSION_CHECK", "PIP_NO_INPUT":
		return v.Text == "1" || v.Text == "true" || v.Text == "0" && name == "CARGO_INCREMENTAL"
	case "RUBYOPT":
		return hasOnlyFlags(v.Text, "-w", "-W0", "-W1", "-W2", "-W:no-deprecated", "-W:no-experimental", "--yjit", "--enable", "--disable")
	case "CARGO_TERM_COLOR":
		return v.Text == "always" || v.Text == "never" || v.Text == "auto"
	case "RUSTFLAGS", "RUSTDOCFLAGS":
		return hasOnlyLintFlags(v.Text)
	case "MAKEFLAGS":
		return v.Text != "" && strings.Trim(v.Text, "-jks0123456789 ") == ""
	case "PYTHONWARNINGS":
		return slices.Contains([]string{"error", "default", "ignore", "always", "once", "module"}, v.Text)
	case "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS":
		return regexp.MustCompile(`^(-Xm[sx]\d+[mMgG] ?|-Xss\d+[kmKM] ?|-Dfile\.encoding=[\w-]+ ?)+$`).MatchString(v.Text)
	}
	tuned := regexp.MustCompile(`^(UV|CARGO|PIP|NPM_CONFIG|OPENAI|GEMINI|ANTHROPIC)_`).MatchString(strings.ToUpper(name)) && !regexp.MustCompile(`(?i)verify|trust|ssl|tls|insecure|audit|index|url|python|wrapper|rustc|linker|runner|path|dir|home|shell|registry|config_.*config|proxy|git|cmd|script`).MatchString(name)
	return tuned && len(v.Text) < 7 && v.Text != "" && (strings.Trim(v.Text, "0123456789.") == "" || v.Text == "true" || v.Text == "false")
}

// hasOnlyFlags reports whether a text consists of these flags, each alone or with a value after an
// equals sign that is not a path.
func hasOnlyFlags(text string, known ...string) bool {
	for f := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(f, "=")
		if !slices.Contains(known, name) || strings.ContainsAny(value, `/\'"$`) {
			return false
		}
	}
	return true
}

// hasOnlyLintFlags reports whether flags of the Rust compiler only set lint levels and the amount of
// debugging data.
func hasOnlyLintFlags(text string) bool {
	f := strings.Fields(text)
	for i := 0; i < len(f); i++ {
		switch {
		case slices.Contains([]string{"-D", "-W", "-A"}, f[i]) && i+1 < len(f):
			i++
		case f[i] == "-C" && i+1 < len(f):
			i++
			if !hasOnlyFlags(f[i], "debuginfo", "opt-level", "debug-assertions", "overflow-checks", "target-cpu", "panic") {
				return false
			}
		case len(f[i]) > 2 && slices.Contains([]string{"-D", "-W", "-A"}, f[i][:2]):
		default:
			return false
		}
	}
	return len(f) > 0
}

// setsIFSForRead reports whether a call sets IFS only for reading words: the command line itself is
// split as before.
func setsIFSForRead(n *syntax.CallExpr) bool {
	return len(n.Args) > 0 && slices.Contains([]string{"read", "mapfile", "readarray"}, n.Args[0].Lit())
}

// decodeSingleQuoted returns the value of a text in single quotes, also with escapes ($'...'), and
// whether it is known.
func decodeSingleQuoted(p *syntax.SglQuoted) (string, bool) {
	if !p.Dollar || !strings.Contains(p.Value, `\`) {
		return p.Value, true
	}
	text, err := expand.Literal(nil, &syntax.Word{Parts: []syntax.WordPart{p}})
	return text, err == nil && text != "" && !strings.ContainsRune(text, 0)
}

// appendsToPATH reports whether a value of PATH is the old one followed by directories of the tree,
// of /tmp or of dependencies: such directories cannot replace existing programs.
func (j *lineJudge) appendsToPATH(w *syntax.Word) bool {
	parts := w.Parts
	if len(parts) == 1 {
		if q, ok := parts[0].(*syntax.DblQuoted); ok {
			parts = q.Parts
		}
	}
	if len(parts) < 2 {
		return false
	}
	if p, ok := parts[0].(*syntax.ParamExp); !ok || !p.Short || p.Param == nil || p.Param.Value != "PATH" {
		return false
	}
	rest := j.evaluateWord(&syntax.Word{Parts: parts[1:]})
	if rest.Dynamic || rest.Glob || !strings.HasPrefix(rest.Text, ":") {
		return false
	}
	for dir := range strings.SplitSeq(rest.Text[1:], ":") {
		if at, _ := j.locatePath(shell.LiteralWord(dir)); !path.IsAbs(dir) || at != pathkind.Tree && at != pathkind.Tmp && at != pathkind.System && at != pathkind.Cache {
			return false
		}
	}
	return true
}
