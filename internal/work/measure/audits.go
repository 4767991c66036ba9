package measure

import (
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus/pattern"
)

// Auditor is a program that finds known vulnerabilities in the packages of a lock file.
type Auditor struct {
	File  string   // name of the lock file
	Found string   // pattern of an output line with a vulnerability
	Args  []string // its command, which runs in the directory of the file
}

// auditRow matches a line of the audit script with a file and its program.
var auditRow = pattern.Lazy(`(?m)^\t([\w.-]+)\) look '([^']+)' (.+) ;;$`)

// lockName matches a file name that the audit script searches for.
var lockName = pattern.Lazy(`-name ([\w.-]+)`)

// UnauditedLockFiles returns the names of lock files for which there is no program.
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

// Auditors returns the programs of the audit.
func Auditors() []Auditor {
	var all []Auditor
	for _, m := range auditRow().FindAllStringSubmatch(audit, -1) {
		all = append(all, Auditor{m[1], m[2], strings.Fields(m[3])})
	}
	return all
}
