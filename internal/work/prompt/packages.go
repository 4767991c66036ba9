package prompt

import (
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack/monorepo"
)

// mostPackages limits the packages in a planner's prompt, and mostNeeds the names of those
// that one needs.
const (
	mostPackages = 100
	mostNeeds    = 12
)

// packages lists the packages of a repository for a planner; "" if there are not several.
func packages(r *monorepo.Repo) string {
	if !r.Several() {
		return ""
	}
	var b strings.Builder
	b.WriteString("The repository has several packages. Name in package of each task the directory of the one that it changes, and keep a task within one package where you can: " +
		"tasks of different packages run side by side, and only the gates of a package and of those that need it judge a change. If several tasks need the same thing, make it a task of its own that they need.\n")
	for _, p := range r.Packages[:min(len(r.Packages), mostPackages)] {
		fmt.Fprintf(&b, "- %s%s\n", Line(p.Label()), ties(p))
	}
	if more := len(r.Packages) - mostPackages; more > 0 {
		fmt.Fprintf(&b, "and %d more\n", more)
	}
	return b.String()
}

// ties returns the dependencies of a package as text.
func ties(p monorepo.Package) string {
	text := ", " + strings.Join(p.Kinds, " and ")
	switch {
	case p.Wide != "" && p.Dir != ".":
		text += ", may need any other"
	case len(p.Needs) > 0:
		text += ", needs " + few(p.Needs)
	}
	return text
}

// few names the first of many directories.
func few(dirs []string) string {
	text := Line(strings.Join(dirs[:min(len(dirs), mostNeeds)], ", "))
	if more := len(dirs) - mostNeeds; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Package is the package of a task, in a repository of several packages.
type Package struct {
	monorepo.Package

	Gates []string // commands that judge it, each with its gate
}

// section returns the section about the package.
func (p Package) section() Section {
	if p.Dir == "" {
		return Section{Title: "Package"}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "The task is about the package %s%s.\n", Line(p.Label()), ties(p.Package))
	if len(p.Users) > 0 {
		fmt.Fprintf(&b, "Needed by %s: their gates judge your change, too.\n", few(p.Users))
	}
	for _, g := range p.Gates {
		fmt.Fprintf(&b, "- %s\n", Line(g))
	}
	return Section{Title: "Package", Body: b.String(), Because: "the task's files lie in it"}
}
