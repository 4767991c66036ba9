package measure

import (
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus/pattern"
)

// Auditor is a program that looks for known faults in what a lock file names.
type Auditor struct {
	File  string   // name of the lock file
	Found string   // pattern of a line of its output, where it found some
	Args  []string // its command, which runs where the file is
}

// auditRow is a line of the audit that says who looks into a file.
var auditRow = pattern.Lazy(`(?m)^\t([\w.-]+)\) look '([^']+)' (.+) ;;$`)

// lockName is a name that the audit looks for.
var lockName = pattern.Lazy(`-name ([\w.-]+)`)

// UnauditedLockFiles lists the names of lock files that no program looks into.
func UnauditedLockFiles() []string {
	_, names, _ := strings.Cut(audit, "-type f")
	names, _, _ = strings.Cut(names, "-print")
	var all []string
	for _, m := range lockName().FindAllStringSubmatch(names, -1) {
		if !slices.ContainsFunc(Auditors(), func(a Auditor) bool { return a.File == m[1] }) {
			all = append(all, m[1])
		}
	}
	return all
}

// Auditors lists the programs that the audit asks.
func Auditors() []Auditor {
	var all []Auditor
	for _, m := range auditRow().FindAllStringSubmatch(audit, -1) {
		all = append(all, Auditor{m[1], m[2], strings.Fields(m[3])})
	}
	return all
}
