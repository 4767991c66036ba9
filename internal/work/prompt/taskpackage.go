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

// listPackages lists the packages of a repository for a planner; "" if there are not several.
func listPackages(r *monorepo.PackageGraph) string {
	if !r.HasNestedPackages() {
		return ""
	}
	var b strings.Builder
	b.WriteString("The repository has several packages. Name in package of each task the directory of the one that it changes, and keep a task within one package where you can: " +
		"tasks of different packages run side by side, and only the gates of a package and of those that need it judge a change. If several tasks need the same thing, make it a task of its own that they need.\n")
	for _, p := range r.Packages[:min(len(r.Packages), mostPackages)] {
		fmt.Fprintf(&b, "- %s%s\n", SingleLine(p.DisplayName()), describePackageNeeds(p))
	}
	if more := len(r.Packages) - mostPackages; more > 0 {
		fmt.Fprintf(&b, "and %d more\n", more)
	}
	return b.String()
}

// describePackageNeeds returns the dependencies of a package as text.
func describePackageNeeds(p monorepo.MonorepoPackage) string {
	text := ", " + strings.Join(p.Kinds, " and ")
	switch {
	case p.Wide != "" && p.Dir != ".":
		text += ", may need any other"
	case len(p.Needs) > 0:
		text += ", needs " + firstDirectories(p.Needs)
	}
	return text
}

// firstDirectories names the first of many directories.
func firstDirectories(dirs []string) string {
	text := SingleLine(strings.Join(dirs[:min(len(dirs), mostNeeds)], ", "))
	if more := len(dirs) - mostNeeds; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// TaskMonorepoPackage is the package of a task, in a repository of several packages.
type TaskMonorepoPackage struct {
	monorepo.MonorepoPackage

	Gates []string // commands that judge it, each with its gate
}

// aboutPackage returns the section about the package.
func (p TaskMonorepoPackage) aboutPackage() PromptSection {
	if p.Dir == "" {
		return PromptSection{Title: "Package"}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "The task is about the package %s%s.\n", SingleLine(p.DisplayName()), describePackageNeeds(p.MonorepoPackage))
	if len(p.Users) > 0 {
		fmt.Fprintf(&b, "Needed by %s: their gates judge your change, too.\n", firstDirectories(p.Users))
	}
	for _, g := range p.Gates {
		fmt.Fprintf(&b, "- %s\n", SingleLine(g))
	}
	return PromptSection{Title: "Package", Body: b.String(), Because: "the task's files lie in it"}
}
