package stack

import (
	"regexp"
	"slices"
	"strings"
)

// CommandRules describes the effects of a language's commands that [Stack.VerbRows] does not cover.
// Package decide/policy judges commands by them.
type CommandRules struct {
	// Own lists the commands of a program that runs every other word as a script of the
	// project.
	Own map[string]string
	// Asks lists, per program, the first words that run code which was not judged, fetch
	// programs, or publish. Such commands need an approval.
	Asks map[string][]string
	// Locates lists patterns of commands that only print the path of a dependency or a
	// toolchain. The words are joined by a zero byte, which no word contains, so that a quoted
	// text is one word.
	Locates []string
	// Wrappers maps programs that are checked into trees to the program whose rules they have.
	Wrappers map[string]string
	// Caches lists directories below a home that contain dependencies and toolchains.
	Caches []string
	// Places lists variables that contain the path of dependencies or of a toolchain.
	Places []string
	// Made lists names of directories that builds and tests create.
	Made []string
	// Properties lists build properties that only choose which tests run, what is printed or
	// what is skipped.
	Properties []string
}

// IsLocateCommand reports whether a command only prints the path of a dependency or of a
// toolchain of some language.
func IsLocateCommand(words []string) bool {
	line := strings.Join(words, "\x00")
	return slices.ContainsFunc(AllStacks(), func(s Stack) bool {
		return slices.ContainsFunc(s.Commands.Locates, func(pattern string) bool { return regexp.MustCompile(pattern).MatchString(line) })
	})
}

// CommandsOf returns the merged command descriptions of all languages.
func CommandsOf() CommandRules {
	all := CommandRules{Own: map[string]string{}, Asks: map[string][]string{}, Wrappers: map[string]string{}}
	for _, s := range AllStacks() {
		c := s.Commands
		for name, words := range c.Own {
			all.Own[name] = words
		}
		for name, words := range c.Asks {
			all.Asks[name] = words
		}
		for name, other := range c.Wrappers {
			all.Wrappers[name] = other
		}
		all.Caches, all.Places = append(all.Caches, c.Caches...), append(all.Places, c.Places...)
		all.Made, all.Properties = append(all.Made, c.Made...), append(all.Properties, c.Properties...)
	}
	return all
}
