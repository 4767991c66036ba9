// Package program contains the policy's tables about programs and environment variables.
package program

import (
	_ "embed" // the tables
	"path"
	"regexp"
	"slices"
	"strings"
)

//go:embed variables.txt
var variables string

//go:embed commands.txt
var commands string

// ProgramRule is the table's entry for a program.
type ProgramRule struct {
	Answer   string // allow, ask or deny
	Rule     string
	Operands string   // text, read, pattern, write, delete or none
	Asked    []string // options
}

// OnlyReads reports whether the program can only read its operands, whatever they are.
func (e ProgramRule) OnlyReads() bool {
	harmless := len(e.Asked) == 0 || len(e.Asked) == 1 && e.Asked[0] == "--files0-from"
	return e.Answer == "allow" && harmless && (e.Operands == "read" || e.Operands == "pattern")
}

// FindProgram returns the table's entry for a program.
func FindProgram(name string) (ProgramRule, bool) {
	for text := range strings.Lines(commands) {
		f := strings.Split(text, "|")
		if len(f) < 4 || strings.HasPrefix(text, "#") {
			continue
		}
		for known := range strings.FieldsSeq(f[3]) {
			if known == name {
				e := ProgramRule{Answer: strings.TrimSpace(f[0]), Rule: strings.TrimSpace(f[1]), Operands: strings.TrimSpace(f[2])}
				if len(f) > 4 {
					e.Asked = strings.Fields(f[4])
				}
				return e, true
			}
		}
	}
	return ProgramRule{}, false
}

// isInVariableList reports whether a name is in one of the lists of variables.
func isInVariableList(list, name string) bool {
	if list != "allow" {
		name = strings.ToUpper(name)
	}
	for line := range strings.Lines(variables) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] != list {
			continue
		}
		if slices.ContainsFunc(f[1:], func(p string) bool { ok, _ := path.Match(p, name); return ok }) {
			return true
		}
	}
	return false
}

// IsPowerfulVariable reports whether a variable starts programs or changes which ones run.
func IsPowerfulVariable(name string) bool { return isInVariableList("deny", name) }

// IsHarmlessVariable reports whether a variable may be passed to programs.
func IsHarmlessVariable(name string) bool { return isInVariableList("allow", name) }

// IsKnownVariable reports whether a variable is well known and contains no secret.
func IsKnownVariable(name string) bool {
	return IsHarmlessVariable(name) || slices.Contains([]string{"PATH", "HOME", "SHELL", "USER", "PWD", "EDITOR", "PAGER", "GOFLAGS", "GOROOT", "GOPATH", "JAVA_HOME", "VIRTUAL_ENV", "TMPDIR"}, name)
}

// IsHiddenVariable reports whether a variable's value must not be shown.
func IsHiddenVariable(name string) bool { return isInVariableList("hide", name) }

// IsToggle reports whether a setting's value only means on, off or a number, and its name does
// not refer to programs, paths or trust.
func IsToggle(name, value string) bool {
	switch strings.ToLower(value) {
	case "true", "false", "yes", "no", "on", "off":
	default:
		if value == "" || len(value) > 9 || strings.Trim(value, "0123456789.") != "" {
			return false
		}
	}
	return hasNeutralName(name)
}

