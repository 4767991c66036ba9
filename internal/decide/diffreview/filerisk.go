package diffreview

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// RatedFileRisk is the risk of a file, and the reason.
type RatedFileRisk struct {
	Risk      FileRisk
	Reasons   []string
	Collapsed bool // generated: people do not read it line by line

	order int
}

// Kinds of risk, in display order.
const (
	publicOrder = iota
	migrationOrder
	securityOrder
	testOrder
	criticalOrder
	codeOrder
	proseOrder
	writtenOrder
)

// RateFile returns the risk of a file of a change. Weaker are the known findings about tests
// that the change removes or weakens.
func RateFile(f DiffFile, weaker []nexus.Finding) RatedFileRisk {
	w := RatedFileRisk{Risk: NormalRisk, order: codeOrder}
	add := func(order int, risk FileRisk, why string) {
		w.Reasons = append(w.Reasons, why)
		if order < w.order || w.Risk == NormalRisk && risk != NormalRisk {
			w.order, w.Risk = order, risk
		}
	}
	written := isGenerated(f)
	tests := stack.IsTest(f.Path) || stack.ServesTests(f.Path)
	if name := changedPublicName(f); name != "" && !tests && !written {
		add(publicOrder, HighRisk, "changes a public interface: "+name)
	}
	if isMigration(f.Path) {
		add(migrationOrder, HighRisk, "changes data that exists: a migration")
	}
	if word := securityWord(f); word != "" && !tests {
		add(securityOrder, HighRisk, "has to do with security: "+word)
	}
	for _, one := range weaker {
		if one.File == f.Path || one.File == f.Old {
			add(testOrder, HighRisk, "weaker tests: "+nexus.OneLine(one.Message))
		}
	}
	if tests && len(weaker) == 0 && f.Status == "deleted" {
		add(testOrder, HighRisk, "a test file is deleted")
	}
	for _, c := range humaninput.CriticalFiles([]string{f.Path}) {
		add(criticalOrder, HighRisk, strings.TrimPrefix(c.Message, "the change touches it; it "))
	}
	// a risky file is shown even if it is marked as generated: the change's author may have
	// added the mark
	if written && w.Risk == NormalRisk {
		return RatedFileRisk{Risk: NoRisk, Reasons: []string{"written by a program"}, Collapsed: true, order: writtenOrder}
	}
	if w.Risk == NormalRisk && stack.IsProse(f.Path) {
		w.Risk, w.order = LowRisk, proseOrder
	}
	if isLockFile(f.Path) { // the installed versions matter, and its lines are not read
		w.Collapsed, w.order = true, writtenOrder
	}
	return w
}

// CompareRisk orders files by risk, the riskiest first, then by name.
func CompareRisk(a, b RatedFileRisk, x, y string) int {
	return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(x, y))
}

// isLockFile reports whether a file is a generated lock file.
func isLockFile(file string) bool {
	base := strings.ToLower(path.Base(file))
	installs := slices.ContainsFunc(humaninput.CriticalFiles([]string{file}),
		func(f nexus.Finding) bool { return strings.Contains(f.Message, "installed") })
	return installs && (strings.Contains(base, "lock") || strings.HasSuffix(base, ".sum") || strings.Contains(base, "shrinkwrap"))
}

// isGenerated reports whether a file is marked or named as generated. If it existed before the
// change, it must have had the mark before.
func isGenerated(f DiffFile) bool {
	base := strings.ToLower(path.Base(f.Path))
	for _, end := range []string{
		".pb.go", "_pb2.py", ".min.js", ".min.css", ".map", ".snap", "_templ.go", ".g.dart",
		"_gen.go", ".generated.ts", ".designer.cs",
	} {
		if strings.HasSuffix(base, end) {
			return true
		}
	}
	for _, dir := range []string{"node_modules/", "vendor/", "dist/"} {
		if strings.HasPrefix(f.Path, dir) || strings.Contains(f.Path, "/"+dir) {
			return true
		}
	}
	for _, h := range f.Hunks {
		for _, l := range h.Lines {
			if l.New > 10 || l.Kind == "-" {
				break
			}
			if l.Kind == "+" && f.Status != "added" {
				continue
			}
			text := strings.ToLower(l.Text)
			if strings.Contains(text, "code generated") && strings.Contains(text, "do not edit") || strings.Contains(text, "@generated") {
				return true
			}
		}
	}
	return false
}

// isMigration reports whether a file changes existing data.
func isMigration(file string) bool {
	file = strings.ToLower(file)
	for part := range strings.SplitSeq(path.Dir(file), "/") {
		if slices.Contains([]string{"migrations", "migration", "migrate", "alembic"}, part) {
			return true
		}
	}
	base := path.Base(file)
	return strings.HasSuffix(base, ".sql") || strings.Contains(base, "schema.") || strings.Contains(base, "migration")
}

