// Package roadmap knows what a roadmap holds: milestones in their order, each with the specs, goals and criteria that
// it consists of. It reads the file that people edit, changes single lines of it, says what a milestone lacks, and
// makes a goal of that.
package roadmap

import (
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// File is where a repository has its roadmap, relative to its root.
const File = ".nexus/roadmap.md"

// Roadmap is what is to be reached, in its order.
type Roadmap struct {
	Title      string
	Milestones []Milestone // those that are open first, as they stand in the file

	lines  []string // of the file, without line ends
	end    string   // of its lines
	open   int      // index of the line behind the last open milestone
	closed int      // index of the line that begins the closed ones; -1: none does
}

// Milestone is a group of goals that is reached as a whole.
type Milestone struct {
	Name     string      `json:"name"`            // the words of its title, which name it on the command line
	Number   int         `json:"number,omitzero"` // from 1 in the order of those that are open; 0: it is closed
	Title    string      `json:"title"`
	About    string      `json:"about,omitzero"` // what a person wrote about it
	Tag      string      `json:"tag,omitzero"`
	Specs    []Part      `json:"specs,omitempty"` // names of specs
	Goals    []Part      `json:"goals,omitempty"` // in a person's words
	Criteria []Criterion `json:"criteria,omitempty"`
	Closed   *Closed     `json:"closed,omitempty"`

	from, to int // its lines, from its heading to before the next one
}

// Part is one thing that a milestone consists of.
type Part struct {
	Text string `json:"text"`
	Line int    `json:"line"` // of the file
}

// Criterion is one thing that shows that a milestone is reached.
type Criterion struct {
	spec.Criterion

	Line     int         `json:"line"`
	Accepted *Acceptance `json:"accepted,omitempty"`

	last int // index of the last of its lines
}

// Fingerprint stands for what a criterion says.
func (c Criterion) Fingerprint() string { return nexus.Fingerprint(c.Text, c.Check) }

// Acceptance is a person's word that a criterion is met, which no command can show.
type Acceptance struct {
	Date   string `json:"date"` // 2006-01-02
	By     string `json:"by"`
	Reason string `json:"reason"`
	Of     string `json:"of,omitzero"` // fingerprint of the criterion as it was then; empty: a person wrote it by hand

	line int
}

// Closed is how a milestone was reached.
type Closed struct {
	Date   string `json:"date"`
	Tag    string `json:"tag"`
	Commit string `json:"commit"`
}

// Find returns the index of the milestone that a name or a number means, -1 where none is meant.
func (r Roadmap) Find(name string) int {
	name = strings.TrimSpace(name)
	if i := slices.IndexFunc(r.Milestones, func(m Milestone) bool { return m.Name == name || strings.EqualFold(m.Title, name) }); i >= 0 {
		return i
	}
	n, err := strconv.Atoi(name)
	if err != nil || n < 1 {
		return -1
	}
	return slices.IndexFunc(r.Milestones, func(m Milestone) bool { return m.Number == n })
}

// Names returns the names of the milestones.
func (r Roadmap) Names() (all []string) {
	for _, m := range r.Milestones {
		all = append(all, m.Name)
	}
	return all
}

// Near returns the name that somebody meant, empty where none is near.
func (r Roadmap) Near(name string) string { return spec.Nearest(name, r.Names()) }

// Slug makes the name of a milestone of its title; empty where no letter or digit of it can name one.
func Slug(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') })
	const longest = 50
	name := ""
	for _, w := range words {
		next := strings.TrimPrefix(name+"-"+w, "-")
		if name != "" && len(next) > longest {
			break
		}
		name = next[:min(len(next), longest)]
	}
	return name
}