// IsPlainSetting reports whether an unknown variable has a plain text value, and a name that does not
// refer to programs, paths or trust: only the tree's own code may read it. The value must not
// name a path outside.
func IsPlainSetting(name, value string) bool {
	if IsToggle(name, value) {
		return true
	}
	upper := strings.ToUpper(name)
	switch {
	case slices.Contains([]string{"CC", "CXX", "LD", "AR", "HOSTCC", "FC", "STRIP", "RANLIB", "NM", "OBJCOPY"}, upper):
		program, flags, _ := strings.Cut(value, " ")
		return regexp.MustCompile(`^([a-z0-9_]+(-[a-z0-9_]+)*-)?(gcc|g\+\+|clang|clang\+\+|cc|c\+\+|tcc|ld|lld|ar|strip|ranlib|nm|objcopy|gfortran)(-\d+(\.\d+)?)?$`).MatchString(program) && hasOnlyHarmlessFlags(flags)
	case slices.Contains([]string{"CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "MOREFLAGS", "EXTRA_CFLAGS", "FFLAGS", "CGO_CFLAGS", "CGO_LDFLAGS", "CGO_CXXFLAGS", "ASFLAGS", "LIBS", "LDLIBS"}, upper):
		return hasOnlyHarmlessFlags(value)
	case upper == "BUNDLE_GEMFILE":
		return regexp.MustCompile(`^\w[\w./-]*$`).MatchString(value) && !strings.Contains(value, "..")
	}
	if !hasNeutralName(name) || len(value) > 200 || regexp.MustCompile(`["$\x60\\~;|&<>(){}\n!]|(^|[=:, ])/|\.\.|@|-\w*(plugin|wrapper|exec|specs|load|require|agent|eval|import)|-B|-Xlinker|-fuse`).MatchString(regexp.MustCompile(`://(/\./)?`).ReplaceAllString(value, " ")) {
		return false
	}
	if host := regexp.MustCompile(`://([^/:?]*)`).FindStringSubmatch(value); host != nil && host[1] != "localhost" && host[1] != "127.0.0.1" {
		return false
	}
	return !slices.ContainsFunc([]string{
		"LINK", "PKG_CONFIG", "KUBE", "CONFIG_FILE", "CERT", "SSL", "FZF", "TOOL", "INTERPRETER", "LIB", "INIT", "SCRIPT", "INDEX", "MIRROR", "MODULE", "PYTHON", "NODE", "RUBY", "PERL", "JAVA", "BASH", "PHP", "CARGO", "RUST", "BIN", "SDK",
		"STARTUP", "SPAWN", "VIEWER", "DIFF", "OPEN", "EXT", "LOAD", "BROWSER", "ASKPASS", "SSH", "GIT", "NPM", "YARN", "MAVEN", "GRADLE", "DOTNET", "MSBUILD", "CMAKE", "COMPOSER", "BUNDLE", "GEM_", "RC", "TMP", "HOME", "PREFIX", "ROOT",
	}, func(part string) bool { return strings.Contains(upper, part) }) && !slices.Contains([]string{"CC", "CXX", "CPP", "LD", "AR", "AS", "NM", "FC", "RM", "AWK", "SED", "INSTALL", "LEX", "YACC", "CLASSPATH", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS"}, upper)
}

// hasOnlyHarmlessFlags reports whether compiler or linker flags name no program, plugin or path outside.
func hasOnlyHarmlessFlags(value string) bool {
	for f := range strings.FieldsSeq(value) {
		if !strings.HasPrefix(f, "-") || regexp.MustCompile(`plugin|wrapper|specs|^-B|@|Xclang|Xlinker|Xassembler|fuse-ld=.*/|dynamic-linker|-load|[\x60$;|&]|\.\.|~|(^|[^\w.])/(opt|home|root|etc|var|tmp|srv|mnt|dev|proc|run)|=/`).MatchString(f) {
			return false
		}
	}
	return true
}

// hasNeutralName reports whether a variable's name does not refer to programs, paths or trust.
func hasNeutralName(name string) bool {
	upper := strings.ToUpper(name)
	return !IsPowerfulVariable(name) && !slices.ContainsFunc([]string{
		"SHELL", "EDITOR", "PAGER", "CMD", "COMMAND", "EXEC", "PROG", "COMPILER", "LAUNCHER", "WRAPPER", "RUNNER", "PRELOAD", "PATH", "PLUGIN", "HOOK", "PROXY",
		"REGISTRY", "TLS", "VERIFY", "INSECURE", "UNSAFE", "TRUST", "UNAUTHORIZED", "ALLOW", "CHECKSUM", "NOSUM", "EVENT", "AGENT", "JVM", "FORK", "CLASS",
	}, func(part string) bool { return strings.Contains(upper, part) })
}