// securityWord returns the word that makes a file relevant to security: in its name, or in a
// line that the change adds or removes.
func securityWord(f DiffFile) string {
	names := strings.FieldsFunc(strings.ToLower(f.Path), func(r rune) bool { return r < 'a' || r > 'z' })
	for _, word := range []string{
		"auth", "authn", "authz", "login", "session", "password", "passwd", "crypto", "secret", "secrets", "token", "tokens",
		"permission", "permissions",
		"policy", "security", "sandbox", "csrf", "cors", "oauth", "jwt", "tls", "acl", "rbac",
	} {
		if slices.Contains(names, word) {
			return word + " in its name"
		}
	}
	for _, h := range f.Hunks {
		for _, l := range h.Lines {
			text := strings.ToLower(l.Text)
			for _, sign := range []string{
				"insecureskipverify", "password", "private_key", "privatekey", "eval(", "shell=true", "verify=false",
				"dangerouslysetinnerhtml", "chmod(0o777", "0777", "setuid",
			} {
				if l.Kind != " " && strings.Contains(text, sign) {
					return sign + " in a changed line"
				}
			}
		}
	}
	return ""
}

// changedPublicName returns the first public declaration that a change removes or changes, or
// "" if there is none. Additions break nothing.
func changedPublicName(f DiffFile) string {
	ext := path.Ext(f.Path)
	internal := strings.HasPrefix(f.Path, "internal/") || strings.Contains(f.Path, "/internal/")
	for _, h := range f.Hunks {
		for _, l := range h.Lines {
			if l.Kind != "-" || internal {
				continue
			}
			if name := declaredName(ext, l.Text); name != "" {
				return name
			}
		}
	}
	switch ext {
	case ".proto", ".graphql", ".thrift", ".avsc":
		return "an interface between programs"
	}
	base := strings.ToLower(path.Base(f.Path))
	if strings.HasPrefix(base, "openapi.") || strings.HasPrefix(base, "swagger.") {
		return "an interface between programs"
	}
	return ""
}

// declaredName returns the public declaration in a line, or "".
func declaredName(ext, line string) string {
	words := strings.Fields(strings.TrimSpace(line))
	if len(words) < 2 {
		return ""
	}
	switch ext {
	case ".go":
		return declaredGoName(line, words)
	case ".ts", ".tsx", ".js", ".jsx", ".mjs":
		if words[0] == "export" {
			return strings.Join(words[:min(3, len(words))], " ")
		}
	case ".rs":
		if words[0] == "pub" {
			return strings.Join(words[:min(3, len(words))], " ")
		}
	case ".java", ".kt", ".cs", ".php", ".scala":
		if words[0] == "public" {
			return strings.Join(words[:min(4, len(words))], " ")
		}
	case ".py":
		if (words[0] == "def" || words[0] == "class") && !strings.HasPrefix(line, " ") && !strings.HasPrefix(words[1], "_") {
			return words[0] + " " + leadingIdentifier(words[1])
		}
	}
	return ""
}

func declaredGoName(line string, words []string) string {
	upper := func(name string) bool { return name != "" && name[0] >= 'A' && name[0] <= 'Z' }
	switch words[0] {
	case "func":
		name := words[1]
		if strings.HasPrefix(name, "(") {
			_, rest, _ := strings.Cut(line, ")")
			name = strings.TrimSpace(rest)
		}
		if name = leadingIdentifier(name); upper(name) && !strings.HasPrefix(name, "Test") && !strings.HasPrefix(name, "Fuzz") {
			return "func " + name
		}
	case "type", "var", "const":
		if name := leadingIdentifier(words[1]); upper(name) {
			return words[0] + " " + name
		}
	}
	return ""
}

// leadingIdentifier returns the name at the start of a text.
func leadingIdentifier(text string) string {
	end := strings.IndexFunc(text, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	if end < 0 {
		return text
	}
	return text[:end]
}

// MostPatch is the maximum size of a patch from git, in bytes: a longer one is cut.
const MostPatch = 16 << 20

// RiskyFiles returns the files of a change that a person should review, with reasons.
func RiskyFiles(patch string, weaker []nexus.Finding) []string {
	var all []string
	for _, f := range ParseDiff(patch) {
		if w := RateFile(f, weaker); w.Risk == HighRisk {
			all = append(all, f.Path+": "+w.Reasons[0])
		}
	}
	if len(patch) >= MostPatch {
		all = append(all, "the change is too long: not all of it was looked at")
	}
	return all
}
