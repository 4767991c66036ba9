package changemetrics

import (
	"regexp"
	"slices"
	"strings"
)

// DependencyAuditProgram is a program that finds known vulnerabilities in the packages of a lock file.
type DependencyAuditProgram struct {
	File  string   // name of the lock file
	Found string   // pattern of an output line with a vulnerability
	Args  []string // its command, which runs in the directory of the file
}

// auditRow matches a line of the audit script with a file and its program.
var auditRow = regexp.MustCompile(`(?m)^\t([\w.-]+)\) look '([^']+)' (.+) ;;$`)

// lockName matches a file name that the audit script searches for.
var lockName = regexp.MustCompile(`-name ([\w.-]+)`)

// UnauditedLockFiles returns the names of lock files for which there is no program.
func UnauditedLockFiles() []string {
	_, names, _ := strings.Cut(audit, "-type f")
	names, _, _ = strings.Cut(names, "-print")
	var all []string
	for _, m := range lockName.FindAllStringSubmatch(names, -1) {
		if !slices.ContainsFunc(AuditPrograms(), func(a DependencyAuditProgram) bool { return a.File == m[1] }) {
			all = append(all, m[1])
		}
	}
	return all
}

// AuditPrograms returns the programs of the audit.
func AuditPrograms() []DependencyAuditProgram {
	var all []DependencyAuditProgram
	for _, m := range auditRow.FindAllStringSubmatch(audit, -1) {
		all = append(all, DependencyAuditProgram{m[1], m[2], strings.Fields(m[3])})
	}
	return all
}
