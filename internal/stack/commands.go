package stack

import (
	"regexp"
	"slices"
	"strings"
)

// Commands is what the commands of a language's tools do that their verbs do not
// say. See decide/policy, which judges them.
type Commands struct {
	// Own are the commands of a program that takes every other word for the name of a
	// script of the project.
	Own map[string]string
	// Asks are the first words with which a program runs code that nobody judged,
	// fetches programs, or publishes.
	Asks map[string][]string
	// Locates are patterns of commands that do no more than print where a dependency or
	// a toolchain lies. Their words stand with a zero byte between them, which no
	// word holds: so a text in quotes is one word.
	Locates []string
	// Wrappers are programs that trees carry along, with the one whose rules they have.
	Wrappers map[string]string
	// Caches are directories of a home in which dependencies and toolchains lie.
	Caches []string
	// Places are variables that say where dependencies or a toolchain lie.
	Places []string
	// Made are names of directories that builds and tests make.
	Made []string
	// Properties are those of a build that only say what is tested, shown or skipped.
	Properties []string
}

// IsLocateCommand reports whether a command does no more than print where a dependency or a
// toolchain of some language lies.
func IsLocateCommand(words []string) bool {
	line := strings.Join(words, "\x00")
	return slices.ContainsFunc(All(), func(s Stack) bool {
		return slices.ContainsFunc(s.Commands.Locates, func(pattern string) bool { return regexp.MustCompile(pattern).MatchString(line) })
	})
}

// CommandsOf returns what is known of the commands of all languages.
func CommandsOf() Commands {
	all := Commands{Own: map[string]string{}, Asks: map[string][]string{}, Wrappers: map[string]string{}}
	for _, s := range All() {
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
