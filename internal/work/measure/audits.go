package measure

import (
	"regexp"
	"strings"
)

// Auditor is a program that looks for known faults in what a lock file names.
type Auditor struct {
	File  string   // name of the lock file
	Found string   // pattern of a line of its output, where it found some
	Args  []string // its command, which runs where the file is
}

// auditRow is a line of the audit that says who looks into a file.
var auditRow = regexp.MustCompile(`(?m)^\t([\w.-]+)\) look '([^']+)' (.+) ;;$`)

// Auditors lists the programs that the audit asks.
func Auditors() []Auditor {
	var all []Auditor
	for _, m := range auditRow.FindAllStringSubmatch(audit, -1) {
		all = append(all, Auditor{m[1], m[2], strings.Fields(m[3])})
	}
	return all
}
